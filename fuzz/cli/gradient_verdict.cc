#include "fuzz/cli/gradient_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/judge/gradient_numbers.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/report/explain.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

constexpr const char* kIsWritten =
    "The program is written all the same. `interlock check` does not find this in it: it judges statements `backward`, and this pass is spelled out.\n";

bool is_expected(const Program& program, const GradientFinding& finding) {
  return std::ranges::any_of(program.expectations, [&](const Expectation& expect) {
    const bool is_about_program = !expect.encoder.is_some() && !expect.is_clean;
    return is_about_program && expect.kind == FindingKind::kGradient &&
           expect.tensor == finding.tensor;
  });
}

}  // namespace

ExitStatus judge_gradients(const Program& program, const std::vector<Backward>& passes) {
  if (passes.empty()) return ExitStatus::kNothingFound;
  const GradientReport report = check_gradients(program, passes);
  ExitStatus status = ExitStatus::kNothingFound;
  for (const GradientFinding& finding : report.findings) {
    print_remark(text_of_finding(program, explain_gradient(program, finding), "-"));
    if (!is_expected(program, finding)) status = ExitStatus::kFinding;
  }
  if (!report.findings.empty()) print_remark(kIsWritten);
  if (report.is_truncated && status == ExitStatus::kNothingFound) {
    return report_error({fmt::format("there is no verdict on the gradients: {}.",
                                     text_of({TruncationCause::kGradients, kGradientWorkMax}))});
  }
  return status;
}

ExitStatus judge_appended(const AppendedBy& by) {
  const ExitStatus status = judge_gradients(by.appended.program, {by.appended.pass});
  if (status != ExitStatus::kNothingFound) return status;
  const auto numbers = differing_numbers(by.appended, by.reference.value());
  if (!numbers) return status;
  print_remark("gradient: " + *numbers + "\n");
  print_remark(kIsWritten);
  return ExitStatus::kFinding;
}

}  // namespace interlock
