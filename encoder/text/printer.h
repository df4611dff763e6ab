// Printer: writes the text format (.ilk): docs/format.md. Its text is canonical: parse(print(p))
// equals p, and print(parse(t)) is a fixed point.
#pragma once

#include <string>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"

namespace interlock {

std::string print(const Program& program);
std::string print(const ProgramDraft& draft);

// One item as its line of text, without a newline.
std::string print(const ItemDraft& item);

}  // namespace interlock
