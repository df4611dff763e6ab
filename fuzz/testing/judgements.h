// Judgements: the claims that a test makes about a program, each judged with the report that
// `interlock check` prints. The matchers (matchers.h) say them in GoogleTest's words; another test
// framework can use them as they are.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/encoder.h"

namespace interlock {

struct Judgement {
  bool holds = false;
  std::string reason;  // A clause that starts with "which", then the report, if it says more.
};

// `check` finds nothing: no hazard, no reordered read, no illegal alias.
// Errors: the check was ended before it had seen everything.
Result<Judgement> judge_hazard_free(const Program& program);

// There is a finding of the kind between the two dispatches, named by label or dispatch index: the
// earlier one in issue order, then the later one. Kinds that concern one dispatch name it twice.
// Every hazardous pair counts, also one that `check` lists only with --all.
// Errors: there is no such dispatch; it is not found, and the check was ended before it had seen
// everything.
Result<Judgement> judge_hazard(const Program& program, FindingKind kind, std::string_view first,
                               std::string_view second);

// There are exactly as many barriers as its conflicts need in the given order. That alone does not
// say that they stand where they are needed: judge_hazard_free() does.
// Errors: what destroys need is not known, as the check was ended before.
Result<Judgement> judge_fewest_barriers(const Program& program);

// No barrier can go without adding a hazard.
// Errors: some barriers are not judged, as that takes more work than a limit.
Result<Judgement> judge_no_useless_sync(const Program& program);

// Returns `program` as `encoder` encodes it.
// Errors: the encoder drops a dispatch, issues one twice, or issues one that is not there.
// Requires: the encoder is fresh.
Result<Program> encode_checked(const Program& program, Encoder& encoder);

// As above, by its name in `interlock list encoders`. Errors: there is none of this name.
Result<Program> encode_checked(const Program& program, std::string_view encoder_name);

// Parses text with or without its header line. Errors: those of parse().
Result<Program> parse_body(std::string_view text);

}  // namespace interlock
