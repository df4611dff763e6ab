// The text of the parts of an item, as a line of the format has it.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/draft.h"

namespace interlock {

// Appends "[0:64]".
void append_range(std::string& text, uint64_t begin, uint64_t end);

// Appends "x[0:64]".
void append_operand(std::string& text, const OperandDraft& operand);

// "x[0:64]".
std::string text_of(const OperandDraft& operand);

// "adopt a = x": without the label.
std::string text_of(const LifetimeDraft& lifetime);

// "reduce[0:2] commits after vjp": what stands after the word `witness`.
std::string text_of(const WitnessDraft& witness);

}  // namespace interlock
