// The idea: a dependency is a link; a chain is a path of links of distinct barriers in issue order.
#include "tests/simulator/judges/reference_order.h"

#include <algorithm>
#include <span>
#include <vector>

#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

bool touches(const Access& access, MemoryId memory, uint64_t byte) {
  return access.memory == memory && access.range.begin <= byte && byte < access.range.end;
}

// A dependency with its stages completed: compute as source includes the earlier indirect stage,
// indirect as destination the later compute stage.
struct Link {
  Scope source;
  Scope destination;
  StageMask from = 0;
  StageMask to = 0;
  std::vector<Access> operands;  // None: all memory.

  Link(Scope source_scope, Scope destination_scope, std::span<const Access> covered)
      : source(source_scope),
        destination(destination_scope),
        from(source_scope.stages),
        to(destination_scope.stages),
        operands(covered.begin(), covered.end()) {
    if ((from & bit_of(Stage::kCompute)) != 0) from |= bit_of(Stage::kIndirect);
    if ((to & bit_of(Stage::kIndirect)) != 0) to |= bit_of(Stage::kCompute);
  }

  bool covers(MemoryId memory, uint64_t byte) const {
    return operands.empty() || std::any_of(operands.begin(), operands.end(), [&](const Access& a) {
             return touches(a, memory, byte);
           });
  }
};

// The links of the barrier at this statement; none if it is a dispatch.
std::vector<Link> links_at(const Program& program, size_t statement) {
  if (program.statements[statement].kind != StatementKind::kBarrier) return {};
  const Barrier& barrier = program.barriers[program.statements[statement].index];
  if (barrier.kind == BarrierKind::kFull) return {Link(kEverything, kEverything, {})};
  if (barrier.kind == BarrierKind::kExecution) {
    return {Link({kAllStages, 0}, {kAllStages, 0}, {})};
  }
  std::vector<Link> links;
  for (const Dependency& dependency : program.dependencies_of(barrier)) {
    links.emplace_back(dependency.source, dependency.destination, program.operands_of(dependency));
  }
  return links;
}

// Whether a chain of barriers among the statements [begin, end) leads from one of the stages
// `reached` to a last link that is as `is_goal` wants it.
template <typename IsGoal>
bool leads_on(const Program& program, size_t begin, size_t end, StageMask reached,
              const IsGoal& is_goal) {
  for (size_t s = begin; s < end; ++s) {
    for (const Link& link : links_at(program, s)) {
      if ((link.from & reached) == 0) continue;
      if (is_goal(link) || leads_on(program, s + 1, end, link.to, is_goal)) return true;
    }
  }
  return false;
}

size_t statement_of(const Program& program, DispatchId dispatch) {
  return program.dispatch(dispatch).statement.index;
}

// Two accesses of a byte, the first earlier in issue order.
struct Pair {
  DispatchId first;
  const Access& a;
  DispatchId second;
  const Access& b;
  MemoryId memory;
  uint64_t byte;
};

bool pair_conflicts(const Program& program, const Pair& pair) {
  const bool are_equal_atomics =
      pair.a.mode == AccessMode::kAtomic && pair.b.mode == AccessMode::kAtomic &&
      program.dispatch(pair.first).atomic_op == program.dispatch(pair.second).atomic_op;
  return !are_equal_atomics && !(pair.a.only_reads() && pair.b.only_reads());
}

bool have_hazard(const Program& program, const Pair& pair) {
  if (!pair_conflicts(program, pair)) return false;
  const bool a_reads = pair.a.mode != AccessMode::kWrite;
  const bool a_writes = !pair.a.only_reads();
  const Stage stage = stage_of(program.dispatch(pair.second));
  const auto read_sort = read_sort_of(stage, pair.b);
  const auto write_sort = write_sort_of(stage, pair.b);
  const auto is_visible_to = [&](StageAccess sort) {
    return reference_is_visible(program, pair.first, pair.second, sort, pair.memory, pair.byte);
  };
  return (a_writes && read_sort && !is_visible_to(*read_sort)) ||
         (a_writes && write_sort && !is_visible_to(*write_sort)) ||
         (a_reads && write_sort && !reference_executes_before(program, pair.first, pair.second));
}

// Whether `judge` says so of two accesses of different dispatches on a byte of theirs.
template <typename Judge>
bool has_pair_that(const Program& program, const Judge& judge) {
  for (size_t k = 0; k < program.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (const Access& b : program.accesses_of(DispatchId(k))) {
        for (const Access& a : program.accesses_of(DispatchId(i))) {
          for (uint64_t byte = a.range.begin; byte < a.range.end; ++byte) {
            if (!touches(b, a.memory, byte)) continue;
            if (judge(program, Pair{DispatchId(i), a, DispatchId(k), b, a.memory, byte})) {
              return true;
            }
          }
        }
      }
    }
  }
  return false;
}

}  // namespace

bool reference_executes_before(const Program& program, DispatchId first, DispatchId second) {
  const StageMask goal = bit_of(stage_of(program.dispatch(second)));
  return leads_on(program, statement_of(program, first), statement_of(program, second),
                  bit_of(stage_of(program.dispatch(first))),
                  [&](const Link& link) { return (link.to & goal) != 0; });
}

bool reference_is_visible(const Program& program, DispatchId first, DispatchId second,
                          StageAccess sort, MemoryId memory, uint64_t byte) {
  const AccessMask written =
      bit_of(stage_of(program.dispatch(first)) == Stage::kCopy ? StageAccess::kCopyWrite
                                                               : StageAccess::kComputeWrite);
  const auto is_goal = [&](const Link& link) {
    return link.covers(memory, byte) && (link.destination.accesses & bit_of(sort)) != 0;
  };
  const size_t end = statement_of(program, second);
  for (size_t s = statement_of(program, first); s < end; ++s) {
    for (const Link& link : links_at(program, s)) {
      if (!link.covers(memory, byte) || (link.source.accesses & written) == 0) continue;
      if (is_goal(link) || leads_on(program, s + 1, end, link.to, is_goal)) return true;
    }
  }
  return false;
}

bool reference_has_conflict(const Program& program) {
  return has_pair_that(program, pair_conflicts);
}

bool reference_has_hazard(const Program& program) { return has_pair_that(program, have_hazard); }

}  // namespace interlock
