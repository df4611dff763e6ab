// Any lines, read as the records of a journal, give records or an error that names a line, never a
// crash, a hang or unbounded memory; what was read is written as it was read; and a page that tells
// of it holds no markup of theirs.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/report/campaign_reports.h"

namespace interlock {
namespace {

constexpr std::string_view kFileName = "campaign.journal";

// With the sums that no mutation guesses: of each line that ends.
std::string sealed(std::string_view text) {
  uint64_t sum = kFnv1aBasis;
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    sum = fnv1a(sum, line);
    result += line;
    if (end == std::string_view::npos) break;
    result += fmt::format(" {:016x}\n", sum);
    text.remove_prefix(end + 1);
  }
  return result;
}

void check_journal(std::string_view text) {
  JournalReader reader(text, kFileName);
  JournalContext context;
  std::string written;
  for (;;) {
    const auto record = reader.next();
    if (!record) {
      INTERLOCK_CHECK(record.error().message.starts_with(std::string(kFileName) + ":"));
      return;
    }
    if (!*record) break;
    written += journal_line(**record, context);
    INTERLOCK_CHECK(written == text.substr(0, reader.read_bytes()));
  }
}

// Of all '<' of the page those of its own elements are the only ones.
void check_reports(std::string_view text) {
  KeptFiles kept;
  kept.files.push_back(kept_file_of("WAR.ilk", std::string(text)));
  auto record = campaign_record_of(text, kFileName, std::move(kept));
  if (!record) return;
  CampaignStory story;
  story.record = std::move(*record);
  story.posed.resize(story.record.subjects.size());
  judge_kept_files(story);
  const std::string page = html_of(story);
  INTERLOCK_CHECK(page.find("<script") == std::string::npos);
  INTERLOCK_CHECK(std::ranges::count(page, '<') == std::ranges::count(page, '>'));
  const std::string junit = junit_of(story);
  INTERLOCK_CHECK(std::ranges::count(junit, '<') == std::ranges::count(junit, '>'));
  INTERLOCK_CHECK(json_of(story).ends_with("}\n"));
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  interlock::check_journal(text);
  interlock::check_journal(interlock::sealed(text));
  interlock::check_reports(interlock::sealed(text));
  return 0;
}
