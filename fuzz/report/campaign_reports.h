// Reports on the campaigns of a folder, in the forms that readers and services take. Each is a
// function of what it is given; a time that was measured stands in places of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/report/campaign_record.h"
#include "fuzz/report/hazard_matrix.h"

namespace interlock {

// What `check` says of a kept file.
struct FileVerdict {
  std::string text;                    // The report, without advice; or why there is none.
  std::vector<std::string> headlines;  // Of its findings.
  std::string picture;  // Of the first one, as SVG; empty without one, and beyond the limits below.
};

inline constexpr size_t kPictureBytesMax = 256u << 10;  // Of one file.
inline constexpr size_t kPicturesBytesMax = 8u << 20;   // Of all files of a page.

struct MeasuredRate {
  uint64_t run_count = 0;  // Judged by one process,
  double seconds = 0;      // in this time.
};

// Everything that is told.
struct CampaignStory {
  std::string folder;   // As commands name it.
  std::string version;  // Of this program.
  CampaignRecord record;
  std::vector<std::optional<PosedConflicts>> posed;  // By subject; none where it is not known.
  std::vector<FileVerdict> verdicts;                 // By file of `record.kept`.
  std::optional<MeasuredRate> measured;
  bool names_pictures = false;  // Whether `interlock show FILE` is a command of this program.

  const FileVerdict& verdict_of(const KeptFile& file) const {
    return verdicts[static_cast<size_t>(&file - record.kept.files.data())];
  }
};

// Sets `verdicts`: checks each file, as if it had no `expect` lines, and draws its first finding. A
// stop leaves out the rest.
void judge_kept_files(CampaignStory& story);

// The commands that show a file again, in the folder: replay, check, encode; each with its label.
struct FileCommand {
  std::string label;
  std::string command;
};
std::vector<FileCommand> commands_of(const CampaignStory& story, const KeptFile& file);

// "2000 of 5000 programs, not at its end".
std::string state_of(const CampaignPart& part);

// Causes without a file that a page or a suite has: a bug that nobody minimizes may make a cause of
// each of a million signatures. How many more there are is said.
inline constexpr uint64_t kBareCausesShown = 500;

// One page without anything beside it, for light and dark screens; well-formed XML, too.
// Defined in campaign_html.cc.
std::string html_of(const CampaignStory& story);

// One object; docs/json.md has the keys.
// Defined in campaign_json.cc.
std::string json_of(const CampaignStory& story);

// A suite for each subject, a case for each cause, as JUnit's readers take them.
// Defined in campaign_junit.cc.
std::string junit_of(const CampaignStory& story);

// As `check --format=sarif` of the files that were kept.
std::string sarif_of(const CampaignStory& story);

// A few lines for a terminal.
std::string terminal_text_of(const CampaignStory& story);

}  // namespace interlock
