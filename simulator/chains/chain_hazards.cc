#include "simulator/chains/chain_hazards.h"

#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "simulator/chains/chain_search.h"
#include "simulator/chains/counter_run.h"

namespace interlock {
namespace {

bool reads(const Access& access) { return access.reads_plainly() || access.is_atomic(); }
bool writes(const Access& access) { return access.writes_plainly() || access.is_atomic(); }

// Two accesses of one memory, the first one earlier in the run.
struct AccessPair {
  DispatchId first;
  const Access& a;
  DispatchId second;
  const Access& b;
};

void add_chain_hazards(const Program& program, const ChainSearch& chains, const AccessPair& pair,
                       std::set<ChainHazard>& hazards) {
  const Dispatch& first = program.dispatch(pair.first);
  const Dispatch& second = program.dispatch(pair.second);
  if (pair.a.is_atomic() && pair.b.is_atomic() && first.atomic_op == second.atomic_op) return;
  const Stage first_stage = stage_of(first, pair.a);
  const Stage second_stage = stage_of(second, pair.b);
  const auto read_sort = read_sort_of(second_stage, pair.b);
  const auto write_sort = write_sort_of(second_stage, pair.b);
  const bool is_ordered =
      chains.executes_before(pair.first, first_stage, pair.second, second_stage);
  const ByteRange bytes =
      intersection(chains.bytes_of(pair.first, pair.a), chains.bytes_of(pair.second, pair.b));
  for (uint64_t byte = bytes.begin; byte < bytes.end; ++byte) {
    const auto add = [&](FindingKind kind, StageAccess sort) {
      hazards.insert(
          {pair.first, pair.second, kind, sort, first_stage, pair.a.memory, byte, is_ordered});
    };
    if (reads(pair.a) && writes(pair.b) && !is_ordered) {
      add(FindingKind::kWriteAfterRead, *write_sort);
    }
    if (!writes(pair.a)) continue;
    const ChainSearch::Spread spread = chains.spread_of(pair.first, pair.a.memory, byte);
    if (reads(pair.b) && !chains.is_visible(spread, pair.second, *read_sort)) {
      add(FindingKind::kReadAfterWrite, *read_sort);
    }
    if (writes(pair.b) && !chains.is_visible(spread, pair.second, *write_sort)) {
      add(FindingKind::kWriteAfterWrite, *write_sort);
    }
  }
}

}  // namespace

std::optional<std::set<ChainHazard>> chain_hazards_of(const Program& program) {
  const std::vector<StatementId> run = run_by_counters(program);
  if (run.size() < program.statements.size()) return std::nullopt;
  const ChainSearch chains(program);
  std::vector<DispatchId> dispatches;
  for (const StatementId id : run) {
    const Statement& statement = program.statements[id.index];
    const bool is_dispatch = statement.kind == StatementKind::kDispatch;
    if (is_dispatch) dispatches.push_back(DispatchId(size_t{statement.index}));
  }
  std::set<ChainHazard> hazards;
  for (size_t k = 0; k < dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (const Access& a : program.accesses_of(dispatches[i])) {
        for (const Access& b : program.accesses_of(dispatches[k])) {
          if (a.memory != b.memory) continue;
          add_chain_hazards(program, chains, {dispatches[i], a, dispatches[k], b}, hazards);
        }
      }
    }
  }
  return hazards;
}

}  // namespace interlock
