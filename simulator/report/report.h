// Reports: what `interlock check` prints about one program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/report/baseline.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/scope_advice.h"

namespace interlock {

// How many of each are printed in full; the rest is counted.
struct TextLimits {
  uint64_t findings = UINT64_MAX;
  uint64_t redundant = UINT64_MAX;
  bool folds_advice = false;  // Whether what can go is one line, which says how many.
  uint64_t known_findings =
      0;  // Not among the report's, for they were known: the summary counts them.
  bool has_certificate = false;  // Whether to print the pairs that prove the fewest barriers.
};

// Advice, which is sync that can go, each with its reason; then, nearest to whoever has run it, the
// findings, each with its details, and one summary line. `file_name` stands in the lines that say
// how to replay.
std::string text_report(const Program& program, const CheckReport& report,
                        std::string_view file_name, const TextLimits& limits = {});

// One finding, as the report prints it.
std::string text_of_finding(const Program& program, const Finding& finding,
                            std::string_view file_name);

// "456 dispatches, 1080 accesses, 455 barriers; fewest for this order 407, longest chain 407; no
// findings. 48 barriers above the proven minimum." without a newline. Where so many more findings
// are known, "no new finding beside 2 known."
std::string summary_of(const CheckReport& report, uint64_t known_count = 0);

// "Not certified how few waits or edges would do, as ….": why a report has none, a sentence; empty
// where there is nothing to be said of them.
std::string text_of(const Program& program, const NoWaitBounds& why_not);

// What else is known of the file.
struct KnownOfFile {
  const BaselineOutcome* baseline = nullptr;  // Null: there is none.
  std::optional<uint64_t> barrier_budget;
  const ScopeAdvice* scopes = nullptr;  // Null: nobody asked scope_advice.h.
};

// One JSON object on one line, as docs/json.md says. `outcome` is that of the program's `expect`
// lines; empty if it has none.
// Defined in report_json.cc.
std::string json_report(const Program& program, const CheckReport& report,
                        const ExpectationOutcome& outcome, std::string_view file_name,
                        const KnownOfFile& known = {});

}  // namespace interlock
