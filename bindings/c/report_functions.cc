// Reports of interlock.h.
#include <memory>
#include <optional>
#include <utility>

#include "bindings/c/handles.h"
#include "bindings/c/interlock.h"
#include "encoder/program/program.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

std::unique_ptr<ilk_report> made_report(const ilk_program& program, const ilk_options& options) {
  auto made = std::make_unique<ilk_report>();
  made->sourced = program.sourced;
  const Program* judged = &program.sourced->program;
  std::optional<Program> without_expectations;
  if (options.ignores_expectations) {
    judged = &without_expectations.emplace(*judged);
    without_expectations->expectations.clear();
  }
  made->report = check(*judged, options.check);
  made->outcome = judge_expectations(*judged, made->report);
  made->verdict = verdict_of(*judged, made->report, made->outcome);
  for (const Finding& finding : made->report.findings) {
    made->findings.emplace_back(*made->sourced, finding);
  }
  return made;
}

}  // namespace
}  // namespace interlock

extern "C" {

ilk_status ilk_check(const ilk_program* program, const ilk_options* options, ilk_report** report,
                     ilk_error** error) {
  return interlock::make(report, options, error, [&]() -> interlock::Made<ilk_report> {
    if (program == nullptr) return interlock::null_argument("the program");
    return interlock::made_report(*program, interlock::options_or_default(options));
  });
}

void ilk_report_free(ilk_report* report) { delete report; }

ilk_verdict ilk_report_verdict(const ilk_report* report) {
  if (report == nullptr) return ILK_NO_VERDICT;
  switch (report->verdict) {
    case interlock::Verdict::kAsExpected:
      return ILK_AS_EXPECTED;
    case interlock::Verdict::kUnexpected:
      return ILK_UNEXPECTED;
    case interlock::Verdict::kNone:
      break;
  }
  return ILK_NO_VERDICT;
}

uint64_t ilk_report_number(const ilk_report* report, ilk_number number) {
  if (report == nullptr) return UINT64_MAX;
  const interlock::CheckReport& check = report->report;
  switch (number) {
    case ILK_DISPATCHES:
      return check.dispatch_count;
    case ILK_ACCESSES:
      return check.access_count;
    case ILK_BARRIERS:
      return check.barrier_count;
    case ILK_FEWEST_BARRIERS:
      return check.has_bounds ? check.fewest_barriers : UINT64_MAX;
    case ILK_LONGEST_CHAIN:
      return check.has_bounds ? check.longest_chain : UINT64_MAX;
    case ILK_REDUNDANT_BARRIERS:
      return check.has_bounds ? check.redundant.size() : UINT64_MAX;
    case ILK_QUEUES:
      return check.queue_count;
  }
  return UINT64_MAX;
}

const char* ilk_report_summary(const ilk_report* report) {
  if (report == nullptr) return nullptr;
  return report->summary.get([&] { return interlock::summary_of(report->report); });
}

const char* ilk_report_text(const ilk_report* report) {
  if (report == nullptr) return nullptr;
  return report->text.get([&] {
    return interlock::text_report(report->sourced->program, report->report, report->sourced->name);
  });
}

const char* ilk_report_json(const ilk_report* report) {
  if (report == nullptr) return nullptr;
  return report->json.get([&] {
    return interlock::json_report(report->sourced->program, report->report, report->outcome,
                                  report->sourced->name);
  });
}

size_t ilk_report_finding_count(const ilk_report* report) {
  return report != nullptr ? report->findings.size() : 0;
}

const ilk_finding* ilk_report_finding(const ilk_report* report, size_t index) {
  const bool is_there = report != nullptr && index < report->findings.size();
  return is_there ? &report->findings[index] : nullptr;
}

}  // extern "C"
