// Cause: what an encoder gets wrong, found by experiment. One missing test of an encoder makes
// finds of many signatures; they have one cause.
#pragma once

#include <map>
#include <string>

#include "encoder/plan/planner.h"
#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/facts/fact.h"

namespace interlock {

struct Cause {
  // "WAR", "overlap", "WAR-operands": the kind of hazard if not every kind is missed, and how the
  // probe departs from two dispatches on one range. Else the signature of the find. Letters,
  // digits, '_' and '-' only.
  std::string name;
  // The widest program on which the encoder goes wrong as in the find, as text without sync. Empty
  // if that is the find itself.
  std::string probe;
  bool is_of_kind = false;  // Every conflict of the kind is missed, whatever its circumstances.

  bool operator==(const Cause&) const = default;
};

// Finds causes, and remembers what the encoder did with each probe.
class CauseFinder {
 public:
  // Requires: `encoder` outlives this.
  explicit CauseFinder(const EncoderEntry& encoder) : encoder_(encoder) {}

  // The cause of a fact of `encoded`, which is what the encoder makes of `given`.
  // Requires: find_exactly(encoded) has it, or it is an excess.
  // Cost: up to a few hundred probes, which are checked in microseconds.
  Cause cause_of(const Program& given, const Program& encoded, const Fact& fact);

 private:
  bool fails(const ProgramDraft& probe, FindingKind kind, bool is_ordered);
  bool fails_on_one_range(FindingKind kind, bool is_ordered, const Program& encoded,
                          const Hazard& hazard);
  Cause cause_on_one_range(const Program& encoded, const Hazard& hazard, const std::string& probe);
  Cause cause_of_reordering(const Program& given, const std::string& signature);
  std::string kinds_of(const Program& encoded, const Hazard& hazard,
                       const struct ProbeShape& shape);

  const EncoderEntry& encoder_;
  std::map<std::string, bool> answers_;  // By kind and text of the probe.
};

// Of what passes get wrong: a backward pass, a replay policy, a planner. As for encoders it is
// found by experiment, on programs with less and less of the find.
//
// The cause of the finding of this signature that the passes give `unplanned`:
// - of a hazard, that of the encoder, if it misses it in the placed program; else how the planner
//   made two values share bytes, "slot_reuse", whatever the kind of the hazard;
// - of a value that is not there when it is read, "lifetime" and what the find cannot do without,
//   "lifetime-reset", whether the reader finds another value, a freed one or its own result;
// - of an alias contract, "alias" if the planner breaks those of several kernels;
// - of a gradient, "gradient" and how the paths meet, "gradient-along_a_path", whatever the
// kernels. Else, and where no experiment fails, the signature. Requires: the passes give
// `unplanned` such a finding, and the reference chain gives it none. Cost: up to some twenty runs
// of the passes.
// Defined in pass_cause.cc.
Cause cause_of_passes(const PassChain& chain, const Program& unplanned, const PlanOptions& plan,
                      const std::string& signature);

}  // namespace interlock
