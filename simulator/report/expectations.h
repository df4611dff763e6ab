// Expectations: the `expect` lines of a program against what the checks find.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/report/check.h"

namespace interlock {

// The expectations of one subject: the program as it stands, or as one encoder encodes it.
struct SubjectOutcome {
  std::string encoder;                // Empty: as it stands.
  std::vector<std::string> held;      // Expect lines that hold.
  std::vector<std::string> failures;  // Complete sentences: what was expected, or found besides it.
  std::vector<std::string>
      missing;  // Lines that would expect what was found besides it, each once.
  // Complete sentences: on what there is no verdict, as the check was ended before.
  std::vector<std::string> unjudged;
};

struct ExpectationOutcome {
  std::vector<SubjectOutcome> subjects;
};

// The line that expects the finding of `judged`: of the program as it stands, or, if `encoder` is
// some name of the program, as that encoder encodes it.
std::string expectation_line(const Program& judged, NameId encoder, const Finding& finding);

// What a check comes to, and with it the exit status.
enum class Verdict : uint8_t {
  kAsExpected,  // Nothing is found but what the lines say, and each of them holds.
  kUnexpected,  // A finding that no line expects, or a line that does not hold.
  kNone,        // Neither: the check was ended before it had seen everything.
};

// Judges every expectation. A subject holds iff each of its lines does and nothing else is found,
// advice aside; and is unjudged if its check was truncated, whatever was found until then.
// The program as it stands is a subject only if some line is about it.
// Requires: `report` is the check of `program`.
// Cost: one encode and one check for each encoder that is named.
ExpectationOutcome judge_expectations(const Program& program, const CheckReport& report);

// The lines that would expect the findings of the program as it stands that none of its lines
// expects, each once. Requires: `report` and `outcome` are of `program`.
std::vector<std::string> missing_lines(const Program& program, const CheckReport& report,
                                       const ExpectationOutcome& outcome);

// The redundant barriers that no `expect redundant` line about the program as it stands names.
std::vector<RedundantBarrier> unexpected_redundancy(const Program& program,
                                                    const CheckReport& report);

// Likewise of pieces of sync, with several queues or the host.
std::vector<SyncPiece> unexpected_redundant_sync(const Program& program, const CheckReport& report);

// A program that says nothing about itself is expected to have no findings.
// Requires: `report` and `outcome` are of `program`.
Verdict verdict_of(const Program& program, const CheckReport& report,
                   const ExpectationOutcome& outcome);

inline bool is_as_expected(const Program& program, const CheckReport& report,
                           const ExpectationOutcome& outcome) {
  return verdict_of(program, report, outcome) == Verdict::kAsExpected;
}

}  // namespace interlock
