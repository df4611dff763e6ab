// The corpus: every file says what it expects, and gets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/instrumented.h"
#include "backends/reference/values_apart.h"
#include "backends/registry.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/replay.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/corpus_files.h"

namespace interlock::corpus_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> judged_files() { return corpus_files({"bugs", "seeds", "regressions"}); }

TEST(Corpus, HasTheFilesThatItNeeds) {
  EXPECT_GE(corpus_files({"seeds"}).size(), 10u);
  EXPECT_GE(corpus_files({"bugs"}).size(), 198u);
  EXPECT_GE(corpus_files({"streams"}).size(), 19u);
}

TEST(Corpus, EveryFileMeetsItsExpectations) {
  for (const fs::path& path : judged_files()) {
    const Program program = corpus_program(path);
    EXPECT_FALSE(program.expectations.empty()) << path << " expects nothing.";
    const CheckReport report = check(program);
    const ExpectationOutcome outcome = judge_expectations(program, report);
    EXPECT_TRUE(is_as_expected(program, report, outcome)) << path;
    for (const SubjectOutcome& subject : outcome.subjects) {
      for (const std::string& failure : subject.failures) {
        ADD_FAILURE() << path << ": " << failure;
      }
    }
  }
}

// Nothing is called redundant that the file does not name: there, a false "can go" is a failure.
TEST(Corpus, EveryRegressionNamesTheAdviceThatItGets) {
  for (const fs::path& path : corpus_files({"regressions"})) {
    const Program program = corpus_program(path);
    const std::vector<RedundantBarrier> unexpected = unexpected_redundancy(program, check(program));
    EXPECT_TRUE(unexpected.empty()) << path << ": " << description_of(program, unexpected.front());
  }
}

// An `expect` line and the report speak of the same dispatches, statements and tensors.
TEST(Corpus, EveryFindingSaysWhatItsExpectLineNames) {
  for (const fs::path& path : corpus_files({"bugs", "seeds", "regressions", "streams"})) {
    const Program program = corpus_program(path);
    for (const Finding& finding : check(program).findings) {
      std::string sentences = finding.headline;
      for (const std::string& detail : finding.details) sentences += "\n" + detail;
      SCOPED_TRACE(path.string() + ": " + sentences);
      const auto expect_named = [&](std::string_view text) {
        EXPECT_NE(sentences.find(text), std::string::npos) << text;
      };
      const bool is_of_gradient = finding.kind == FindingKind::kGradient;
      if (finding.lifetime.is_some()) {
        expect_named(program.text_of(program.lifetimes[finding.lifetime.index]));
      }
      if (is_of_gradient) expect_named(program.name(program.tensor(finding.tensor).name));
      if (is_of_gradient) continue;
      if (finding.first.dispatch.is_some()) {
        expect_named(program.description_of(finding.first.dispatch));
      }
      if (finding.second) expect_named(program.description_of(finding.second->dispatch));
    }
  }
}

// What a backward pass appends has no sync of its own: an encoder gives it.
Program synced(const Program& program) {
  if (program.backwards.empty()) return program;
  return encode(program, *find_encoder("interlock")->create());
}

// True iff something is wrong that no encoder can mend.
bool is_wrong(const Program& program) {
  const std::vector<Finding> findings = check(program).findings;
  const bool has_wrong_gradient =
      std::any_of(findings.begin(), findings.end(),
                  [](const Finding& finding) { return finding.kind == FindingKind::kGradient; });
  return has_wrong_gradient || !check(synced(program)).findings.empty();
}

// True iff nothing is said to be wrong but a barrier too many.
bool is_about_cost(const Program& program) {
  return std::all_of(
      program.expectations.begin(), program.expectations.end(),
      [](const Expectation& line) { return !line.is_clean && is_advice(line.kind); });
}

TEST(Corpus, EveryBugHasATwinThatIsRepaired) {
  for (const fs::path& path : corpus_files({"bugs"})) {
    if (path.filename().string().ends_with(".fixed.ilk")) continue;
    const fs::path twin = path.parent_path() / (path.stem().string() + ".fixed.ilk");
    ASSERT_TRUE(fs::exists(twin)) << path << " has no twin.";
    EXPECT_FALSE(is_wrong(corpus_program(twin))) << twin;
    if (is_about_cost(corpus_program(path))) {
      EXPECT_FALSE(check(corpus_program(path)).redundant.empty()) << path;
      EXPECT_TRUE(check(corpus_program(twin)).redundant.empty()) << twin;
    } else {
      EXPECT_TRUE(is_wrong(corpus_program(path))) << path;
    }
  }
}

