#include "encoder/plan/ggml_gallocr.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "encoder/plan/plan_layout.h"
#include "encoder/plan/plan_values.h"
#include "encoder/program/stop.h"
#include "encoder/program/words.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"

namespace interlock {
namespace {

// ggml_dyn_tallocr: free blocks by offset; the last one has no end.
class DynTallocr {
 public:
  static constexpr size_t kFreeBlocksMax = 256;

  uint64_t alloc(uint64_t size);
  void free(uint64_t offset, uint64_t size);
  uint64_t max_size() const { return max_size_; }
  bool has_overflown() const { return has_overflown_; }

 private:
  struct Block {
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  std::vector<Block> blocks_ = {{0, uint64_t{1} << 62}};
  uint64_t max_size_ = 0;
  bool has_overflown_ = false;  // The original asserts.
};

uint64_t DynTallocr::alloc(uint64_t size) {
  size_t best = blocks_.size() - 1;
  for (size_t i = 0; i + 1 < blocks_.size(); ++i) {
    const bool fits = blocks_[i].size >= size;
    const bool is_better = best == blocks_.size() - 1 || blocks_[i].size <= blocks_[best].size;
    if (fits && is_better) best = i;
  }
  Block& block = blocks_[best];
  const uint64_t offset = block.offset;
  block.offset += size;
  block.size -= size;
  if (block.size == 0) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(best));
  max_size_ = std::max(max_size_, offset + size);
  return offset;
}

void DynTallocr::free(uint64_t offset, uint64_t size) {
  if (size == 0) return;
  size_t i = 0;
  while (i < blocks_.size() && blocks_[i].offset < offset) ++i;
  const bool joins_previous = i > 0 && blocks_[i - 1].offset + blocks_[i - 1].size == offset;
  const bool joins_next = i < blocks_.size() && offset + size == blocks_[i].offset;
  if (joins_previous) {
    blocks_[i - 1].size += size;
    if (joins_next) {
      blocks_[i - 1].size += blocks_[i].size;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  } else if (joins_next) {
    blocks_[i].offset = offset;
    blocks_[i].size += size;
  } else {
    has_overflown_ |= blocks_.size() >= kFreeBlocksMax;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(i), {offset, size});
  }
}

// The part of a kernel's name that names the operation: "RMS_NORM" of "s00.RMS_NORM.7".
std::string_view operation_of(std::string_view kernel) {
  while (true) {
    const std::string_view part = kernel.substr(0, kernel.find('.'));
    const bool is_upper_case = !part.empty() && part[0] >= 'A' && part[0] <= 'Z';
    if (part.size() == kernel.size() || is_upper_case) return part;
    kernel.remove_prefix(part.size() + 1);
  }
}

// Of ggml_op_can_inplace, and what they are in the kernel table.
constexpr std::string_view kInPlace[] = {"SCALE",         "DIAG_MASK_ZERO",
                                         "DIAG_MASK_INF", "ADD",
                                         "ADD_ID",        "ADD1",
                                         "SUB",           "MUL",
                                         "DIV",           "SQR",
                                         "SQRT",          "LOG",
                                         "UNARY",         "SILU",
                                         "GELU",          "RELU",
                                         "ROPE",          "ROPE_BACK",
                                         "SILU_BACK",     "RMS_NORM",
                                         "RMS_NORM_BACK", "SOFT_MAX",
                                         "SOFT_MAX_BACK"};
constexpr std::string_view kTableInPlace[] = {"add",
                                              "mul",
                                              "scale",
                                              "silu",
                                              "silu_vjp",
                                              "rms_norm",
                                              "rms_norm_vjp",
                                              "rms_norm_vjp_stream",
                                              "softmax",
                                              "softmax_vjp",
                                              "softmax_vjp_stream",
                                              "rope",
                                              "rope_vjp"};

bool can_inplace(std::string_view kernel) {
  const std::string_view operation = operation_of(kernel);
  return is_one_of(kInPlace, operation) || is_one_of(kTableInPlace, operation);
}

// Our norms have a gain. In ggml that is a MUL of its own, and so is what becomes its gradient.
bool is_of_gain(std::string_view kernel, size_t operand) {
  constexpr size_t kGain = 1;
  constexpr size_t kGainRows = 4;  // Of the VJPs.
  return kernel.starts_with("rms_norm") && (operand == kGain || operand == kGainRows);
}

bool is_backward(std::string_view kernel) {
  const std::string_view operation = operation_of(kernel);
  return operation.ends_with("_vjp") || operation.ends_with("_vjp_stream") ||
         operation.ends_with("_BACK");
}

struct GallocrOptions {
  bool knows_contracts = false;
  bool counts_backward = true;
};

class Gallocr {
 public:
  Gallocr(const Program& program, const PlanValues& values, const GallocrOptions& options)
      : program_(program), values_(values), options_(options), nodes_(values.tensors.size()) {}

