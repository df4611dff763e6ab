// What a journal says is read as it was written, and nothing else is read: no change, no line that
// went, and of a line that was not finished nothing.
#include "fuzz/campaign/journal_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "fuzz/campaign/cells.h"

namespace interlock::journal_text_test {
namespace {

using testing::HasSubstr;

JournalBlock sample_block(uint64_t first_run = 512) {
  JournalBlock block{first_run, {}, 17};
  block.outcomes.resize(8);
  for (RunOutcome& run : block.outcomes) run.ran = true;
  block.outcomes[0].ran_on_cpu = true;
  block.outcomes[2].signatures = {"RAW-view-copy-fill", "WAR-donation-col_sum-layer_norm_vjp"};
  block.outcomes[2].has_hazard = true;
  block.outcomes[7].signatures = {"WAR-donation-col_sum-layer_norm_vjp"};
  block.outcomes[7].ran_on_cpu = true;
  for (const char* name : {"WAR-view-copy-full", "branch-7-1", "WAR-view-full-after-8"}) {
    block.outcomes[6].cells.push_back(cell_of(name).value());
  }
  block.outcomes[3].device.ran = true;
  block.outcomes[3].device.schedule_count = 5;
  block.outcomes[3].device.bound_ratio_max = 0.25;
  block.outcomes[4].device.failure = "The device, 100% of it,\nis lost; \xc3\xa4:";
  return block;
}

std::vector<JournalRecord> sample_records() {
  return {JournalHeader{"0123abcd"},
          JournalCampaign{7, 256, 10'000, 0, 3, "interlock fuzz --encoder=none"},
          sample_block(),
          sample_block(520),
          JournalProvisional{"WAR-view%.2.ilk", 99},
          JournalEnd{},
          JournalCampaign{8, 0, 0, 120'000, 0, "interlock fuzz --queues"},
          JournalEnd{},
          JournalCampaign{8, 256, 512, 0, 0, "interlock fuzz --queues", 0, 1024}};
}

std::string text_of(const std::vector<JournalRecord>& records) {
  JournalContext context;
  std::string text;
  for (const JournalRecord& record : records) text += journal_line(record, context);
  return text;
}

// As many records as there are before an error, if there is one.
struct Reading {
  std::vector<JournalRecord> records;
  std::string error;
};

Reading reading_of(std::string_view text) {
  JournalReader reader(text, "it");
  Reading reading;
  for (;;) {
    auto record = reader.next();
    if (!record) {
      reading.error = record.error().message;
      return reading;
    }
    if (!*record) return reading;
    reading.records.push_back(std::move(**record));
  }
}

// Lines without their sums, with those that they should have.
std::string sealed(const std::vector<std::string>& lines) {
  uint64_t sum = kFnv1aBasis;
  std::string text;
  for (const std::string& line : lines) {
    sum = fnv1a(sum, line);
    text += fmt::format("{} {:016x}\n", line, sum);
  }
  return text;
}

TEST(JournalText, IsReadAsItWasWritten) {
  const std::string text = text_of(sample_records());
  const Reading reading = reading_of(text);
  EXPECT_EQ(reading.error, "");
  ASSERT_EQ(reading.records.size(), sample_records().size());
  EXPECT_EQ(text_of(reading.records), text);
  const auto& block = std::get<JournalBlock>(reading.records[3]);
  const JournalBlock expected = sample_block();
  EXPECT_EQ(block.first_run, 520u);
  EXPECT_EQ(block.milliseconds, 17u);
  for (size_t i = 0; i < expected.outcomes.size(); ++i) {
    EXPECT_TRUE(block.outcomes[i].ran);
    EXPECT_EQ(block.outcomes[i].ran_on_cpu, expected.outcomes[i].ran_on_cpu);
    EXPECT_EQ(block.outcomes[i].has_hazard, expected.outcomes[i].has_hazard);
    EXPECT_EQ(block.outcomes[i].signatures, expected.outcomes[i].signatures);
    EXPECT_EQ(block.outcomes[i].cells, expected.outcomes[i].cells);
    EXPECT_EQ(block.outcomes[i].device.failure, expected.outcomes[i].device.failure);
    EXPECT_EQ(block.outcomes[i].device.schedule_count, expected.outcomes[i].device.schedule_count);
    EXPECT_EQ(block.outcomes[i].device.bound_ratio_max,
              expected.outcomes[i].device.bound_ratio_max);
  }
  for (const size_t i : {size_t{1}, size_t{6}, size_t{8}}) {
    EXPECT_EQ(std::get<JournalCampaign>(reading.records[i]),
              std::get<JournalCampaign>(sample_records()[i]));
  }
}

TEST(JournalText, NamesASignatureOnce) {
  const std::string text = text_of(sample_records());
  EXPECT_THAT(text, HasSubstr("block 512 8 ms=17 cpu=0,7 "
                              "found=2:RAW-view-copy-fill,WAR-donation-col_sum-layer_norm_vjp;7:1 "
                              "cells=6:WAR-view-copy-full,branch-7-1,WAR-view-full-after-8 "
                              "hazard=2 device=3:1,0,5,"));
  EXPECT_THAT(text, HasSubstr("block 520 8 ms=17 cpu=0,7 found=2:0,1;7:1 cells=6:2,3,4 hazard=2 "));
}

TEST(JournalText, GivesOfAPartTheWholeRecords) {
  const std::string text = text_of(sample_records());
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string part = text.substr(0, size);
    const Reading reading = reading_of(part);
    EXPECT_EQ(reading.error, "") << part;
    EXPECT_EQ(reading.records.size(), static_cast<size_t>(std::ranges::count(part, '\n')));
  }
}

TEST(JournalText, DoesNotBelieveAChangedByte) {
  const std::string text = text_of(sample_records());
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char other : {static_cast<char>(text[at] ^ 1), ' ', '0', '\n', '\0'}) {
      if (other == text[at]) continue;
      std::string changed = text;
      changed[at] = other;
      const Reading reading = reading_of(changed);
      // The end of the last line is all that can go unseen: then that line was never finished.
      const bool is_cut = at + 1 == text.size();
      EXPECT_EQ(reading.error.empty(), is_cut) << at << ' ' << changed;
      const auto before = static_cast<size_t>(
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      EXPECT_EQ(reading.records.size(), before);
      if (is_cut) continue;
      EXPECT_THAT(reading.error, HasSubstr(fmt::format("it:{}: error: ", before + 1)));
    }
  }
}

TEST(JournalText, MissesALineThatWent) {
  std::vector<std::string> lines;
  std::string text = text_of(sample_records());
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(text.substr(at, text.find('\n', at) + 1 - at));
  }
  for (size_t gone = 0; gone + 1 < lines.size(); ++gone) {
    std::string rest;
    for (size_t i = 0; i < lines.size(); ++i) rest += i == gone ? "" : lines[i];
    EXPECT_NE(reading_of(rest).error, "") << gone;
  }
}

TEST(JournalText, RefusesWhatNoCampaignWrites) {
  const std::string header = "interlock-journal 1 00";
  const std::string campaign = "campaign seed=1 first=0 runs=9 ms=0 finds=0 of x";
  EXPECT_EQ(reading_of(sealed({header, campaign, "block 0 9"})).error, "");
  for (const char* line : {"block 0 0",
                           "block 0 257",
                           "block 0 9 ",
                           "block 0 9 cpu=",
                           "block 0 9 cpu=9",
                           "block 0 9 cpu=3,2",
                           "block 0 9 cpu=1:2",
                           "block 0 9 cpu=01",
                           "block 0 9 cpu=1:",
                           "block 0 9 cpu=1,",
                           "block 0 9 found=1:a;",
                           "block 0 9 found=1:a,",
                           "block 0 9 hazard=1 cpu=1",
                           "block 0 9 found=1",
                           "block 0 9 found=1:",
                           "block 0 9 found=1:0",
                           "block 0 9 found=1:a,a",
                           "block 0 9 found=1:a;2:0,0",
                           "block 0 9 found=1:a/b",
                           "block 0 9 cells=1",
                           "block 0 9 cells=1:a",
                           "block 0 9 cells=1:branch-1-9",
                           "block 0 9 cells=1:branch-1-1,",
                           "block 0 9 cells=1:branch-1-1 found=1:b",
                           "block 0 9 cells=1:branch-1-1,0",
                           "block 0 9 device=1:1,2",
                           "block 0 9 failure=1:",
                           "block 0 9 failure=1:%0",
                           "block 0 9 failure=1:%41",
                           "block 0 9 ms=0",
                           "block -1 9",
                           "block 18446744073709551615 2",
                           "block 0",
                           "provisional a 1",
                           "provisional a/b.ilk 1",
                           "provisional a.ilk",
                           "end 1",
                           "",
                           "found",
                           "interlock-journal 1 00"}) {
    EXPECT_THAT(reading_of(sealed({header, campaign, line})).error, HasSubstr("it:3: error: "))
        << line;
  }
  for (const uint64_t bytes : {kJournalNameBytesMax, kJournalNameBytesMax + 1}) {
    const std::string line = "block 0 9 found=1:" + std::string(bytes, 'a');
    EXPECT_EQ(reading_of(sealed({header, campaign, line})).error.empty(),
              bytes == kJournalNameBytesMax);
  }
  // Runs of which the campaign has none, and runs that were there.
  EXPECT_EQ(reading_of(sealed({header, campaign, "block 0 3", "block 5 4"})).error, "");
  EXPECT_EQ(reading_of(sealed({header, campaign, "block 5 4", campaign, "block 0 5"})).error, "");
  for (const char* line : {"block 4 1", "block 0 3", "block 5 5", "block 9 1", "block 900 1"}) {
    EXPECT_THAT(reading_of(sealed({header, campaign, "block 0 5", line})).error,
                HasSubstr("it:4: error: "))
        << line;
  }
  EXPECT_THAT(reading_of(sealed({header, "block 0 9"})).error, HasSubstr("may stand here"));
  EXPECT_THAT(reading_of(sealed({header, campaign, "end", "block 0 9"})).error,
              HasSubstr("it:4: error: 'block 0 9' is no record that may stand here."));
  for (const char* fields : {"ms=0", "ms=0 finds=0 begin=0", "ms=0 finds=0 begin=9 end=9"}) {
    EXPECT_THAT(
        reading_of(sealed({header, fmt::format("campaign seed=1 first=0 runs=9 {} of x", fields)}))
            .error,
        HasSubstr("it:2: error: "))
        << fields;
  }
}

// However long it is.
TEST(JournalText, IsLeftInTheMiddleOfALine) {
  JournalBlock block{0, {}, 0};
  block.outcomes.resize(kJournalBlockRunsMax);
  for (RunOutcome& run : block.outcomes) {
    run.ran = true;
    run.signatures = {"RAW-view-copy-fill"};
  }
  const std::string text =
      text_of({JournalHeader{"0123abcd"}, JournalCampaign{7, 0, 0, 1, 0, "interlock"}, block});
  JournalReader reader(text, "it");
  ASSERT_TRUE(reader.next());
  ASSERT_TRUE(reader.next());
  Stop stop;
  stop.request_at_poll(100);
  const StopScope scope(&stop);
  const auto record = reader.next();
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message, HasSubstr("it:3: error: reading it was interrupted"));
  EXPECT_LT(stop.poll_count(), 110u);
}

TEST(JournalText, SaysWhatElseItIs) {
  EXPECT_EQ(reading_of("interlock 1\nmemory a 4\n").error,
            "it:1: error: this is no journal of `interlock fuzz`.");
  EXPECT_EQ(reading_of("hello").error, "it:1: error: this is no journal of `interlock fuzz`.");
  EXPECT_EQ(reading_of(sealed({"interlock-journal 2 00"})).error,
            "it:1: error: the journal has version '2', and this program reads 1.");
  EXPECT_THAT(reading_of("interlock-journal 1 00" + std::string(kJournalLineBytesMax, 'x')).error,
              HasSubstr("more bytes than the limit"));
}

}  // namespace
}  // namespace interlock::journal_text_test
