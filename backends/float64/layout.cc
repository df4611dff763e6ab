// Each element of an output is one of an input, unchanged. Bound: 0.
#include "backends/float64/layout.h"

namespace interlock {

// y = a beside b.
std::vector<OracleTensor> concat_oracle(const OracleCase& c) {
  OracleTensor y;
  for (uint64_t row = 0; row < c.shape.rows; ++row) {
    for (uint64_t i = 0; i < c.shape.inner; ++i) y.push_back(c.load(0, row * c.shape.inner + i));
    for (uint64_t i = 0; i < c.shape.cols; ++i) y.push_back(c.load(1, row * c.shape.cols + i));
  }
  return {y};
}

// ga beside gb = g.
std::vector<OracleTensor> split_oracle(const OracleCase& c) {
  OracleTensor ga;
  OracleTensor gb;
  const uint64_t cols = c.shape.inner + c.shape.cols;
  for (uint64_t i = 0; i < c.shape.rows * cols; ++i) {
    (i % cols < c.shape.inner ? ga : gb).push_back(c.load(0, i));
  }
  return {ga, gb};
}

// y[col, row] = x[row, col].
std::vector<OracleTensor> transpose_oracle(const OracleCase& c) {
  OracleTensor y;
  for (uint64_t col = 0; col < c.shape.cols; ++col) {
    for (uint64_t row = 0; row < c.shape.rows; ++row) {
      y.push_back(c.load(0, row * c.shape.cols + col));
    }
  }
  return {y};
}

}  // namespace interlock
