// ScopedOrder and the hazards of programs with scoped barriers against the definition
// (reference_order.h), on random programs with fixed seeds.
#include "simulator/order/scoped_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/reference_order.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::scoped_order_test {

void PrintTo(const Hazard& hazard, std::ostream* os);  // exact_checks_property_test.cc

namespace {

using ::testing::ElementsAreArray;

constexpr FindingKind kKinds[] = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                  FindingKind::kWriteAfterWrite};

bool touches(const Access& access, uint64_t byte) {
  return access.range.begin <= byte && byte < access.range.end;
}

// All programs have one memory.
struct OperandPair {
  const Program& program;
  AccessRef first;
  AccessRef second;

  const Access& a() const { return program.accesses_of(first.dispatch)[first.access]; }
  const Access& b() const { return program.accesses_of(second.dispatch)[second.access]; }
  Stage first_stage() const { return stage_of(program.dispatch(first.dispatch)); }
  Stage second_stage() const { return stage_of(program.dispatch(second.dispatch)); }

  bool conflicts(FindingKind kind, uint64_t byte) const {
    const bool are_equal_atomics =
        a().is_atomic() && b().is_atomic() &&
        program.dispatch(first.dispatch).atomic_op == program.dispatch(second.dispatch).atomic_op;
    if (are_equal_atomics || !touches(a(), byte) || !touches(b(), byte)) return false;
    const bool is_war = kind == FindingKind::kWriteAfterRead;
    const bool is_raw = kind == FindingKind::kReadAfterWrite;
    return (is_war ? read_sort_of(first_stage(), a()) : write_sort_of(first_stage(), a())) &&
           (is_raw ? read_sort_of(second_stage(), b()) : write_sort_of(second_stage(), b()));
  }
  bool is_hazard(FindingKind kind, uint64_t byte) const {
    if (!conflicts(kind, byte)) return false;
    if (kind == FindingKind::kWriteAfterRead) {
      return !reference_executes_before(program, first.dispatch, second.dispatch);
    }
    const auto sort = kind == FindingKind::kReadAfterWrite ? read_sort_of(second_stage(), b())
                                                           : write_sort_of(second_stage(), b());
    return !reference_is_visible(program, first.dispatch, second.dispatch, *sort,
                                 MemoryId(size_t{0}), byte);
  }
};

// The pair of lowest positions with a hazardous byte, and its first run of them.
std::optional<Hazard> reference_hazard(const Program& program, DispatchId first, DispatchId second,
                                       FindingKind kind) {
  for (uint32_t i = 0; i < program.accesses_of(first).size(); ++i) {
    for (uint32_t k = 0; k < program.accesses_of(second).size(); ++k) {
      const OperandPair pair{program, {first, i}, {second, k}};
      const uint64_t size = program.memories[0].size_bytes;
      uint64_t begin = 0;
      while (begin < size && !pair.is_hazard(kind, begin)) ++begin;
      if (begin == size) continue;
      uint64_t end = begin;
      while (end < size && pair.is_hazard(kind, end)) ++end;
      const bool is_ordered = reference_executes_before(program, first, second);
      return Hazard{kind, pair.first, pair.second, {begin, end}, is_ordered};
    }
  }
  return std::nullopt;
}

std::vector<Hazard> reference_all_scoped_hazards(const Program& program) {
  std::vector<Hazard> hazards;
  for (size_t k = 0; k < program.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (const FindingKind kind : kKinds) {
        const auto hazard = reference_hazard(program, DispatchId(i), DispatchId(k), kind);
        if (hazard) hazards.push_back(*hazard);
      }
    }
  }
  return hazards;
}

