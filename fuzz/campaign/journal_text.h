// The text of a journal: what the runs of the campaigns of a folder came to, in the order in which
// they were taken. Whoever folds over it again has the state of those campaigns.
//
// A line is a record, and after it 16 hexadecimal digits, the sum (FNV-1a) of all records up to it,
// so that none can change, go or move unseen. The records:
//   interlock-journal 1 BUILD        first: the version of the format, and who judged
//   campaign seed=N first=N runs=N ms=N finds=N [begin=N end=N] of SUBJECT
//                                    what follows is of this campaign; ms=0: it ends by its runs;
//                                    begin and end: it is a shard of one that makes those runs
//   block N N [ms=N] [cpu=LIST] [found=RUNS] [cells=RUNS] [hazard=LIST] [device=RUNS]
//   [failure=RUN]…
//                                    the first run and how many; the rest about some of them, by
//                                    offset from the first: which ran on the CPU, signatures found
//                                    ("3:RAW-view-copy-fill,0;7:0": a new one by its name, later by
//                                    its number), cells that a guided campaign had not reached
//                                    before, likewise, what a device did, why it did not; after
//                                    the blocks before it, and no runs but the campaign's
//   provisional NAME SUM             a file of that sum that is written before its time, since the
//                                    campaign is interrupted
//   end                              the campaign has come to its end
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/program/result.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/subject.h"

namespace interlock {

inline constexpr uint64_t kJournalBlockRunsMax = 256;
inline constexpr uint64_t kJournalLineBytesMax = 16ull << 20;
inline constexpr uint64_t kJournalSignaturesMax = 1ull << 20;  // And cells.
inline constexpr uint64_t kJournalNameBytesMax = 255;          // Of one of those.
inline constexpr uint64_t kJournalNamesOfRunMax = 1ull << 13;  // Signatures, and likewise cells.

struct JournalHeader {
  std::string build;  // A word.
};

struct JournalCampaign {
  uint64_t seed = 1;
  uint64_t first_run = 0;
  uint64_t run_count = 0;     // 0: it ends by time.
  uint64_t milliseconds = 0;  // 0: it does not.
  uint64_t find_limit = 0;
  std::string subject;  // What is put to the test, as options of the command line.
  // Of a shard, the runs of the campaign that it is a part of; else 0.
  uint64_t whole_begin = 0;
  uint64_t whole_end = 0;

  bool is_shard() const { return whole_end > 0; }
  bool operator==(const JournalCampaign&) const = default;
};

struct JournalBlock {
  uint64_t first_run = 0;
  std::vector<RunOutcome> outcomes;  // All of them ran; without disagreements.
  uint64_t milliseconds = 0;         // Since the campaign began, if it ends by time.
};

struct JournalProvisional {
  std::string name;  // In the folder of the journal.
  uint64_t digest = 0;
};

struct JournalEnd {};

using JournalRecord =
    std::variant<JournalHeader, JournalCampaign, JournalBlock, JournalProvisional, JournalEnd>;

// What a line depends on that the lines before it say.
struct JournalContext {
  uint64_t sum = kFnv1aBasis;
  std::vector<std::string> signatures;  // By number; cells, too.
  std::map<std::string, uint64_t, std::less<>> numbers;
  std::unordered_map<uint64_t, Cell> cells;  // By number; those that were read.
};

// The line of the record, with its end; it becomes part of `context`.
// Requires: signatures and cells are words (names.h), of kJournalNameBytesMax, of a run
// kJournalNamesOfRunMax at most; a block has 1 to kJournalBlockRunsMax runs.
std::string journal_line(const JournalRecord& record, JournalContext& context);

// Reads a journal record by record.
class JournalReader {
 public:
  // Errors name `path` and the line. Requires: both outlive this.
  JournalReader(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  // The next record; none at the end, which is also where a last line has no end: whoever wrote it
  // was killed. Errors: a line that no journal has, a sum that is not that of the text; a stop
  // (stop.h) in a long line.
  Result<std::optional<JournalRecord>> next();

  // How many bytes the records so far have.
  size_t read_bytes() const { return read_bytes_; }
  // What a line after the records so far depends on.
  const JournalContext& context() const { return context_; }

 private:
  enum class Place : uint8_t { kStart, kNoCampaign, kInCampaign };

  Error error_at_line(const std::string& what) const;
  Result<std::optional<JournalRecord>> record_of(std::string_view line);
  Result<JournalRecord> parsed(std::string_view line);
  void begin(const JournalCampaign& campaign);
  bool goes_on_with(const JournalBlock& block);

  std::string_view text_;
  std::string_view path_;
  size_t read_bytes_ = 0;
  uint64_t line_number_ = 0;
  Place place_ = Place::kStart;
  uint64_t next_run_ = 0;  // The first that the next block may have;
  uint64_t end_run_ = 0;   // those of the campaign end here.
  JournalContext context_;
};

}  // namespace interlock
