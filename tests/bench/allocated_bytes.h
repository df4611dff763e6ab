// The bytes that a program allocates through operator new, which allocated_bytes.cc replaces.
#pragma once

#include <cstddef>

namespace interlock {

// Calls `work`; returns the bytes that were allocated at most meanwhile, beside those before.
template <typename Work>
size_t peak_bytes_of(const Work& work);

// What it is made of: forgets the peak and returns what is allocated now; the peak since then.
size_t begin_peak();
size_t peak_bytes();

template <typename Work>
size_t peak_bytes_of(const Work& work) {
  const size_t before = begin_peak();
  work();
  return peak_bytes() - before;
}

}  // namespace interlock
