// Mutation of the spine target's inputs: texts are read as programs, changed as structure and
// printed again. Engines reach it each by its own entry points: libFuzzer in the target
// (spine_fuzzer.cc), AFL++ in a library (afl_mutator.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/text/parser.h"

namespace interlock {

// How the target reads: leniently, and with limits so small that one execution takes a few
// milliseconds at most.
ParseOptions spine_parse_options();

// Returns `text` as a mutant of its program, or a fresh program; a function of the text and the
// seed. Empty if the mutant has more than `bytes_max` bytes.
std::string mutate_text(std::string_view text, uint64_t seed, size_t bytes_max);

// The same, of the begin of one program and the end of another.
std::string cross_over_texts(std::string_view first, std::string_view second, uint64_t seed,
                             size_t bytes_max);

}  // namespace interlock
