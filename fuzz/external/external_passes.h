// What planners and replay policies outside of this process are given of a program, and what they
// may make of it.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// `text` as a program of one queue, without evidence. Errors: it is none.
Result<Program> parsed_answer(std::string_view text);

// The header of `text`, `remark` as a comment, and then the rest.
std::string with_remark(const std::string& text, const std::string& remark);

// As expanded_draft_of() and without evidence: every statement and every tensor that is to be
// placed stands in the text. Errors: what the format has no room for.
Result<Program> spelled_out(const Program& program);

// The question_text() of `program` with `remark` as a comment in its second line, and a comment
// after each tensor that is to be placed, with its bytes:
//   # plan align=32 slack=0 antichain=0 keep-inputs=0 opaque-in-place=1
//   tensor h f32[16,64]  # place 4096
// Of an access to such a tensor the comment after a dispatch names the tensor, or what it views.
std::string plan_question_text(const Program& program, const std::string& remark);

// What a planner made of `given`: each of its unplaced tensors lies at a multiple of
// `alignment_bytes` in a memory that the answer declares, or donates another unplaced one. Resets
// of those memories may stand between the statements. Tensors may come in another order.
// Errors: `text` is no such program. Requires: `given` is what spelled_out() returned. Cost:
// linear in both, times log of the tensors.
Result<Program> plan_answer_of(const Program& given, std::string_view text,
                               uint64_t alignment_bytes);

// As print() without comments, but with `remark`: captures stay captures.
std::string replay_question_text(const Program& program, const std::string& remark);

// What a replay policy made of `given`: for each first accumulation (replay.h) `accumulate reads G
// updates S`, if not the same, `adopt S = G` or `dispatch copy reads G writes S`, under its label;
// S then needs no zeros. Errors: `text` is no such program. Requires: `given` has no evidence.
// Cost: as above.
Result<Program> replay_answer_of(const Program& given, std::string_view text);

}  // namespace interlock
