// Kernel oracles: every float32 kernel of the table again, in float64 and from its definition, with
// a bound on the error of a float32 evaluation that is derived from shapes and magnitudes. They
// share nothing with the bodies; docs/numbers.md has the formulas and their derivation.
//
// This folder has an oracle for each kernel, by subject, and the arithmetic that bounds its error.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/float64/arithmetic.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

using Doubles = std::vector<double>;
using OracleTensor = std::vector<Rounded>;

struct OracleShape {
  uint64_t rows = 1;
  uint64_t cols = 1;
  uint64_t inner = 1;  // As KernelParams has it.
};

struct OracleAttributes {
  double factor = 0;  // lr of sgd and adamw.
  double eps = 0;
  // adamw
  double beta1 = 0;
  double beta2 = 0;
  double weight_decay = 0;
  uint32_t step = 0;
  // rope
  double base = 1;
  double start = 0;
};

struct OracleCase {
  // In operand order; what is updated is one of them. i32 as unsigned numbers.
  std::vector<Doubles> inputs;
  OracleShape shape;  // Elementwise: any with the right number of elements.
  OracleAttributes attributes;
  Arithmetic arithmetic;

  // Element `i` of input `input`, as a device loads it.
  Rounded load(size_t input, uint64_t i) const { return arithmetic.load(inputs[input][i]); }
};

// Shape and attributes of a dispatch; without inputs.
OracleCase oracle_case_of(const KernelParams& params, const Arithmetic& arithmetic);

// Returns the outputs in operand order, updates among them. Requires: the inputs have the shapes of
// the kernel.
using KernelOracle = std::vector<OracleTensor> (*)(const OracleCase& c);

// Null for kernels that compute no float32 values: fill, copy and mix; and unknown names.
KernelOracle find_kernel_oracle(std::string_view kernel);

}  // namespace interlock