  Result<ValuePlacement> run();

 private:
  struct HashNode {
    int64_t n_children = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    bool has_place = false;
    bool is_allocated = false;  // And the owner of its bytes.
  };

  bool is_source(uint32_t dispatch, const Access& access) const;
  void count_children();
  void allocate_outputs(uint32_t dispatch);
  void allocate(uint32_t value);
  bool allocate_in_place(uint32_t dispatch, uint32_t output_position);
  bool is_same_layout(const Access& a, const Access& b) const;
  bool is_allowed(uint32_t output, uint32_t input) const;
  void update_parents(uint32_t dispatch);

  const Program& program_;
  const PlanValues& values_;
  const GallocrOptions options_;
  std::vector<HashNode> nodes_;  // By value.
  DynTallocr tallocr_;
};

// True iff the access reads or changes a value that is there already.
bool Gallocr::is_source(uint32_t dispatch, const Access& access) const {
  const ValueLife& life = values_.problem.values[values_.value_of(access)];
  return access.mode != AccessMode::kWrite || life.first_step != step_of_dispatch(dispatch);
}

void Gallocr::count_children() {
  for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
    const Dispatch& dispatch = program_.dispatches[i];
    if (!options_.counts_backward && is_backward(program_.name(dispatch.kernel_name))) continue;
    for (const Access& access : program_.declared_accesses_of(dispatch)) {
      const uint32_t value = values_.value_of(access);
      if (value != PlanValues::kNoValue && is_source(i, access)) ++nodes_[value].n_children;
    }
  }
}

bool Gallocr::is_same_layout(const Access& a, const Access& b) const {
  if (a.is_sliced || b.is_sliced) {
    return a.is_sliced && b.is_sliced && a.range.size_bytes() == b.range.size_bytes();
  }
  const Tensor& left = program_.tensor(a.tensor);
  const Tensor& right = program_.tensor(b.tensor);
  // Extents of 1 in front are not there: ggml has four extents, innermost first.
  const auto significant = [](const Tensor& tensor) {
    size_t first = 0;
    while (first < tensor.shape.size() && tensor.shape[first] == 1) ++first;
    return std::span(tensor.shape).subspan(first);
  };
  const auto x = significant(left);
  const auto y = significant(right);
  return left.dtype == right.dtype && std::ranges::equal(x, y);
}

bool Gallocr::is_allowed(uint32_t output, uint32_t input) const {
  if (!options_.knows_contracts) return true;
  const auto& choices = values_.problem.in_place;
  return std::any_of(choices.begin(), choices.end(), [&](const InPlaceChoice& choice) {
    return choice.output == output && choice.input == input;
  });
}

// Takes the bytes of the first source that looks as if it could be overwritten. The sources of
// ggml's VJPs begin with the cotangent, which our kernels read last.
bool Gallocr::allocate_in_place(uint32_t dispatch, uint32_t output_position) {
  const Dispatch& d = program_.dispatches[dispatch];
  const std::string_view kernel = program_.name(d.kernel_name);
  if (!can_inplace(kernel) || is_of_gain(kernel, output_position)) return false;
  const auto accesses = program_.declared_accesses_of(d);
  const Access& output = accesses[output_position];
  const uint32_t value = values_.value_of(output);
  const bool is_vjp = kernel.find("_vjp") != std::string_view::npos;
  for (size_t n = 0; n < accesses.size(); ++n) {
    const size_t i = is_vjp ? accesses.size() - 1 - n : n;
    const Access& source = accesses[i];
    if (is_of_gain(kernel, i)) continue;
    const uint32_t parent = values_.value_of(source);
    if (parent == PlanValues::kNoValue || parent == value || !is_source(dispatch, source)) continue;
    HashNode& p = nodes_[parent];
    if (!p.is_allocated || values_.is_live_at_end[parent]) continue;
    if (!is_same_layout(output, source) || p.n_children != 1 || source.range.begin != 0) continue;
    HashNode& node = nodes_[value];
    if (node.size > p.size || !is_allowed(value, parent)) continue;
    p.is_allocated = false;  // So that nobody frees it.
    node.offset = p.offset;
    node.has_place = true;
    node.is_allocated = true;
    tallocr_.free(p.offset + node.size, p.size - node.size);
    return true;
  }
  return false;
}

void Gallocr::allocate(uint32_t value) {
  HashNode& node = nodes_[value];
  node.offset = tallocr_.alloc(node.size);
  node.has_place = true;
  node.is_allocated = true;
}

void Gallocr::allocate_outputs(uint32_t dispatch) {
  const auto accesses = program_.declared_accesses_of(program_.dispatches[dispatch]);
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    const uint32_t value = values_.value_of(accesses[i]);
    if (value == PlanValues::kNoValue || nodes_[value].has_place) continue;
    if (!allocate_in_place(dispatch, i)) allocate(value);
  }
}

