// A parser that does the least: what any reader of the same bytes has to do, so that ours can be
// measured against it. It trusts the text and reads recorded streams only: memories, tensors at an
// offset, dispatches and barriers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct MinimalDispatch {
  std::string_view label;  // Of the text, as the kernel.
  std::string_view kernel;
  uint64_t order = 0;
  uint32_t first_access = 0;
  uint32_t access_count = 0;
};

struct MinimalProgram {
  std::vector<uint64_t> memory_sizes_bytes;
  std::vector<Access> tensors;  // Of each the bytes.
  std::vector<Access> accesses;
  std::vector<MinimalDispatch> dispatches;
  std::vector<uint32_t> barriers;  // Of each how many dispatches stand before it.
};

// Returns what `text` says. Its accesses are those that parse() reads.
// Requires: parse(text) is a program of such lines; anything else is not noticed. `text` outlives
// what is returned. Cost: one pass over the bytes.
MinimalProgram parse_minimally(std::string_view text);

}  // namespace interlock
