// Reports for code scanning: a log in the Static Analysis Results Interchange Format (SARIF 2.1.0,
// OASIS standard, 2020), which GitHub and editors read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/report/baseline.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock {

// One log of one run over any number of files.
class SarifLog {
 public:
  // `version`: that of the tool.
  explicit SarifLog(std::string_view version);
  ~SarifLog();

  // What is of one file. Each finding is a result of level `error`, at the line of its later
  // access, with the earlier one as a related location; where the fix was tried on the text, it is
  // in the message; hazards that do not count (CheckReport::noted) are of level `warning`. One that
  // an `expect` line of the file expects is there as suppressed in the source. A line that does not
  // hold is an error of the rule `expectation`, at its file; what a limit left without a verdict, a
  // warning of the rule `no-verdict`; and with `has_advice`, sync that can go is a note of the rule
  // `redundant`. `lines`: of each statement of the program, its line in the file, from 1. Requires:
  // `report` and `outcome` are of `program`.
  // With a `baseline`, of findings that no line expects whether they are new or unchanged; those
  // that it knows and that are not there any more are results, too, which are absent.
  void add(const Program& program, const CheckReport& report, const ExpectationOutcome& outcome,
           std::string_view file_name, std::span<const uint64_t> lines, bool has_advice,
           const BaselineOutcome* baseline = nullptr);

  // Of a file that cannot be read: the run is then not successful.
  void add_error(std::string_view file_name, std::string_view message);

  // What is wrong about a file and not in its program: an error of `rule`, which is `failure` or
  // `barrier-budget`.
  void add_failure(std::string_view file_name, std::string_view rule, std::string_view message);

  // The log, one line. Cost: linear in the results.
  std::string text() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace interlock
