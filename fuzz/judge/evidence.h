// Evidence: how convincingly a finding can be shown, and the lines of a file that show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "fuzz/judge/signature.h"
#include "simulator/schedules/sinks.h"

namespace interlock {

// What it takes to execute `program` once: a step for each byte of its operands and memories. The
// multiplications of a matrix product are more than that, by an extent. Cost: linear.
uint64_t execution_steps(const Program& program);

// How many steps one search for evidence may take: seconds.
inline constexpr uint64_t kEvidenceStepsMax = 1ull << 32;

// Each level includes those before it.
enum class EvidenceLevel : uint8_t {
  kNone,     // There is no such finding.
  kExact,    // An exact check says so.
  kShadow,   // A schedule changes an output of the shadow machine.
  kBackend,  // A schedule changes an output in numbers, on the CPU.
};

struct Evidence {
  EvidenceLevel level = EvidenceLevel::kNone;
  std::optional<Fact> fact;           // None: of kNone.
  std::vector<Displacement> witness;  // From kShadow on; not shrunk.
};

// With several queues facts and evidence are of a program in reference order, except where a
// function says otherwise.

// The sinks (T6) of the fact; none unless it is a hazard.
std::vector<Sink> sinks_of_fact(const Program& program, const HappensBefore& order,
                                const Fact& fact);

// The evidence for `fact`, looked for up to `sufficient`. Runs take their steps from `steps_left`,
// if given, else from kEvidenceStepsMax. One that would take more is not made and takes what is
// left: then there may be better evidence.
// Requires: it is of the program. Cost: two shadow runs and two CPU runs for each sink.
Evidence find_evidence(const Program& program, const Fact& fact, EvidenceLevel sufficient,
                       uint64_t* steps_left = nullptr);

// The kinds of hazard between two dispatches.
struct PairKinds {
  ConflictKinds listed;  // By `check`: each access against the latest ones that it conflicts with.
  ConflictKinds all;     // Those too that accesses in between hide.

  bool includes(const PairKinds& other) const {
    return listed.includes(other.listed) && all.includes(other.all);
  }
};

// Every kind, for findings whose pair of dispatches may have any.
inline constexpr PairKinds kAllKinds{{true, true, true}, {true, true, true}};

// The kinds of hazard between the two dispatches of the fact; all where it is no hazard.
// Requires: it is of the program.
PairKinds kinds_of_pair(const Program& program, const Fact& fact);

// As above. Requires: `facts` are those that find_exactly() finds in the program.
PairKinds kinds_of_pair(const Program& program, const std::vector<Fact>& facts, const Fact& fact);

// The best evidence among the findings of `program` with this signature whose pair of dispatches
// has hazards of the `allowed` kinds only: a pair that one repair suffices for stays such a pair,
// and what `check` did not list does not come to light. All runs together take at most
// kEvidenceStepsMax.
Evidence best_evidence(const Program& program, const std::string& signature, SignatureDetail detail,
                       EvidenceLevel sufficient, const PairKinds& allowed = kAllKinds);

// The line that expects the fact. Requires: it is no ExcessBarriers.
ExpectDraft expectation_of(const Program& program, const Fact& fact);

// `program` as it stands, with the evidence for `fact`: the fewest displacements found that make an
// output differ on the CPU (else in the shadow machine) as witness lines, and an expect line for
// every finding of accesses and of lifetimes. No schedule shows a fact of another kind, nor none at
// all; and excess barriers are no finding, so that no line expects anything. Witness and expect
// lines that were there are replaced.
Program with_evidence(const Program& program, const std::optional<Fact>& fact);

// `program` with an expect line for every finding: the wrong gradients, and the hazards of a
// program without sync. Witness and expect lines that were there are replaced.
Program with_gradient_expectations(const Program& program);

}  // namespace interlock
