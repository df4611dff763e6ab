// How explanations name bytes, operands and what makes two operands share bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

std::string_view name_of(const Program& program, TensorId tensor);

// "wait s=1 on q": the statement without its label.
std::string text_of(const Program& program, StatementId statement);

// "'wait s=1 on q' (go, statement 7)".
std::string quoted_text_of(const Program& program, StatementId statement);

// "b[0:4096]".
std::string text_of_bytes(const Program& program, MemoryId memory, ByteRange bytes);

// " as gx", or nothing if the operand is a range of a memory.
std::string tensor_clause_of(const Program& program, const Access& access);

// "reads", "writes", "updates", "updates atomically".
std::string_view verb_of(const Access& access);

// Sentences that say why two operands name the same bytes: donations, views, placement. Empty if
// they name the same tensor, or if one of them is a range of a memory.
std::vector<std::string> relation_of(const Program& program, const Access& first,
                                     const Access& second);

}  // namespace interlock
