// Expectations: the `expect` lines of a program against what the checks find.
#pragma once

#include <string>
#include <vector>

#include "encoder/program.h"
#include "simulator/check.h"

namespace interlock {

// The expectations of one subject: the program as it stands, or as one encoder encodes it.
struct SubjectOutcome {
  std::string encoder;                // Empty: as it stands.
  std::vector<std::string> held;      // Expect lines that hold.
  std::vector<std::string> failures;  // Complete sentences: what was expected, or found beside it.
};

struct ExpectationOutcome {
  std::vector<SubjectOutcome> subjects;

  bool holds() const {
    for (const SubjectOutcome& subject : subjects) {
      if (!subject.failures.empty()) {
        return false;
      }
    }
    return true;
  }
};

// Judges every expectation. A subject holds iff each of its lines does and nothing else is found,
// advice aside.
// The program as it stands is a subject only if some line is about it.
// Requires: `report` is the check of `program`.
// Cost: one encode and one check for each encoder that is named.
ExpectationOutcome judge_expectations(const Program& program, const CheckReport& report);

// The redundant barriers that no `expect redundant` line about the program as it stands names.
std::vector<RedundantBarrier> unexpected_redundancy(const Program& program,
                                                    const CheckReport& report);

// What decides the exit status of a check: every expectation holds, and a program that says nothing
// about itself has no findings. Requires: `report` and `outcome` are of `program`.
bool is_as_expected(const Program& program, const CheckReport& report,
                    const ExpectationOutcome& outcome);

}  // namespace interlock
