// Judgements: the claims that a test makes about a program, each judged with the report that
// `interlock check` prints. The matchers (matchers.h) say them in GoogleTest's words; another test
// framework can use them as they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"

namespace interlock {

struct Judgement {
  bool holds = false;
  std::string reason;  // A clause that starts with "which", then the report, if it says more.
};

// `check` finds nothing: no hazard, no reordered read, no illegal alias, no deadlock.
// Errors: the check was ended before it had seen everything.
Result<Judgement> judge_hazard_free(const Program& program);

// There is a finding of the kind between the two dispatches, named by label or dispatch index: the
// earlier one in issue order (with several queues, in the order of the reference run), then the
// later one. Kinds that concern one dispatch name it twice. What the host reads or writes is named
// by its label.
// Every hazardous pair counts, also one that `check` lists only with --all.
// Errors: the kind is a deadlock; there is no such dispatch; it is not found, and the check was
// ended before it had seen everything.
Result<Judgement> judge_hazard(const Program& program, FindingKind kind, std::string_view first,
                               std::string_view second);

// Some statements wait for each other. Where `waiting` names any, by label, they are those of the
// shortest cycle that wait, the first of the text first.
// Errors: no statement has such a label.
Result<Judgement> judge_deadlock(const Program& program, std::span<const std::string> waiting);

// There are exactly as many barriers as its conflicts need in the given order. That alone does not
// say that they stand where they are needed: judge_hazard_free() does.
// Errors: what destroys need is not known, as the check was ended before; the program has several
// queues or the host, of which no fewest are known.
Result<Judgement> judge_fewest_barriers(const Program& program);

// No barrier, wait, event, edge or other piece of sync can go without adding a finding.
// Errors: some pieces are not judged, as that takes more work than a limit.
Result<Judgement> judge_no_useless_sync(const Program& program);

// Returns `program` as `encoder` encodes it.
// Errors: those of try_encode(), of an encoder for several queues above all; the program has
// several queues or the host. Requires: the encoder is fresh.
Result<Program> encode_checked(const Program& program, Encoder& encoder);

// As above, of an encoder for several queues, each of which is one of this kind.
// Errors: those of encode_on_queues().
Result<Program> encode_checked(const Program& program, Encoder& encoder, QueueKind kind);

// As above, by its name in `interlock list encoders`. One for several queues places dispatches on
// `queue_count` at most; 0: as the program says, or as the encoder chooses. It keeps the order of
// the program's run, which its text need not have (text_in_run_order.h).
// Errors: there is none of this name; there is no such run; those of an encoder for several queues;
// an encoder for one is given a number.
Result<Program> encode_checked(const Program& program, std::string_view encoder_name,
                               uint32_t queue_count = 0);

// Parses text with or without its header line, with all of its queues and the host.
// Errors: those of parse(), and signals that nothing orders.
Result<Program> parse_body(std::string_view text);

// What parse_body() reads. For files of the same.
ParseOptions whole_model();

}  // namespace interlock