void Gallocr::update_parents(uint32_t dispatch) {
  for (const Access& access : program_.declared_accesses_of(program_.dispatches[dispatch])) {
    const uint32_t value = values_.value_of(access);
    if (value == PlanValues::kNoValue || !is_source(dispatch, access)) continue;
    HashNode& node = nodes_[value];
    --node.n_children;
    if (node.n_children == 0 && node.is_allocated && !values_.is_live_at_end[value]) {
      node.is_allocated = false;
      tallocr_.free(node.offset, node.size);
    }
  }
}

Result<ValuePlacement> Gallocr::run() {
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].size = values_.problem.values[i].size_bytes;
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (values_.problem.values[i].first_step == 0) allocate(i);
  }
  count_children();
  for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
    if (is_stopped()) return Error{"The plan was stopped."};
    allocate_outputs(i);
    update_parents(i);
  }
  if (tallocr_.has_overflown()) {
    return Error{"the plan has more free blocks than ggml's allocator has room for (256)."};
  }
  ValuePlacement placement;
  for (const HashNode& node : nodes_) placement.offsets_bytes.push_back(node.offset);
  placement.size_bytes = size_bytes_of(values_.problem, placement.offsets_bytes);
  return placement;
}

Result<Program> plan_with(const Program& program, const PlanOptions& options,
                          const GallocrOptions& gallocr) {
  auto values = values_of(program, options);
  if (!values) return values.error();
  auto placement = Gallocr(program, *values, gallocr).run();
  if (!placement) return placement.error();
  return place_values(program, *values, layout_of(values->problem, *placement));
}

}  // namespace

Result<Program> plan_ggml(const Program& program, const PlanOptions& options) {
  return plan_with(program, options, {false, true});
}

Result<Program> plan_ggml_undercount(const Program& program, const PlanOptions& options) {
  return plan_with(program, options, {true, false});
}

Result<Program> plan_ggml_serial_liveness(const Program& program, const PlanOptions& options) {
  if (!program.barriers.empty()) return plan_with(program, options, {true, true});
  InterlockEncoder encoder;
  return plan_with(encode(program, encoder), options, {true, true});
}

}  // namespace interlock
