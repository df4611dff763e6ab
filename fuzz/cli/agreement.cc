#include "fuzz/cli/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/convert/captured_places.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/range.h"
#include "fuzz/cli/hazard_lookup.h"

namespace interlock {
namespace {

// Each list shows so many.
constexpr size_t kShownMax = 4;

// What is to be looked at.
constexpr std::string_view kNoReason = "there is no known reason";

// Operands that are looked at for what stands between two accesses, in all.
constexpr uint64_t kStepsMax = 20'000'000;

// One hazard: a kind at a later command.
using HazardKey = std::pair<CapturedPlace, FindingKind>;

struct OwnHazard {
  std::set<CapturedPlace> firsts;  // Empty: the earlier one is the host.
  std::vector<const Finding*> findings;

  // None if it is the host.
  std::optional<CapturedPlace> last_first() const {
    return firsts.empty() ? std::nullopt : std::optional(*firsts.rbegin());
  }
};

struct Sides {
  std::map<HazardKey, OwnHazard> own;
  uint64_t own_of_host = 0;  // At what the host does.
  std::map<HazardKey, std::vector<const ForeignHazard*>> foreign;
  std::vector<const ForeignHazard*> foreign_elsewhere;  // At a command that is not known here.

  // Whether the other side has something at this command, of whatever kind.
  bool has_foreign_at(const CapturedPlace& place) const {
    return std::ranges::any_of(foreign,
                               [&](const auto& entry) { return entry.first.first == place; });
  }
};

void add_own(const Program& program, const Finding& finding, Sides& sides) {
  if (!is_hazard(finding.kind) || !finding.second) return;
  const auto second = place_of_label(program.reference_of(finding.second->dispatch));
  if (!second) {
    ++sides.own_of_host;
    return;
  }
  OwnHazard& hazard = sides.own[{*second, finding.kind}];
  hazard.findings.push_back(&finding);
  const auto first = place_of_label(program.reference_of(finding.first.dispatch));
  if (first) hazard.firsts.insert(*first);
}

// What a change of layout reads and writes at once is one hazard there: a WAW.
void fold_updates(Sides& sides) {
  for (auto entry = sides.own.begin(); entry != sides.own.end();) {
    const auto& [place, kind] = entry->first;
    const auto write = sides.own.find({place, FindingKind::kWriteAfterWrite});
    const bool is_folded = kind == FindingKind::kReadAfterWrite && write != sides.own.end() &&
                           !sides.foreign.contains(entry->first) &&
                           write->second.firsts == entry->second.firsts;
    entry = is_folded ? sides.own.erase(entry) : std::next(entry);
  }
}

Sides sides_of(const Program& program, const CheckReport& report, const CaptureSummary& summary) {
  Sides sides;
  for (const Finding& finding : report.findings) add_own(program, finding, sides);
  for (const Finding& finding : report.noted) add_own(program, finding, sides);
  for (const ForeignHazard& hazard : summary.places.foreign()) {
    if (hazard.second && hazard.kind) {
      sides.foreign[{*hazard.second, *hazard.kind}].push_back(&hazard);
    } else {
      sides.foreign_elsewhere.push_back(&hazard);
    }
  }
  fold_updates(sides);
  return sides;
}

// What hides an earlier access from one who keeps of each byte the last write, and the reads since.
enum class Cover : uint8_t {
  kNone,             // Or it is not known: that takes too many steps.
  kWrites,           // Commands in between write each byte.
  kReads,            // Of a WAW: they read or write each byte.
  kReadsOfTheFirst,  // Likewise, with the reads of the command of the first write itself.
};

// Looks for accesses between the two of a hazard, on the queue of both.
class AccessesBetween {
 public:
  explicit AccessesBetween(const Program& program) : program_(program) {}

  Cover cover_of(const Finding& finding) {
    const Dispatch& first = program_.dispatch(finding.first.dispatch);
    const QueueIndex queue = program_.queue_of(first);
    const Dispatch& second = program_.dispatch(finding.second->dispatch);
    if (program_.queue_of(second) != queue) return Cover::kNone;
    std::vector<ByteRange> unwritten = {finding.overlap};
    std::vector<ByteRange> untouched = {finding.overlap};
    for (size_t i = finding.first.dispatch.index + 1; i < finding.second->dispatch.index; ++i) {
      const Dispatch& between = program_.dispatch(DispatchId(i));
      if (program_.queue_of(between) != queue) continue;
      const bool is_known = remove(between, finding.memory, &Access::has_write_side, unwritten) &&
                            remove(between, finding.memory, &Access::has_read_side, untouched) &&
                            remove(between, finding.memory, &Access::has_write_side, untouched);
      if (!is_known) return Cover::kNone;
    }
    if (unwritten.empty()) return Cover::kWrites;
    if (finding.kind != FindingKind::kWriteAfterWrite) return Cover::kNone;
    if (untouched.empty()) return Cover::kReads;
    const bool is_known = remove(first, finding.memory, &Access::has_read_side, untouched);
    return is_known && untouched.empty() ? Cover::kReadsOfTheFirst : Cover::kNone;
  }

