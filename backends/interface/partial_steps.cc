#include "backends/interface/partial_steps.h"

#include <algorithm>

#include <fmt/format.h>

#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

bool is_at(const Access& access, const StepBytes& place) {
  return access.memory == place.memory && share_a_byte(access.range, place.range);
}

}  // namespace

bool finds_as_read(const Program& program, DispatchId dispatch, const Access& access,
                   const StepBytes& place) {
  const Stage stage = stage_of(program.dispatch(dispatch));
  return is_at(access, place) && access.reads_plainly() &&
         read_sort_of(stage, access) == place.sort;
}

bool finds_as_left(const Program& program, DispatchId dispatch, const Access& access,
                   const StepBytes& place) {
  const Stage stage = stage_of(program.dispatch(dispatch));
  return is_at(access, place) && program.dispatch(dispatch).is_partial && access.writes_plainly() &&
         write_sort_of(stage, access) == place.sort;
}

Result<Success> check_one_content(const Program& program, DispatchId dispatch,
                                  std::span<const StepBytes> fetched) {
  if (!program.dispatch(dispatch).is_partial) return Success{};
  for (const Access& access : program.accesses_of(dispatch)) {
    if (!access.reads_plainly() || !access.writes_plainly()) continue;
    for (const StepBytes& place : fetched) {
      const bool is_read = finds_as_read(program, dispatch, access, place);
      const bool is_left = finds_as_left(program, dispatch, access, place);
      if (!is_read && !is_left) continue;
      const auto is_twin = [&](const StepBytes& other) {
        return other.range.contains(intersection(place.range, access.range)) &&
               (is_read ? finds_as_left(program, dispatch, access, other)
                        : finds_as_read(program, dispatch, access, other));
      };
      if (std::ranges::any_of(fetched, is_twin)) continue;
      return Error{
          fmt::format(
              "{} reads bytes at one time and finds at another what it leaves of them; a kernel of this backend finds one content.",
              program.description_of(dispatch)),
          ErrorKind::kRefused};
    }
  }
  return Success{};
}

std::vector<ByteRange> parts_outside(std::span<const StepBytes> excluded, MemoryId memory,
                                     ByteRange run) {
  std::vector<ByteRange> parts = {run};
  for (const StepBytes& cut : excluded) {
    if (cut.memory != memory) continue;
    std::vector<ByteRange> rest;
    for (const ByteRange& part : parts) {
      const ByteRange left{part.begin, std::min(part.end, cut.range.begin)};
      const ByteRange right{std::max(part.begin, cut.range.end), part.end};
      if (!left.is_empty()) rest.push_back(left);
      if (!right.is_empty()) rest.push_back(right);
    }
    parts = std::move(rest);
  }
  return parts;
}

}  // namespace interlock
