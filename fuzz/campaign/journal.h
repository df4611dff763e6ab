// Journal: the file of a folder of campaigns from which they go on wherever they were killed. What
// a block of runs came to is in it before anything is made of that, so whatever was printed or
// written can be told again (journal_text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "encoder/program/result.h"
#include "fuzz/campaign/journal_text.h"

namespace interlock {

inline constexpr uint64_t kJournalBytesMax = 1ull << 30;

// "campaign.journal", in the folder of a campaign.
std::string journal_path(const std::string& folder);

// Who judges: the build id that the linker gave this program, in hexadecimal; "unknown" if none.
// Another build may judge otherwise, so it does not go on with what this one began.
std::string build_id();

class Journal {
 public:
  // Opens that of `folder`, or begins one. `on_write` is called after each write, if it can be.
  // Errors: what is there is no journal, or of another build; another process has it open; it has
  // more than kJournalBytesMax; it cannot be read or written. Requires: the folder is there.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder,
                                               std::function<void()> on_write);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The next record that is there, from the first campaign on; none after the last.
  Result<std::optional<JournalRecord>> next();

  // Ends reading: what a killed process left of a record is cut off; and if so asked, provisional
  // records at the end, too. Requires: next() gave none. Errors: as append().
  Result<Success> begin_writing(bool drops_provisional);

  // Writes a record, in one go. Requires: begin_writing() was called. Errors: the file cannot be
  // written, or would have more than kJournalBytesMax.
  Result<Success> append(const JournalRecord& record);

  const std::string& path() const { return path_; }

 private:
  Journal(std::string path, int file, std::string text, std::function<void()> on_write);

  Result<Success> write(std::string_view line);

  const std::string path_;
  const int file_;
  std::string text_;  // Until reading ends.
  const std::function<void()> on_write_;
  JournalReader reader_;
  size_t kept_bytes_ = 0;  // Without provisional records at the end; likewise
  uint64_t kept_sum_ = kFnv1aBasis;
  uint64_t file_bytes_ = 0;
  JournalContext context_;  // For writing.
};

}  // namespace interlock