TEST(Corpus, EveryWitnessOfABugOrRegressionDiverges) {
  uint64_t witness_count = 0;
  for (const fs::path& path : one_queue_corpus_files({"bugs", "regressions"})) {
    const Program program = corpus_program(path);
    if (program.witness.empty()) {
      continue;
    }
    ++witness_count;
    const Result<ReplayReport> report = replay(program, *find_backend("cpu"));
    ASSERT_TRUE(report.has_value()) << path << ": " << report.error().message;
    EXPECT_TRUE(report->diverges) << path;
  }
  EXPECT_GE(witness_count, 1u);
}

bool diverges_on_cpu(const Program& program, const Schedule& schedule) {
  const Result<ReplayReport> report = replay(program, schedule, *find_backend("cpu"));
  EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
  return report && report->diverges;
}

// Hazards diverge under the witness of the check; what issue order itself gets wrong, in issue
// order, if the reference can say what was meant.
TEST(Corpus, EveryObservableBugDiverges) {
  uint64_t diverging_count = 0;
  for (const fs::path& path : one_queue_corpus_files({"bugs"})) {
    const Program program = corpus_program(path);
    const HappensBefore order(program);
    for (const Finding& finding : check(program).findings) {
      const bool is_of_bytes =
          finding.kind == FindingKind::kClobber || finding.kind == FindingKind::kAlias;
      const bool is_in_issue_order = finding.kind == FindingKind::kUseAfterFree ||
                                     finding.kind == FindingKind::kReordered ||
                                     (is_of_bytes && with_values_apart(program));
      if (!is_in_issue_order && finding.observability != Observability::kObservable) continue;
      ++diverging_count;
      const Result<Schedule> schedule = is_in_issue_order
                                            ? Result<Schedule>(reference_order_schedule(program))
                                            : schedule_of(program, order, finding.witness);
      ASSERT_TRUE(schedule.has_value()) << path << ": " << schedule.error().message;
      EXPECT_TRUE(diverges_on_cpu(program, *schedule)) << path << ": " << finding.headline;
    }
  }
  EXPECT_GE(diverging_count, 8u);
}

TEST(Corpus, NoRepairedBugDivergesInAnyRandomSchedule) {
  for (const fs::path& path : one_queue_corpus_files({"bugs"})) {
    if (!path.filename().string().ends_with(".fixed.ilk")) continue;
    const Program program = synced(corpus_program(path));
    const HappensBefore order(program);
    // Scoped barriers make no epochs.
    if (!order.has_scopes()) {
      EXPECT_FALSE(diverges_on_cpu(program, epoch_reversed_schedule(program, order))) << path;
    }
    SeededChoice choice(1);
    for (int i = 0; i < (order.has_scopes() ? 16 : 3); ++i) {
      EXPECT_FALSE(diverges_on_cpu(program, random_schedule(program, order, choice))) << path;
    }
  }
}

// Upstream project and number, what happened, and the fix.
TEST(Corpus, EveryBugStartsWithItsFacts) {
  for (const fs::path& path : corpus_files({"bugs"})) {
    std::ifstream file(path);
    uint64_t line_count = 0;
    uint64_t comment_count = 0;
    for (std::string line; std::getline(file, line); ++line_count) {
      comment_count += line.starts_with("# ");
    }
    EXPECT_TRUE(comment_count >= 1 && comment_count <= 4) << path;
    EXPECT_LE(line_count, 33u) << path;
  }
}

TEST(Corpus, KernelsTouchOnlyWhatIsDeclared) {
  for (const fs::path& path : one_queue_corpus_files({"bugs", "seeds", "regressions"})) {
    const Result<std::vector<Finding>> findings = find_undeclared(corpus_program(path));
    ASSERT_TRUE(findings.has_value()) << path;
    EXPECT_TRUE(findings->empty()) << path << ": " << findings->front().headline;
  }
}

TEST(Corpus, PrintingAParsedFileIsAFixedPoint) {
  for (const fs::path& path : judged_files()) {
    const std::string text = print(corpus_program(path));
    const Result<Program> again = parse(text, path.string(), every_queue());
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(print(*again), text) << path;
  }
}

}  // namespace
}  // namespace interlock::corpus_test
