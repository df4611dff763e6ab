// Reads memories and tensors in one pass over their bytes, as plain_dispatch.h reads dispatches.
#pragma once

#include <string_view>

#include "encoder/program/draft.h"

namespace interlock {

// As read_plain_dispatch(), of a memory.
bool read_plain_memory(std::string_view line, MemoryDraft& memory);

// Likewise, of a tensor; one with values written out is left to LineReader. Keeps the room that
// `tensor` has.
bool read_plain_tensor(std::string_view line, TensorDraft& tensor);

}  // namespace interlock
