// One dispatch of one table kernel at one shape, as a program: what the kernel tests sweep over.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/float64/kernel_oracles.h"
#include "backends/interface/backend.h"
#include "encoder/program/program.h"

namespace interlock {

struct KernelCase {
  std::string kernel;
  uint64_t rows = 1;
  uint64_t cols = 1;
  uint64_t inner = 1;
};

std::ostream& operator<<(std::ostream& out, const KernelCase& c);

// An operand as the tests know it; written down apart from the kernel table on purpose.
struct CaseOperand {
  std::string name;
  bool is_output = false;
  std::vector<uint64_t> shape;
  bool is_updated = false;    // Read and written: an output that is an input too.
  DType dtype = DType::kF32;  // i32: iota.
  // Ids say which part of it a slice reads; else a slice reads all that it declares.
  bool is_gathered = false;

  bool is_input() const { return !is_output || is_updated; }
  uint64_t size_bytes() const;
};

// rope has an even number of columns: one more than the case, where that is odd.
std::vector<CaseOperand> operands_of(const KernelCase& c);

// All kernels but mix, each at: 1x1, one row, one column, odd sizes, more than a block.
std::vector<KernelCase> all_cases();

// The kernels of all_cases(), each once, at a shape of several slices.
std::vector<KernelCase> one_case_per_kernel();

// The attributes that cases have. Those of adamw are such that each matters: a small step, whose
// corrections are far from 1, and an eps as large as the roots.
inline constexpr float kCaseFactor = -1.75f;
inline constexpr float kCaseEps = 1e-3f;
inline constexpr uint8_t kCaseByte = 171;
inline constexpr float kCaseBase = 500;
inline constexpr uint32_t kCaseStart = 5;

// As an oracle takes them.
OracleShape oracle_shape_of(const KernelCase& c);

// Where an output lies when it shares bytes: at `offset_bytes` from the start of operand `input`.
struct SharedPlace {
  std::string input;
  int64_t offset_bytes = 0;
};
using SharedPlaces = std::map<std::string, SharedPlace>;  // By output.

// Each operand has its own memory, named like it, with 256 bytes before and 256 after; inputs are
// random (v of adamw counts from 0, because it has a root). Outputs in `shared` lie on their input
// instead.
Program program_of(const KernelCase& c, const SharedPlaces& shared = {});

// The same with each output in its own place; one that is updated starts as the input on which it
// lies in `shared`. So what the two programs leave can be compared.
Program program_apart(const KernelCase& c, const SharedPlaces& shared);

// The text of program_of(), in two parts: between them there is room for what prepares the inputs.
struct CaseText {
  std::string declarations;
  std::string dispatch;
};
CaseText text_of(const KernelCase& c, const SharedPlaces& shared = {});

// Of the dispatch, by name in the order of the text.
std::vector<std::pair<std::string, double>> attributes_of(const KernelCase& c);
OracleAttributes oracle_attributes_of(const KernelCase& c);

// The schedule of single slices in this order.
Schedule slices_in_order(const std::vector<uint64_t>& slices);
std::vector<uint64_t> ascending_slices(const Program& program);
std::vector<uint64_t> descending_slices(const Program& program);
std::vector<uint64_t> shuffled_slices(const Program& program, uint32_t seed);

// The final image of the cpu backend.
MemoryImage image_after(const Program& program, const Schedule& schedule);

// The bytes of the tensor or memory of this name.
std::vector<uint8_t> bytes_of(const Program& program, const MemoryImage& image,
                              std::string_view name);
std::vector<float> values_of(const Program& program, const MemoryImage& image,
                             std::string_view name);

// As an oracle takes them: f32 by value, i32 as unsigned numbers.
Doubles numbers_of(const Program& program, const MemoryImage& image, std::string_view name);

// Parses, and fails the test with the message where that fails.
Program parsed(std::string_view text);

}  // namespace interlock