 private:
  // Returns false if that takes too many steps.
  bool remove(const Dispatch& dispatch, MemoryId memory, bool (Access::*is_meant)() const,
              std::vector<ByteRange>& ranges) {
    for (const Access& access : program_.accesses_of(dispatch)) {
      if (++step_count_ > kStepsMax) return false;
      if (access.memory == memory && (access.*is_meant)()) remove(ranges, access.range);
    }
    return true;
  }

  static void remove(std::vector<ByteRange>& ranges, ByteRange gone) {
    std::vector<ByteRange> rest;
    for (const ByteRange range : ranges) {
      const ByteRange before{range.begin, std::min(range.end, gone.begin)};
      const ByteRange after{std::max(range.begin, gone.end), range.end};
      if (!before.is_empty()) rest.push_back(before);
      if (!after.is_empty()) rest.push_back(after);
    }
    ranges = std::move(rest);
  }

  const Program& program_;
  uint64_t step_count_ = 0;
};

// Of all findings of a hazard.
std::string reason_of_covers(const std::set<Cover>& covers) {
  if (covers.contains(Cover::kNone)) return std::string(kNoReason);
  if (covers == std::set<Cover>{Cover::kWrites}) {
    return "it keeps the last write to each byte and the reads since, and all of these bytes are "
           "written again in between";
  }
  const std::string rule = "it holds a write against the reads since the last write alone, and ";
  // It goes over a shader's variables in the order of a hash table (1.3.239: `accessible_ids`).
  return rule + (covers.contains(Cover::kReadsOfTheFirst)
                     ? "the command of that write reads what nothing else does in between: where "
                       "it does so by another binding, that may count as a read after the write"
                     : "all of these bytes are read or written again in between");
}

std::string reason_of_own(const HazardKey& key, const OwnHazard& hazard, const Sides& sides,
                          const CapturedPlaces& places, AccessesBetween& between) {
  if (hazard.firsts.empty()) return "it does not look at what the host does to mapped memory";
  if (sides.has_foreign_at(key.first)) {
    return "it names another hazard at this command, and of each operand only one";
  }
  if (places.is_addressed(key.first) ||
      std::ranges::any_of(hazard.firsts,
                          [&](const CapturedPlace& first) { return places.is_addressed(first); })) {
    return "one of the two commands finds its buffers by their addresses, which it does not follow";
  }
  const bool is_within = std::ranges::any_of(hazard.firsts, [&](const CapturedPlace& first) {
    return first.submission == key.first.submission && first.buffer == key.first.buffer;
  });
  if (!is_within) {
    return "between command buffers it looks only when they are submitted, and at the first access "
           "to each byte";
  }
  std::set<Cover> covers;
  for (const Finding* const finding : hazard.findings) covers.insert(between.cover_of(*finding));
  return reason_of_covers(covers);
}

// What only they name: of each later command and kind one hazard, with the reason.
class ForeignJudge {
 public:
  ForeignJudge(const Program& program, const CaptureSummary& summary)
      : all_pairs_(program, TimelineWaits::kKept),
        without_timelines_(program, TimelineWaits::kLeftOut),
        has_timelines_(summary.has_timelines) {}

  // Whether this is found here, too; `own`, if any, is of the same kind at the same command. They
  // name the latest of several earlier commands, and here each may be the latest of its stage.
  bool is_found(const HazardKey& key, const ForeignHazard& hazard, const OwnHazard* own) {
    if (own == nullptr) return false;
    return !hazard.first || own->firsts.contains(*hazard.first) ||
           all_pairs_.has(key.second, hazard.first, key.first);
  }

  std::string reason_of(const HazardKey& key, const ForeignHazard& hazard) {
    // Of an earlier command that is not known nothing is proven: any hazard here would do.
    const bool is_of_timelines = hazard.is_at_submission && has_timelines_ && hazard.first &&
                                 without_timelines_.has(key.second, hazard.first, key.first);
    if (!is_of_timelines) return std::string(kNoReason);
    // Its `SignaledSemaphores` are for binary ones.
    return "version 1.3.239 follows no timeline semaphore from one submission to another, and "
           "without the waits for those of the application this is a hazard here, too";
  }

  // Whether a check of pairs was cut, so that a reason may have been missed.
  bool is_cut() const { return all_pairs_.is_cut() || without_timelines_.is_cut(); }

 private:
  HazardLookup all_pairs_;
  HazardLookup without_timelines_;
  bool has_timelines_;
};

// Lists of hazards of one side, by the reason.
class ReasonedList {
 public:
  void add(const std::string& reason, std::string line) {
    auto& lines = lines_[reason];
    ++lines.first;
    if (lines.second.size() < kShownMax) lines.second.push_back(std::move(line));
  }

