// A kernel at one shape, on inputs of chosen magnitudes: what the tests of numbers sweep over.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "backends/interface/backend.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock {

// Of f32; ids and labels are small, or any bits.
enum class Magnitudes : uint8_t {
  kUnit,     // In [-1, 1).
  kTiny,     // Times 1e-20.
  kHuge,     // Times 1e20.
  kMixed,    // Each run of a few elements times another power of ten, from 1e-20 to 1e20.
  kShifted,  // Around 1000, in a width of 2.
  kBits,     // Any bits: NaNs, infinities and subnormals among them.
};
inline constexpr Magnitudes kAllMagnitudes[] = {Magnitudes::kUnit,    Magnitudes::kTiny,
                                                Magnitudes::kHuge,    Magnitudes::kMixed,
                                                Magnitudes::kShifted, Magnitudes::kBits};

struct NumberCase {
  KernelCase kernel;
  Magnitudes magnitudes = Magnitudes::kUnit;
  uint32_t seed = 0;
};

std::ostream& operator<<(std::ostream& out, const NumberCase& c);

// Dispatches that make the inputs, a barrier, and the kernel as the last dispatch.
struct PreparedCase {
  Program preparation;  // All but the last dispatch.
  Program program;

  DispatchId last() const { return DispatchId{program.dispatches.size() - 1}; }
};
PreparedCase prepared(const NumberCase& c);

// With the statements `preparation` between the declarations and the kernel.
PreparedCase prepared(const KernelCase& c, const std::string& preparation);

// A shape of each sort: one row, one column, small, more rows than a block has, wide, and deep
// where the kernel contracts. Odd extents drawn from `seed`.
std::vector<KernelCase> random_shapes(const std::string& kernel, uint32_t seed);

// Every kernel but mix, by every sort of shape and magnitudes. The same ones every time.
std::vector<NumberCase> number_cases();

}  // namespace interlock