// Whether a byte of one access of `second` conflicts as `kind` with `first`, with nothing between
// them of the same stage that does, and there is a hazard.
bool is_latest_hazard(const Program& program, DispatchId first, DispatchId second,
                      FindingKind kind) {
  const auto conflicts_at = [&](DispatchId earlier, uint32_t k, uint64_t byte, bool is_hazard) {
    for (uint32_t i = 0; i < program.accesses_of(earlier).size(); ++i) {
      const OperandPair pair{program, {earlier, i}, {second, k}};
      if (is_hazard ? pair.is_hazard(kind, byte) : pair.conflicts(kind, byte)) return true;
    }
    return false;
  };
  for (uint32_t k = 0; k < program.accesses_of(second).size(); ++k) {
    for (uint64_t byte = 0; byte < program.memories[0].size_bytes; ++byte) {
      if (!conflicts_at(first, k, byte, true)) continue;
      bool is_latest = true;
      for (size_t j = first.index + 1; j < second.index; ++j) {
        is_latest &= stage_of(program.dispatches[j]) != stage_of(program.dispatch(first)) ||
                     !conflicts_at(DispatchId(j), k, byte, false);
      }
      if (is_latest) return true;
    }
  }
  return false;
}

void expect_order_as_in_reference(const Program& program, const HappensBefore& order) {
  const MemoryId memory(size_t{0});
  const uint64_t size = program.memories[0].size_bytes;
  for (size_t k = 0; k < program.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      const DispatchId first(i);
      const DispatchId second(k);
      ASSERT_EQ(order.executes_before(first, second),
                reference_executes_before(program, first, second));
      ASSERT_FALSE(order.executes_before(second, first));
      for (size_t s = 0; s < kDispatchSortCount; ++s) {
        const auto sort = static_cast<StageAccess>(s);
        if (stage_of(sort) != stage_of(program.dispatch(second))) continue;
        std::optional<ByteRange> run;
        for (uint64_t byte = size; byte-- > 0;) {
          if (reference_is_visible(program, first, second, sort, memory, byte)) continue;
          run = {byte, run && run->begin == byte + 1 ? run->end : byte + 1};
        }
        const auto found = order.find_invisible(first, second, sort, memory, {0, size});
        ASSERT_EQ(found.has_value(), run.has_value());
        if (found) {
          ASSERT_EQ(*found, *run);
          ASSERT_FALSE(order.is_visible_everywhere(first, second, sort));
        }
      }
    }
  }
}

void expect_hazards_as_in_reference(const Program& program, const HappensBefore& order) {
  const std::vector<Hazard> all = reference_all_scoped_hazards(program);
  // Which class a hazard is of is judged elsewhere.
  const auto without_classes = [](std::vector<Hazard> hazards) {
    for (Hazard& hazard : hazards) hazard.is_after_own_read = false;
    return hazards;
  };
  ASSERT_THAT(without_classes(find_all_hazards(program, order).hazards), ElementsAreArray(all));
  std::vector<Hazard> latest;
  for (const Hazard& hazard : all) {
    if (is_latest_hazard(program, hazard.first.dispatch, hazard.second.dispatch, hazard.kind)) {
      latest.push_back(hazard);
    }
  }
  ASSERT_THAT(without_classes(find_hazards(program, order).hazards), ElementsAreArray(latest));
  ASSERT_EQ(latest.empty(), all.empty());
}

TEST(ScopedOrder, AgreesWithTheDefinition) {
  for (int seed = 0; seed < share_count(20000, 5, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = random_scoped_program(choice);
    SCOPED_TRACE(print(program));
    expect_order_as_in_reference(program, HappensBefore(program));
    if (HasFatalFailure()) return;
  }
}

TEST(FindHazards, AgreeWithTheDefinitionOnScopedPrograms) {
  int hazardous_count = 0;
  int ordered_count = 0;
  for (int seed = 0; seed < share_count(20000, 8, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    RandomScopedProgramOptions options;
    options.dispatch_count_max = 5;
    options.command_count_max = 4;
    const Program program = random_scoped_program(choice, options);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    if (!order.has_scopes()) continue;  // Global barriers do not tell stages apart.
    expect_hazards_as_in_reference(program, order);
    if (HasFatalFailure()) return;
    const std::vector<Hazard> hazards = find_hazards(program, order).hazards;
    hazardous_count += !hazards.empty();
    for (const Hazard& hazard : hazards) ordered_count += hazard.is_ordered;
  }
  // Neither nearly always nor nearly never.
  EXPECT_GT(hazardous_count, share_count(20000, 8, 120) / 10);
  EXPECT_LT(hazardous_count, share_count(20000, 8, 120) * 95 / 100);
  EXPECT_GT(ordered_count, share_count(20000, 8, 120) / 20);
}

}  // namespace
}  // namespace interlock::scoped_order_test