  uint64_t count() const {
    uint64_t count = 0;
    for (const auto& [reason, lines] : lines_) count += lines.first;
    return count;
  }

  std::string text(std::string_view who) const {
    std::string text;
    for (const auto& [reason, lines] : lines_) {
      text += fmt::format("  {}, {}: {}.\n", who, lines.first, reason);
      for (const std::string& line : lines.second) text += fmt::format("    {}\n", line);
      const uint64_t rest = lines.first - lines.second.size();
      if (rest > 0) text += fmt::format("    and {} more\n", rest);
    }
    return text;
  }

 private:
  std::map<std::string, std::pair<uint64_t, std::vector<std::string>>> lines_;
};

std::string line_of(const HazardKey& key, const std::optional<CapturedPlace>& first) {
  return fmt::format("{} at {}{}", word_of(key.second), text_of(key.first),
                     first ? fmt::format(", after {}", text_of(*first)) : "");
}

struct Agreement {
  uint64_t both = 0;
  uint64_t unnamed = 0;  // Of both: they name no earlier command that is known here.
  ReasonedList only_own;
  ReasonedList only_foreign;
  bool is_cut = false;
};

// Both name a hazard where they mean the same kind, and the same two commands.
void compare_at(const HazardKey& key, const std::vector<const ForeignHazard*>& foreign,
                const OwnHazard* own, ForeignJudge& judge, Agreement& agreement) {
  bool is_agreed = false;
  bool is_named = false;
  // One stands for all: what has no reason, if there is any.
  const ForeignHazard* other = nullptr;
  std::string reason;
  for (const ForeignHazard* const hazard : foreign) {
    if (judge.is_found(key, *hazard, own)) {
      is_agreed = true;
      is_named = is_named || hazard->first.has_value();
    } else if (other == nullptr || reason != kNoReason) {
      other = hazard;
      reason = judge.reason_of(key, *hazard);
    }
  }
  if (is_agreed) ++agreement.both;
  if (is_agreed && !is_named) ++agreement.unnamed;
  if (own != nullptr && !is_agreed) {
    agreement.only_own.add(
        "it names another earlier command of this hazard, and of each operand "
        "only one",
        line_of(key, own->last_first()));
  }
  if (other == nullptr) return;
  std::string line = line_of(key, other->first);
  if (!other->first) line += fmt::format(": {}", *other->text);
  agreement.only_foreign.add(reason, std::move(line));
}

Agreement agreement_of(const Program& program, const Sides& sides, const CaptureSummary& summary) {
  Agreement agreement;
  AccessesBetween between(program);
  for (const auto& [key, hazard] : sides.own) {
    if (sides.foreign.contains(key)) continue;
    agreement.only_own.add(reason_of_own(key, hazard, sides, summary.places, between),
                           line_of(key, hazard.last_first()));
  }
  ForeignJudge judge(program, summary);
  for (const auto& [key, hazards] : sides.foreign) {
    const auto own = sides.own.find(key);
    compare_at(key, hazards, own == sides.own.end() ? nullptr : &own->second, judge, agreement);
  }
  for (const ForeignHazard* const hazard : sides.foreign_elsewhere) {
    agreement.only_foreign.add("its command is not known here", *hazard->text);
  }
  for (uint64_t i = 0; i < sides.own_of_host; ++i) {
    agreement.only_own.add("it does not look at what the host does to mapped memory",
                           "at the host");
  }
  agreement.is_cut = judge.is_cut();
  return agreement;
}

}  // namespace

std::string text_of_agreement(const Program& program, const CheckReport& report,
                              const CaptureSummary& summary) {
  if (summary.options.is_validated == 0) return {};
  if (summary.validation.empty()) {
    return "agreement: none is known: no layer that validates stood below this one (Debian has it in "
           "vulkan-validationlayers).\n";
  }
  const Sides sides = sides_of(program, report, summary);
  const Agreement agreement = agreement_of(program, sides, summary);
  std::string text =
      fmt::format("agreement with {}: both {}, only here {}, only there {}.\n", summary.validation,
                  agreement.both, agreement.only_own.count(), agreement.only_foreign.count());
  text += agreement.only_own.text("only here");
  text += agreement.only_foreign.text("only there");
  if (agreement.unnamed > 0) {
    text += fmt::format("  Of both, {} without an earlier command there that is known here.\n",
                        agreement.unnamed);
  }
  if (agreement.is_cut) {
    text += "  The pairs of the program are too many to look at: a reason may have been missed.\n";
  }
  if (report.is_truncated()) text += "  What is found here is cut: see above.\n";
  if (summary.places.lost_foreign_count() > 0) {
    text += fmt::format("  {} more of its messages were not compared.\n",
                        summary.places.lost_foreign_count());
  }
  return text;
}

}  // namespace interlock
