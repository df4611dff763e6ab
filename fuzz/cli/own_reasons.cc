#include "fuzz/cli/own_reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/scope.h"

namespace interlock {
namespace {

constexpr std::string_view kWrittenBetween =
    "it keeps the last write to each byte and the reads since, and all of these bytes are written "
    "again in between";

// Operands that are looked at for what stands between two accesses, in all.
constexpr uint64_t kStepsMax = 20'000'000;
// Of what is left of a range, so many pieces are looked at in a step.
constexpr uint64_t kPiecesPerStep = 16;

void remove_range(std::vector<ByteRange>& ranges, ByteRange gone) {
  std::vector<ByteRange> rest;
  for (const ByteRange range : ranges) {
    const ByteRange before{range.begin, std::min(range.end, gone.begin)};
    const ByteRange after{std::max(range.begin, gone.end), range.end};
    if (!before.is_empty()) rest.push_back(before);
    if (!after.is_empty()) rest.push_back(after);
  }
  ranges = std::move(rest);
}

bool is_write(FindingKind kind) {
  return kind == FindingKind::kWriteAfterRead || kind == FindingKind::kWriteAfterWrite;
}

}  // namespace

OwnReasons::OwnReasons(const Program& program, const CapturedPlaces& places)
    : program_(program), places_(places) {
  for (const ForeignHazard& hazard : places.foreign()) {
    if (hazard.kind && hazard.second && hazard.first) {
      named_.insert({*hazard.kind, *hazard.second, *hazard.first});
    }
  }
}

std::string OwnReasons::reason_of(const CapturedPlace& second,
                                  const std::vector<const Finding*>& findings) {
  std::set<std::string> reasons;
  for (const Finding* const finding : findings) reasons.insert(reason_of(second, *finding));
  if (reasons.empty() || reasons.contains(std::string(kNoReason))) return std::string(kNoReason);
  return fmt::format("{}", fmt::join(reasons, "; of others of these bytes, "));
}

std::string OwnReasons::reason_of(const CapturedPlace& second, const Finding& finding) {
  const std::optional<CapturedPlace> first =
      place_of_label(program_.reference_of(finding.first.dispatch));
  if (!first) {
    const bool is_host = program_.dispatch(finding.first.dispatch).host != HostAccess::kNone;
    if (is_host) return std::string(kHostIsUnseen);
    return std::string(cover_of(finding) == Cover::kWrites ? kWrittenBetween : kPresentsAreApart);
  }
  const bool is_within = first->submission == second.submission && first->buffer == second.buffer;
  if (std::string reason = reason_of_both_sides(second, finding); !reason.empty()) return reason;
  const std::string rule = "it holds a write against the reads since the last write alone, and ";
  const Cover cover = cover_of(finding);
  if (cover == Cover::kWrites) return std::string(kWrittenBetween);
  if (cover == Cover::kReads) {
    return rule + "all of these bytes are read or written again in between";
  }
  if (std::string reason = is_within ? reason_of_dispatches(finding) : ""; !reason.empty()) {
    return reason;
  }
  if (cover == Cover::kReadsOfTheFirst) {
    return rule +
           "the command of that write reads what nothing else does in between: where it does "
           "so by another binding, that may count as a read after the write";
  }
  if (places_.is_addressed(second) || places_.is_addressed(*first)) {
    return "one of the two commands finds its buffers by their addresses, which it does not follow "
           "(whether it finds these so is not checked)";
  }
  if (!is_within) {
    return "between command buffers it looks only when they are submitted, and at the first access "
           "to each byte (whether this is one is not checked)";
  }
  return std::string(kNoReason);
}

bool OwnReasons::is_cut() const { return step_count_ >= kStepsMax; }

bool OwnReasons::names(FindingKind kind, const CapturedPlace& second,
                       const CapturedPlace& first) const {
  return named_.contains({kind, second, first});
}

std::string OwnReasons::reason_of_both_sides(const CapturedPlace& second, const Finding& finding) {
  const auto first = place_of_label(program_.reference_of(finding.first.dispatch));
  const Dispatch& earlier = program_.dispatch(finding.first.dispatch);
  const Dispatch& later = program_.dispatch(finding.second->dispatch);
  const auto has_both = [&](const Dispatch& dispatch) {
    return touches(dispatch, finding, &Access::has_read_side) &&
           touches(dispatch, finding, &Access::has_write_side);
  };
  // Of the earlier command it keeps the write, or the read after it.
  const FindingKind other = finding.kind == FindingKind::kWriteAfterRead
                                ? FindingKind::kWriteAfterWrite
                                : FindingKind::kWriteAfterRead;
  if (is_write(finding.kind) && names(other, second, *first) && has_both(earlier)) {
    return "the earlier command reads and writes these bytes, and of a command it keeps one of the "
           "two: it names the other one";
  }
  // The parts of a pass it takes one after the other; a change of layout is one write.
  const bool is_in_parts = later.is_transition() || later.stage == Stage::kGraphics;
  const bool is_other_named = is_write(finding.kind)
                                  ? names(FindingKind::kReadAfterWrite, second, *first)
                                  : names(FindingKind::kWriteAfterRead, second, *first) ||
                                        names(FindingKind::kWriteAfterWrite, second, *first);
  if (is_in_parts && is_other_named && has_both(later)) {
    return "the later command reads and writes these bytes, and only what it does first is held "
           "against earlier ones: it names the other one";
  }
  return {};
}

std::string OwnReasons::reason_of_dispatches(const Finding& finding) {
  const Dispatch& earlier = program_.dispatch(finding.first.dispatch);
  const Dispatch& later = program_.dispatch(finding.second->dispatch);
  const auto is_of_bindings = [&](const Dispatch& dispatch) {
    return !dispatch.is_transition() && stage_of(dispatch) == Stage::kCompute;
  };
  if (!is_of_bindings(earlier) || !is_of_bindings(later)) return {};
  // Where the usage of both is the same (1.3.239: `SupressedBoundDescriptorWAW`).
  const std::string rule =
      "of a write of a dispatch after one of another dispatch of the same command buffer it tells "
      "nothing";
  if (finding.kind == FindingKind::kWriteAfterWrite) return rule;
  // Had it kept the read, it would have named that.
  const bool keeps_write = finding.kind == FindingKind::kWriteAfterRead &&
                           touches(earlier, finding, &Access::has_read_side) &&
                           touches(earlier, finding, &Access::has_write_side);
  if (!keeps_write) return {};
  return "the earlier command reads and writes these bytes, and of a command it keeps one of the two: "
         "here the write; " +
         rule;
}

bool OwnReasons::touches(const Dispatch& dispatch, const Finding& finding, Side side) {
  std::vector<ByteRange> untouched = {finding.overlap};
  return remove(dispatch, finding.memory, side, untouched) && untouched.empty();
}

OwnReasons::Cover OwnReasons::cover_of(const Finding& finding) {
  const Dispatch& first = program_.dispatch(finding.first.dispatch);
  const Dispatch& second = program_.dispatch(finding.second->dispatch);
  const QueueIndex queue = program_.queue_of(second);
  // A presentation it holds against what is submitted after the acquisition, in that order.
  const bool is_presented =
      program_.reference_of(finding.first.dispatch).starts_with(kPresentedLabel);
  if (program_.queue_of(first) != queue && !is_presented) return Cover::kNone;
  std::vector<ByteRange> unwritten = {finding.overlap};
  std::vector<ByteRange> untouched = {finding.overlap};
  for (size_t i = finding.first.dispatch.index + 1; i < finding.second->dispatch.index; ++i) {
    if (is_cut()) return Cover::kNone;
    ++step_count_;
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

bool OwnReasons::remove(const Dispatch& dispatch, MemoryId memory, Side side,
                        std::vector<ByteRange>& ranges) {
  for (const Access& access : program_.accesses_of(dispatch)) {
    if (is_cut()) return false;
    ++step_count_;
    if (access.memory != memory || !(access.*side)()) continue;
    step_count_ += ranges.size() / kPiecesPerStep;
    remove_range(ranges, access.range);
  }
  return true;
}

}  // namespace interlock
