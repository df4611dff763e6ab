// Bounds on untrusted programs, in one place. Every one has a reason to exist:
// without it a short file could ask for unbounded time or memory.
#pragma once

#include <cstdint>

namespace interlock {

struct Limits {
  // Memory that a text and the lists of its program take; for a moment three times that, where a
  // list grows. What replays and backward passes add comes on top: expansion_count.
  uint64_t input_bytes = 1ull << 30;
  uint64_t line_bytes = 64ull << 10;
  uint64_t name_bytes = 255;
  uint64_t memory_bytes = 1ull << 48;  // One memory. Checking does not allocate it; running does.
  uint64_t memory_count = 1ull << 20;
  uint64_t tensor_count = 1ull << 20;
  uint64_t tensor_rank = 8;
  uint64_t initial_value_count = 2048;  // Written out, `values(…)`: the line can be read again.
  uint64_t statement_count = 20'000'000;
  uint64_t expansion_count =
      1ull << 20;                // Rows, and statements, operands and attributes that replays and
                                 // backward passes add: short text, much program, and a
                                 // quarter of a kilobyte for each where it is executed.
  uint64_t backward_count = 64;  // Each reads the program before it.
  uint64_t rewalk_count = 1ull << 17;  // Dispatches that backward passes visit once more, for
                                       // each group of weights that share them.
  uint64_t access_count_per_dispatch = 256;
  uint64_t attribute_count_per_dispatch = 64;
  uint64_t dependency_count_per_barrier = 64;
  uint64_t operand_count_per_barrier = 256;
  uint64_t queue_count = 1024;
  uint64_t semaphore_count = 1ull << 20;
  uint64_t semaphore_count_per_signal = 64;
  uint64_t edge_count_per_dispatch = 1024;
  uint64_t atom_bytes = 1ull << 20;  // Of memory that is not coherent.
  uint64_t witness_count = 1ull << 16;
  uint64_t expectation_count = 1ull << 20;
  uint64_t kernel_extent = 65'535;  // Rows, columns and inner extents of a table kernel.
};

}  // namespace interlock
