// Reference runs on a backend that is given the text of a program, as one in another process is:
// what is left out for the run must not change where values lie or how statements are numbered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "backends/interface/backend.h"
#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::reference_by_text_test {
namespace {

Backend& cpu() { return *find_backend("cpu"); }

Program parsed(const std::string& text) {
  ParseOptions options;
  read_every_queue(options);
  auto program = parse(text, "test", options);
  EXPECT_TRUE(program) << (program ? "" : program.error().message) << "\n" << text;
  return program ? *std::move(program) : Program();
}

class ByText final : public Backend {
 public:
  std::string_view name() const override { return "by-text"; }
  Availability availability() const override { return cpu().availability(); }
  bool supports(ExecutionMode mode) const override { return cpu().supports(mode); }
  Capabilities capabilities() const override { return cpu().capabilities(); }
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override {
    const Program text = parsed(print(as_in_text(program)));
    return cpu().run(needs_queue_order(text) ? reference_run(text) : text, schedule, mode);
  }
};

void expect_the_same(const Program& program) {
  SCOPED_TRACE(print(as_in_text(program)));
  ByText by_text;
  const Result<MemoryImage> expected = reference_image(program, cpu());
  const Result<MemoryImage> found = reference_image(program, by_text);
  ASSERT_TRUE(expected && found);
  ASSERT_TRUE(*expected == *found);
}

TEST(ReferenceByText, KeepsWhatIsAdoptedWhereItLies) {
  expect_the_same(parsed(
      "interlock 1\nmemory m 64\ntensor x f32[4] at m+0\ntensor y f32[4] at m+32\ntensor a f32[4]\n"
      "make: dispatch Make order=1 writes x\nadopt a = x\nbarrier\n"
      "use: dispatch Use order=2 reads a writes y\nfree a\nfree x\n"));
}

// The copy waits for work that stands after it in the text.
TEST(ReferenceByText, NumbersStatementsOfAnotherOrderThanTheText) {
  const Program text = parsed(
      "interlock 1\nmemory m 64\ntensor x f32[4] at m+0\ntensor y f32[4] at m+16\n"
      "tensor z f32[4] at m+32\ntensor a f32[4]\nq1: queue serial\nq2: queue serial\n"
      "wait s=1 on q2\nother: dispatch Other order=2 writes y on q2\n"
      "make: dispatch Make order=1 writes x on q1\nadopt a = x\nsignal s=1 on q1\n"
      "use: dispatch Use order=3 reads a y writes z on q2\nfree a on q2\nfree y on q2\n");
  const Program run = reference_run(text);
  ASSERT_NE(run.text_order, nullptr);
  expect_the_same(run);
}

TEST(ReferenceByText, IsTheSameOnRandomProgramsOfValues) {
  const int count = proof_count(20'000, 300, 5);
  int adopting = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 40'000);
    Program program =
        seed % 2 == 0 ? random_lifetime_program(choice) : random_holding_program(choice, 10);
    program.has_program_order = true;  // Which their dispatches have: the order of the text.
    for (size_t i = 0; i < program.dispatches.size(); ++i) program.dispatches[i].order = i;
    adopting += program.has_any(LifetimeKind::kAdopt);
    ASSERT_NO_FATAL_FAILURE(expect_the_same(program)) << "seed " << seed;
  }
  EXPECT_GT(adopting, count / 8);
  print_proof(count,
              "a reference run is the same of a program and of its text, whatever ends values");
}

}  // namespace
}  // namespace interlock::reference_by_text_test
