#include "fuzz/cli/captured_advice.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "simulator/report/joint_advice.h"

namespace interlock {
namespace {

// A wait of the host, or a part of one.
bool is_host_wait(const Program& program, const SyncPiece& piece) {
  if (piece.kind == SyncPieceKind::kHostIdle || piece.kind == SyncPieceKind::kQueue) return true;
  const bool is_wait = piece.kind == SyncPieceKind::kWait || piece.kind == SyncPieceKind::kValue;
  return is_wait && program.statements[piece.statement.index].queue == kNoQueue;
}

constexpr AccessMask kHostAccessBits =
    bit_of(StageAccess::kHostRead) | bit_of(StageAccess::kHostWrite);

bool scope_is_for_host(const Scope& scope) {
  return (scope.stages & bit_of(Stage::kHost)) != 0 || (scope.accesses & kHostAccessBits) != 0;
}

// A barrier that names the host, or the part of one that does.
bool is_barrier_for_host(const Program& program, const SyncPiece& piece) {
  const Statement& statement = program.statements[piece.statement.index];
  if (statement.kind != StatementKind::kBarrier) return false;
  if (piece.kind == SyncPieceKind::kScope) return scope_is_for_host(piece.cut);
  if (piece.dependency != SyncPiece::kNone) {
    const Dependency& dependency = program.dependencies[piece.dependency];
    return scope_is_for_host(dependency.source) || scope_is_for_host(dependency.destination);
  }
  return names_host(program, program.barriers[statement.index]);
}

std::string amount_of(uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

// "s3.b0.c6.n12": the number is there where the application asked for it.
bool is_of_application(const Program& program, const Barrier& barrier) {
  const NameId label = program.statements[barrier.statement.index].label;
  if (!label.is_some()) return false;
  const std::string_view name = program.name(label);
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  return digits < name.size() && name.substr(0, digits).ends_with(".n");
}

}  // namespace

std::string AdviceForHost::text() const {
  const uint64_t count = wait_count + barrier_count;
  if (count == 0) return {};
  std::string what;
  if (wait_count > 0) what = amount_of(wait_count, "wait of the host", "waits of the host");
  if (barrier_count > 0) {
    what += fmt::format("{}{}", what.empty() ? "" : " and ",
                        amount_of(barrier_count, "barrier or part of one that names it",
                                  "barriers or parts of them that name it"));
    if (wait_count == 0) what += ", the host,";
  }
  return fmt::format(
      "{} would go without a finding, and {} no advice: what the host does to mapped coherent "
      "memory is not seen, and may need {}.\n",
      what, count == 1 ? "is" : "are", count == 1 ? "it" : "them");
}

AdviceForHost take_advice_for_host(const Program& program, const CaptureSummary& summary,
                                   CheckReport& report) {
  AdviceForHost taken;
  if (!summary.maps_coherent) return taken;
  taken.wait_count += std::erase_if(
      report.redundant_sync, [&](const SyncPiece& piece) { return is_host_wait(program, piece); });
  taken.barrier_count += std::erase_if(report.redundant_sync, [&](const SyncPiece& piece) {
    return is_barrier_for_host(program, piece);
  });
  return taken;
}

void set_joint_advice(const Program& program, const CaptureSummary& summary, uint64_t work_limit,
                      CheckReport& report) {
  report.joint = find_joint_advice(program, report,
                                   {.is_meant = is_of_application,
                                    .keeps_for_host = summary.maps_coherent,
                                    .work_limit = work_limit});
}

}  // namespace interlock
