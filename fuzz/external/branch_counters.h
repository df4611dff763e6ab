// BranchCounters: how often the branches of an encoder were taken, of a library that is built with
// coverage: clang's -fsanitize-coverage=inline-8bit-counters or trace-pc-guard, GCC's trace-pc. The
// library calls functions of the program that loads it (fuzz/cli/coverage_callbacks.cc), and there
// is one of each in a process; so this is one for the process, too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace interlock {

class BranchCounters {
 public:
  static BranchCounters& of_process();

  // What registers itself between the two is of the library that is loaded.
  void begin_loading();
  void end_loading() { is_loading_ = false; }

  // From now on what is called back counts. `base`: where the library stands, of which code is
  // known by its distance.
  void begin_counting(uintptr_t base);
  void end_counting();

  // Whether the library has counters; one that is known by its calls alone has once it was called.
  bool has_some() const;

  void clear();
  // What was counted since clear(): a number for each branch and how often it was taken, about: 1,
  // 2, 3, 4, 8, 16, 32, 128 times or more. Rising.
  std::vector<uint64_t> taken() const;

  // What the callbacks do.
  void add_counters(uint8_t* begin, uint8_t* end);
  void add_guards(uint32_t* begin, uint32_t* end);
  void count_guard(uint32_t guard);
  void count_place(uintptr_t code);

 private:
  static constexpr size_t kPlaceCount = 1u << 16;  // Of code; a power of two.

  bool is_loading_ = false;
  std::atomic<bool> is_counting_{false};
  uintptr_t base_ = 0;
  std::vector<std::span<uint8_t>> inline_counters_;
  std::vector<uint8_t> guard_counters_ = {0};  // By number of the guard, from 1.
  std::vector<uint8_t> place_counters_;        // By distance from the base.
};

}  // namespace interlock
