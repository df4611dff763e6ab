// Reads the lines that most texts are made of, dispatches, in one pass over their bytes.
#pragma once

#include <string_view>

#include "encoder/build/dispatch_words.h"

namespace interlock {

// Sets `words` to the dispatch that `line` is. Returns false where LineReader has to say what the
// line is: it is no dispatch, is none of the format, or is written as nobody writes one, with tabs
// or spaces inside of its parts; then `words` has anything. Otherwise the line has no control byte
// that a line may not have, and LineReader reads the same from it.
// Requires: the byte after the line is there, and is the newline or the '\r' that ends it; `line`
// outlives `words`. Cost: linear in the line; allocates only where no line before had so many
// parts.
bool read_plain_dispatch(std::string_view line, DispatchWords& words);

}  // namespace interlock
