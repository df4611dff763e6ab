// What an encoder outside of this process is given of a program, and what it may make of it. Of
// other passes external_passes.h says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// A question whose answer says that an encoder can be started.
inline constexpr std::string_view kFirstQuestion =
    "interlock 1\nmemory a 64\n"
    "dispatch First writes a  # write a 0 64\ndispatch Second reads a  # read a 0 64\n";

// The program without its sync, but for the ends of command buffers, and without expectations.
Program without_sync(const Program& program);

// The canonical text of `program`, with a comment after each dispatch that says what it accesses in
// bytes of memories, so that a script need not know tensors:
//   d0: dispatch add reads x y writes z  # read a 0 64, read a 64 128, write b 0 64
// The words are those of access_word().
std::string question_text(const Program& program);

// "read", "write", "update", or "atomic-add" and so on.
std::string access_word(AccessMode mode, AtomicOp op);

// Errors: the texts differ; the first line in which they do. `without` is what was taken out of the
// answer before, for the message: "its sync".
Result<Success> check_same_text(std::string_view given, std::string_view answer,
                                std::string_view without);

// The dispatch of `given` that each of `answer` is: that of its place, or of its `order=`.
// Errors: there is none, or one of two.
Result<std::vector<DispatchId>> dispatches_of(const Program& given, const Program& answer);

// The dispatches of `program` alone, in this order, which `order=` says. Requires: one queue; each
// of them is there once.
Program in_order(const Program& program, std::vector<DispatchId> order);

// Takes `answer` for what an encoder made of `given`, without its evidence. `bare` is the
// dispatches of the answer without what it may add, and `without` says what that is: "its sync".
// Errors: `bare` is another program than `given`, but for an order that `order=` says.
Result<Success> take_answer(const Program& given, Program& answer, const Program& bare,
                            std::string_view without);

// What an encoder made of `given`. Its sync is taken as it stands.
// Errors: `text` is no program of one queue; without sync it is not `given`. Dispatches may stand
// in another order, and then say by `order=` which is which. Requires: `given` is what
// without_sync() returned. Cost: linear in both.
Result<Program> answer_of(const Program& given, std::string_view text);

}  // namespace interlock
