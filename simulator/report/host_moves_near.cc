#include "simulator/report/host_moves_near.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/range.h"
#include "simulator/order/host_atoms.h"
#include "simulator/report/operand_text.h"

namespace interlock {

HostMovesNear::HostMovesNear(const Program& program, const Hazard& hazard, const HazardEnd& first,
                             const HazardEnd& second)
    : program_(program),
      hazard_(hazard),
      first_(first),
      second_(second),
      memory_(program.memory(first.access.memory)) {}

std::optional<uint32_t> HostMovesNear::first_between(SyncKind kind) const {
  const uint32_t begin = first_.dispatch.statement.index;
  return first_move(kind, begin,
                    std::min(second_.dispatch.statement.index, begin + kStatementsNearMax));
}

std::optional<uint32_t> HostMovesNear::first_move(SyncKind kind, uint32_t begin,
                                                  uint32_t end) const {
  for (uint32_t i = begin; i < end; ++i) {
    const Statement& statement = program_.statements[i];
    if (statement.kind != StatementKind::kSync) continue;
    const SyncStep& step = program_.syncs[statement.index];
    if (step.kind != kind) continue;
    const bool is_about_it =
        std::ranges::any_of(program_.operands_of(step), [&](const Access& operand) {
          return operand.memory == first_.access.memory &&
                 share_a_byte(in_whole_atoms(memory_, operand.range), hazard_.overlap);
        });
    if (is_about_it) return i;
  }
  return std::nullopt;
}

bool HostMovesNear::is_written_between(uint32_t begin, uint32_t end) const {
  for (uint32_t i = begin; i < end; ++i) {
    const Statement& statement = program_.statements[i];
    if (statement.kind != StatementKind::kDispatch) continue;
    const bool writes = std::ranges::any_of(
        program_.accesses_of(DispatchId(size_t{statement.index})), [&](const Access& access) {
          return !access.only_reads() && access.memory == first_.access.memory &&
                 share_a_byte(access.range, hazard_.overlap);
        });
    if (writes) return true;
  }
  return false;
}

std::string HostMovesNear::text_without(SyncKind kind) const {
  const std::string what = fmt::format("{} is not coherent, and ", program_.name(memory_.name));
  const uint32_t first = first_.dispatch.statement.index;
  const uint32_t second = second_.dispatch.statement.index;
  const auto count = static_cast<uint32_t>(program_.statements.size());
  const uint32_t end = second + std::min(count - second, kStatementsNearMax);
  const auto late = first_move(kind, second, end);
  if (late && !is_written_between(second + 1, *late)) {
    return what + fmt::format("{} comes too late, after {}.",
                              quoted_text_of(program_, StatementId(size_t{*late})), second_.name);
  }
  const uint32_t begin = first - std::min(first, kStatementsNearMax);
  std::optional<uint32_t> early;
  for (auto next = first_move(kind, begin, first); next;) {
    early = next;
    next = first_move(kind, *next + 1, first);
  }
  if (early && !is_written_between(*early, first)) {
    return what + fmt::format("{} comes too early, before {}.",
                              quoted_text_of(program_, StatementId(size_t{*early})), first_.name);
  }
  return what + fmt::format("the host does not {} these bytes.",
                            kind == SyncKind::kHostFlushes ? "flush" : "invalidate");
}

}  // namespace interlock
