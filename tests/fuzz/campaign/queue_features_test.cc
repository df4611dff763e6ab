// What campaigns give encoders for several queues beside dispatches, guided or not: the table of
// docs/fuzzing.md, encoder by encoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/subject.h"

namespace interlock::queue_features_test {
namespace {

using testing::IsSupersetOf;

// Of the table its columns, in order.
constexpr size_t kFeatureCount = 4;
using Features = std::array<bool, kFeatureCount>;

void note_features(const ProgramDraft& draft, Features& features) {
  for (const ItemDraft& item : draft.items) {
    features[0] |= std::holds_alternative<HostAccessDraft>(item);
    features[1] |= std::holds_alternative<LifetimeDraft>(item);
    features[2] |= std::holds_alternative<SyncDraft>(item);
    features[3] |= std::holds_alternative<QueueDraft>(item);
  }
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (size_t at = 1; at < line.size();) {
    const size_t end = std::min(line.find('|', at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return cells;
}

// By encoder, what its row says. Rows have names in backticks.
std::map<std::string, Features> features_in_document() {
  std::ifstream file(INTERLOCK_SOURCE_DIR "/docs/fuzzing.md");
  std::map<std::string, Features> features;
  bool is_in_table = false;
  for (std::string line; std::getline(file, line);) {
    is_in_table = line.starts_with("| programs for |") || (is_in_table && line.starts_with("|"));
    const std::vector<std::string> cells = cells_of(line);
    if (!is_in_table || cells.size() != kFeatureCount + 1) continue;
    for (size_t at = cells[0].find('`'); at != std::string::npos; at = cells[0].find('`', at)) {
      const size_t end = cells[0].find('`', at + 1);
      Features& row = features[cells[0].substr(at + 1, end - at - 1)];
      for (size_t i = 0; i < kFeatureCount; ++i) row[i] = cells[i + 1] == " yes ";
      at = end + 1;
    }
  }
  return features;
}

CampaignOptions options_of(const QueueEncoderEntry& entry) {
  CampaignOptions options;
  options.queue_encoder = &entry;
  return options;
}

TEST(QueueCampaign, GivesEachEncoderWhatTheTableSays) {
  const std::map<std::string, Features> said = features_in_document();
  EXPECT_EQ(said.size(), queue_encoder_registry().size());
  for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
    const CampaignOptions options = options_of(entry);
    const auto subject = subject_of(options);
    Features features = {};
    for (uint64_t run = 0; run < 100; ++run) note_features(subject->draft(run), features);
    const auto row = said.find(std::string(entry.name));
    ASSERT_NE(row, said.end()) << entry.name;
    EXPECT_EQ(features, row->second) << entry.name;
  }
}

TEST(Cells, SayThatOneOfTwoIsTheHosts) {
  const auto program = parse(
      "interlock 1\nmemory a 64\nx: queue serial\ndispatch X writes a[0:4] on x\n"
      "signal s=1 on x\nhost waits s=1\nhost reads a[0:4]\n",
      "it", {.reads_every_queue = true});
  ASSERT_TRUE(program);
  std::vector<std::string> names;
  for (const Cell cell : new_cells_of(*program, {})) names.push_back(cell_name(cell));
  EXPECT_THAT(names, IsSupersetOf({"RAW-same_range-Opaque-host", "RAW-same_range-host-after-0"}));
}

// Mutants keep what the host does and where dispatches are, as far as an encoder takes it; and the
// first generation is that of a campaign without guidance.
TEST(GuidedCampaign, MutatesProgramsWithTheHostAndQueues) {
  for (const char* encoder : {"semaphores", "edges", "mlx-fences"}) {
    const QueueEncoderEntry& entry = *find_queue_encoder(encoder);
    CampaignOptions options = options_of(entry);
    options.is_guided = true;
    options.unguided_run_count = 64;
    const CampaignOptions unguided = options_of(entry);
    Guide guide(options);
    options.guide = &guide;
    const auto subject = subject_of(options);
    ASSERT_TRUE(guide.count_first_generation(*subject, false));
    for (uint64_t run = 0; run < 64; ++run) {
      EXPECT_EQ(print(subject->draft(run)), print(draft_of_run(unguided, run))) << run;
    }
    Features features = {};
    uint64_t host_count = 0;
    for (uint64_t run = 64; run < 200; ++run) {
      const auto mutant = guide.program_of_run(run);
      if (!mutant) continue;
      note_features(draft_of(*mutant), features);
      host_count += !mutant->host_dispatches.empty();
      for (const InternalDisagreement& disagreement : subject->judge(run).disagreements) {
        ADD_FAILURE() << disagreement.message << "\n" << print(*mutant);
      }
    }
    EXPECT_GT(host_count, 5u) << encoder;
    EXPECT_TRUE(features[0] && features[1]) << encoder;
    EXPECT_EQ(features[3], entry.takes_given_queues) << encoder;
  }
}

}  // namespace
}  // namespace interlock::queue_features_test
