// Certificates, good and planted wrong ones.
#include "simulator/barriers/certificate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/printer.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/report/check.h"
#include "tests/program_count.h"
#include "tests/simulator/barriers/redundant_barriers.h"
#include "tests/simulator/judges/reference_checks.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::certificate_test {
namespace {

constexpr const char* kThree = R"(
    dispatch A writes a
    dispatch B reads a writes b
    dispatch C reads a[0:8] b
    dispatch D reads c)";

std::optional<std::string> defect(std::vector<std::pair<size_t, size_t>> pairs, uint64_t count) {
  std::vector<ForcingPair> forcing;
  for (const auto& [first, second] : pairs) {
    forcing.push_back({DispatchId(first), DispatchId(second)});
  }
  return certificate_defect(program_on_abc(kThree), forcing, count);
}

TEST(CertificateDefect, IsNoneForAProof) {
  EXPECT_EQ(defect({{0, 1}, {1, 2}}, 2), std::nullopt);
  EXPECT_EQ(defect({{0, 2}}, 1), std::nullopt);
  EXPECT_EQ(defect({}, 0), std::nullopt);
}

TEST(CertificateDefect, IsThatThereAreTooFewPairs) {
  EXPECT_EQ(defect({{0, 1}}, 2), "1 pairs cannot prove 2 barriers.");
}

TEST(CertificateDefect, IsThatPairsShareASlot) {
  EXPECT_EQ(defect({{0, 2}, {1, 2}}, 2),
            "The pair of dispatches 1 and 2 shares a slot with the pair before it.");
}

TEST(CertificateDefect, IsThatAPairDoesNotConflict) {
  EXPECT_EQ(defect({{0, 1}, {2, 3}}, 2), "The pair of dispatches 2 and 3 does not conflict.");
}

TEST(CertificateDefect, IsThatAPairIsNone) {
  EXPECT_EQ(defect({{1, 1}}, 1),
            "The pair of dispatches 1 and 1 is no pair of dispatches in issue order.");
  EXPECT_EQ(defect({{1, 9}}, 1),
            "The pair of dispatches 1 and 9 is no pair of dispatches in issue order.");
}

bool does_hold(const std::string& body) {
  const ForcingPair pair{DispatchId(0), DispatchId(1)};
  return !certificate_defect(program_on_abc(body), std::span(&pair, 1), 1).has_value();
}

// As it is, and among so many operands that they are not compared each with each.
bool do_conflict(const std::string& body) {
  std::string crowded = body;
  for (const std::string name : {"dispatch A", "dispatch B"}) {
    std::string operands;
    for (int i = 0; i < 10; ++i) operands += fmt::format(" c[{}:{}]", 4 * i, 4 * i + 5);
    const size_t behind = crowded.find(name) + name.size();
    const bool reads = crowded.compare(behind, 6, " reads") == 0;
    crowded.insert(behind + (reads ? 6 : 0), reads ? operands : " reads" + operands);
  }
  EXPECT_EQ(does_hold(crowded), does_hold(body)) << body;
  return does_hold(body);
}

TEST(CertificateDefect, ReadsConflictsOffTheOperands) {
  EXPECT_TRUE(do_conflict("dispatch A writes a[0:9]\ndispatch B reads a[8:16]\n"));
  EXPECT_FALSE(do_conflict("dispatch A writes a[0:8]\ndispatch B reads a[8:16]\n"));
  EXPECT_FALSE(do_conflict("dispatch A writes a[0:8]\ndispatch B reads b[0:8]\n"));
  EXPECT_FALSE(do_conflict("dispatch A reads a\ndispatch B reads a\n"));
  EXPECT_FALSE(do_conflict("dispatch A writes a[4:4]\ndispatch B reads a\n"));
  EXPECT_FALSE(do_conflict("dispatch A atomics a atomic=add\ndispatch B atomics a atomic=add\n"));
  EXPECT_TRUE(do_conflict("dispatch A atomics a atomic=add\ndispatch B atomics a atomic=xor\n"));
  EXPECT_TRUE(do_conflict("dispatch A atomics a atomic=add\ndispatch B reads a\n"));
  // A wide range of the first hides behind a narrow one that begins later.
  EXPECT_TRUE(
      do_conflict("dispatch A reads a[0:64] a[8:16]\ndispatch B reads a[4:12] writes a[40:44]\n"));
}

// Whether each step of the chain conflicts, by the same obvious check: a step is a pair of its own.
void expect_chain(const Program& program, const BarrierBounds& bounds) {
  if (bounds.longest_chain == bounds.fewest_barriers) {
    EXPECT_TRUE(bounds.chain.empty());
    return;
  }
  ASSERT_EQ(bounds.chain.size(), bounds.longest_chain + 1);
  for (size_t i = 0; i + 1 < bounds.chain.size(); ++i) {
    const ForcingPair step{bounds.chain[i], bounds.chain[i + 1]};
    EXPECT_EQ(certificate_defect(program, std::span(&step, 1), 1), std::nullopt);
  }
}

// How many barriers a hazard-free program needs is known from all placements, by
// exact_checks_property_test.cc.
TEST(Certificates, ProveTheBoundsOfRandomPrograms) {
  const RandomProgramOptions wide{
      .dispatch_count_max = 16, .operand_count_max = 5, .memory_bytes = 40, .range_bytes_max = 12};
  const RandomProgramOptions crowded{.dispatch_count_max = 8,
                                     .operand_count_max = 20,
                                     .memory_bytes = 4000,
                                     .range_bytes_max = 12};
  SeededChoice choice(1);
  for (int i = 0; i < share_count(10'000, 5, 80) && !HasFailure(); ++i) {
    const Program program = i % 10 == 0  ? random_program(choice, crowded)
                            : i % 2 == 0 ? random_program(choice)
                                         : random_program(choice, wide);
    SCOPED_TRACE(print(program));
    const BarrierBounds bounds = barrier_bounds(program);
    EXPECT_EQ(certificate_defect(program, bounds.forcing, bounds.fewest_barriers), std::nullopt);
    expect_chain(program, bounds);
    // The pass that check() shares says the same as the one that stands alone.
    EXPECT_EQ(check(program, {.observability_budget = 0}).redundant, find_redundant(program));
  }
}

}  // namespace
}  // namespace interlock::certificate_test
