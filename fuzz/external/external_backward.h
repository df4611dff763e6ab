// What a backward pass outside of this process is given of a program, and what it may append.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// A tensor and the name of the gradient by it.
struct WantedGradient {
  std::string tensor;
  std::string gradient;
};

// Those that remark_of() of encoder/assemble/append_backward_by.h names.
std::vector<WantedGradient> wanted_gradients(std::string_view remark);

// The question_text() of `program` with `remark` as a comment in its second line.
std::string backward_question_text(const Program& program, const std::string& remark);

// What a backward pass made of `given`: the same with tensors, unplaced or views, after its
// tensors, and with dispatches after its statements, which write those tensors alone. Among them
// are the gradients, of the shapes of the tensors by which they are.
// Errors: `text` is no such program. Requires: `given` has no evidence and no `order=`. Cost:
// linear in both, times log of the tensors.
Result<Program> backward_answer_of(const Program& given, std::string_view text,
                                   const std::vector<WantedGradient>& wanted);

}  // namespace interlock
