// The kernel table: what each kernel is called, which operands it takes, how it splits into slices,
// which bytes each slice touches and which operands may share bytes. The same for every backend;
// bodies live in backends/kernels/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "encoder/program/check.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// What a kernel body needs besides its operands. A kernel uses the fields that its entry names.
struct KernelParams {
  uint64_t element_count = 0;  // Elementwise kernels; bytes for copy and fill.
  uint64_t block = 1;          // Elements (or bytes) per slice of elementwise kernels; columns per
                               // slice of col_sum.
  uint32_t rows = 0;           // Of the output for matmul.
  uint32_t cols = 0;
  // Contracted extent of matmul; columns of the first part of concat and split; entries of the
  // table that embedding reads, and ids of its VJP.
  uint32_t inner = 0;
  uint32_t byte = 0;  // fill
  float factor = 0;   // scale; the learning rate of sgd and adamw.
  float eps = 0;      // Norms, adamw.
  float beta1 = 0;    // adamw, and so on.
  float beta2 = 0;
  float weight_decay = 0;
  uint32_t step = 0;   // From 1 on.
  float base = 0;      // rope
  uint32_t start = 0;  // rope: the position of row 0.
  // mix. A backend sets them when it runs a dispatch; binding leaves them.
  uint32_t identity = 0;  // Of the dispatch: equal kernels on equal bytes write different ones.
  uint32_t operand_count = 0;
  AtomicOp atomic_op = AtomicOp::kNone;
  bool is_partial = false;

  bool operator==(const KernelParams&) const = default;
};

struct KernelOperand {
  std::string_view name;
  AccessMode mode;            // kRead, kWrite or kUpdate, in this order.
  DType dtype = DType::kF32;  // Of kernels that are not bytewise.
  // Of a kWrite operand: a slice also loads from it, but only what that slice itself has stored
  // there before. So it streams: what comes later may find earlier results where an input was.
  bool streams = false;
};

struct KernelAttribute {
  std::string_view name;
  std::variant<float KernelParams::*, uint32_t KernelParams::*> member;  // What it sets.
  std::optional<double> default_value;                                   // None: must be given.
  double min_value;
  double max_value;

  bool is_integer() const { return std::holds_alternative<uint32_t KernelParams::*>(member); }
};

// Which sharing of bytes an (input, output) pair of one dispatch tolerates.
enum class AliasContract : uint8_t {
  kNever,             // Any shared byte may change the result.
  kIdenticalElement,  // In place is safe when the two ranges are the same.
};

// An extent of an operand, by what the params call it.
enum class Extent : uint8_t { kOne, kElements, kRows, kCols, kInner, kInnerAndCols };

// Of a row of elements, or of a matrix.
struct OperandExtents {
  Extent first = Extent::kElements;
  Extent second = Extent::kOne;

  constexpr bool is_matrix() const { return second != Extent::kOne; }
};

inline uint64_t extent_of(const KernelParams& params, Extent extent) {
  switch (extent) {
    case Extent::kOne:
      return 1;
    case Extent::kElements:
      return params.element_count;
    case Extent::kRows:
      return params.rows;
    case Extent::kCols:
      return params.cols;
    case Extent::kInner:
      return params.inner;
    case Extent::kInnerAndCols:
      return uint64_t{params.inner} + params.cols;
  }
  INTERLOCK_CHECK(false);
}

// An operand as a shape rule sees it: its extents; of bytewise kernels one, in bytes.
using OperandShape = std::span<const uint64_t>;

struct KernelEntry;

// Checks shapes and fills the extents of the params. Attributes are already filled in.
// Requires: as many shapes as the entry has operands, each of its dtype unless the kernel is
// bytewise.
using BindRule = Result<KernelParams>(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& limits);

// Operands of the shapes that the entry says. What an extent is, the first matrix says that has it.
BindRule bind_matrices;

inline constexpr size_t kTableOperandsMax = 8;  // Of a table kernel.

struct KernelEntry {
  std::string_view name;
  std::string_view summary;                      // One line for `interlock list kernels`.
  std::span<const KernelOperand> operands = {};  // Empty for the variadic kernel `mix`.
  std::span<const KernelAttribute> attributes = {};
  bool is_variadic = false;  // Any operands, bytewise: `mix`.
  bool is_bytewise = false;  // Operands are byte ranges of any dtype.
  // (input, output) operand positions whose contract is kIdenticalElement.
  std::span<const std::pair<int, int>> identical_pairs = {};
  // The rest means nothing for variadic kernels: they have one slice, which touches its operands
  // whole.
  BindRule* bind = bind_matrices;
  // By operand; empty: of as many elements, whatever shape.
  std::span<const OperandExtents> shapes = {};
  // Slices partition the outputs along this extent, in blocks of one, or of `smallest_block` and
  // more: what has it has the block of the slice, everything else is touched whole. So no two
  // slices of one dispatch ever write the same byte, and a table kernel never reads what it writes
  // except at the element that it overwrites.
  Extent sliced = Extent::kRows;
  uint64_t smallest_block = 0;
};

std::span<const KernelEntry> kernel_table();
const KernelEntry& kernel_entry(KernelId id);
// None if there is no kernel of this name. In kernel_index.cc. Cost: linear in the name.
std::optional<KernelId> find_kernel(std::string_view name);

// The meaning of opaque dispatches.
KernelId mix_kernel();

// True iff the dispatch has declared accesses and the meaning `mix` and no body of its own.
bool is_opaque(const Program& program, const Dispatch& dispatch);

// Where the dispatch executes: copy and fill in kCopy, what the host does in kHost, every other one
// in kCompute. Cost: constant.
Stage stage_of(const Dispatch& dispatch);

// Where it does this access: in its own stage, but for the arguments of an indirect dispatch.
Stage stage_of(const Dispatch& dispatch, const Access& access);

// The sorts of access by which `access` reads and writes in a dispatch that executes in `stage`;
// none if it does not. Updates and atomics have both.
std::optional<StageAccess> read_sort_of(Stage stage, const Access& access);
std::optional<StageAccess> write_sort_of(Stage stage, const Access& access);

// Requires: `input` reads, `output` writes, and both are access positions of the dispatch.
AliasContract alias_contract_of(const KernelEntry& entry, int input, int output);

}  // namespace interlock
