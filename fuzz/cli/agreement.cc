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
#include "fuzz/cli/hazard_lookup.h"
#include "fuzz/cli/own_reasons.h"

namespace interlock {
namespace {

// Each list shows so many.
constexpr size_t kShownMax = 4;

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
  // At what the host does, and at presentations: these are no commands.
  uint64_t own_of_host = 0;
  uint64_t own_of_presents = 0;
  std::map<HazardKey, std::vector<const ForeignHazard*>> foreign;
  std::vector<const ForeignHazard*> foreign_elsewhere;  // At a command that is not known here.
};

void add_own(const Program& program, const Finding& finding, Sides& sides) {
  if (!is_hazard(finding.kind) || !finding.second) return;
  const auto second = place_of_label(program.reference_of(finding.second->dispatch));
  if (!second) {
    const bool is_host = program.dispatch(finding.second->dispatch).host != HostAccess::kNone;
    ++(is_host ? sides.own_of_host : sides.own_of_presents);
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

// How a message names an image that is acquired.
constexpr std::string_view kAcquired = "prior_usage: SYNC_PRESENT_ENGINE_SYNCVAL_PRESENT_ACQUIRE";

// What only they name: of each later command and kind one hazard, with the reason.
class ForeignJudge {
 public:
  ForeignJudge(const Program& program, const CaptureSummary& summary)
      : program_(program),
        all_pairs_(program, TimelineWaits::kKept),
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
    const bool is_of_presents =
        hazard.is_at_submission && hazard.text->find(kAcquired) != std::string::npos;
    if (is_of_presents && !is_presented_before(key.first)) {
      return "the earlier access is the acquisition of an image that was not presented before, so "
             "that nobody reads it";
    }
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
  // Whether bytes of the command's memories were presented earlier in the program.
  bool is_presented_before(const CapturedPlace& place) {
    if (!std::exchange(has_presented_, true)) find_presented();
    return after_presents_.contains(place);
  }

  void find_presented() {
    std::set<MemoryId> presented;
    for (size_t i = 0; i < program_.dispatches.size(); ++i) {
      const std::string label = program_.reference_of(DispatchId(i));
      const std::optional<CapturedPlace> place = place_of_label(label);
      for (const Access& access : program_.accesses_of(program_.dispatches[i])) {
        if (label.starts_with(kPresentedLabel)) presented.insert(access.memory);
        if (place && presented.contains(access.memory)) after_presents_.insert(*place);
      }
    }
  }

  const Program& program_;
  bool has_presented_ = false;
  std::set<CapturedPlace> after_presents_;
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
                const OwnHazard* own, ForeignJudge& judge, OwnReasons& own_reasons,
                Agreement& agreement) {
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
    agreement.only_own.add(own_reasons.reason_of(key.first, own->findings),
                           line_of(key, own->last_first()));
  }
  if (other == nullptr) return;
  std::string line = line_of(key, other->first);
  if (!other->first) line += fmt::format(": {}", *other->text);
  agreement.only_foreign.add(reason, std::move(line));
}

Agreement agreement_of(const Program& program, const Sides& sides, const CaptureSummary& summary) {
  Agreement agreement;
  OwnReasons own_reasons(program, summary.places);
  for (const auto& [key, hazard] : sides.own) {
    if (sides.foreign.contains(key)) continue;
    agreement.only_own.add(own_reasons.reason_of(key.first, hazard.findings),
                           line_of(key, hazard.last_first()));
  }
  ForeignJudge judge(program, summary);
  for (const auto& [key, hazards] : sides.foreign) {
    const auto own = sides.own.find(key);
    compare_at(key, hazards, own == sides.own.end() ? nullptr : &own->second, judge, own_reasons,
               agreement);
  }
  for (const ForeignHazard* const hazard : sides.foreign_elsewhere) {
    agreement.only_foreign.add("its command is not known here", *hazard->text);
  }
  for (uint64_t i = 0; i < sides.own_of_host; ++i) {
    agreement.only_own.add(std::string(kHostIsUnseen), "at the host");
  }
  for (uint64_t i = 0; i < sides.own_of_presents; ++i) {
    agreement.only_own.add(std::string(kPresentsAreApart), "at a presentation");
  }
  agreement.is_cut = judge.is_cut() || own_reasons.is_cut();
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
