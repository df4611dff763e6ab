// What libraries call that are built with -fsanitize-coverage. The names are those of clang's and
// GCC's runtimes, and a library finds them in the program that loads it: it exports them.
#include <cstdint>

#include "fuzz/external/branch_counters.h"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {

void __sanitizer_cov_8bit_counters_init(uint8_t* begin, uint8_t* end);
void __sanitizer_cov_pcs_init(const uintptr_t* begin, const uintptr_t* end);
void __sanitizer_cov_trace_pc_guard_init(uint32_t* begin, uint32_t* end);
void __sanitizer_cov_trace_pc_guard(uint32_t* guard);
void __sanitizer_cov_trace_pc();

void __sanitizer_cov_8bit_counters_init(uint8_t* begin, uint8_t* end) {
  interlock::BranchCounters::of_process().add_counters(begin, end);
}

// Where the counters are in the code; nobody asks.
void __sanitizer_cov_pcs_init(const uintptr_t* /*begin*/, const uintptr_t* /*end*/) {}

void __sanitizer_cov_trace_pc_guard_init(uint32_t* begin, uint32_t* end) {
  interlock::BranchCounters::of_process().add_guards(begin, end);
}

void __sanitizer_cov_trace_pc_guard(uint32_t* guard) {
  interlock::BranchCounters::of_process().count_guard(*guard);
}

void __sanitizer_cov_trace_pc() {
  interlock::BranchCounters::of_process().count_place(
      reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
