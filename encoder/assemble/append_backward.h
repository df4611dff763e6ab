// Appends a backward pass to a program: Program -> Program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/written_backward.h"

namespace interlock {

// A program with a backward pass appended, statement by statement.
struct AppendedBackward {
  Program program;
  Backward pass;  // Where it stands, without its mode. No statement of `program` says that.
};

// Returns `program` with the pass appended. If it names outputs, the gradients are outputs too. The
// witness and the expectations spoke of the program without a backward pass and are dropped.
// Errors: those of write_backward(), and those of a program that exceeds the limits. Cost: as
// write_backward().
Result<AppendedBackward> append_backward(const Program& program, const BackwardDraft& request,
                                         const Limits& limits = {});

// Where that pass stands in `program`: its last tensors and statements are what was written, so
// many of each; `gradients` are the names of the gradients, by `request.wrt`. Cost: as of a map of
// the tensors.
Backward appended_pass(const Program& program, const BackwardDraft& request,
                       const std::vector<std::string>& gradients, size_t tensor_count,
                       size_t statement_count);

}  // namespace interlock
