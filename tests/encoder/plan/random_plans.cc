#include "tests/encoder/plan/random_plans.h"

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"

namespace interlock {
namespace {

struct Named {
  std::string name;
  std::vector<uint64_t> shape;

  uint64_t size_bytes() const {
    uint64_t size = 4;
    for (const uint64_t extent : shape) size *= extent;
    return size;
  }
};

class RandomUnplanned {
 public:
  RandomUnplanned(Choice& choice, uint64_t dispatch_count_max, bool has_lifetimes)
      : choice_(choice), dispatch_count_max_(dispatch_count_max), has_lifetimes_(has_lifetimes) {}

  Program run();

 private:
  void add_tensors();
  void add_opaque();
  void add_from_table();
  void add_lifetime();
  const Named& any_tensor() { return tensors_[choice_.below(tensors_.size())]; }
  // Items that do not fit are left out: kernels want shapes that agree.
  bool offer(const ItemDraft& item) { return builder_.add(item).has_value(); }

  Choice& choice_;
  const uint64_t dispatch_count_max_;
  const bool has_lifetimes_;
  ProgramBuilder builder_;
  std::vector<Named> tensors_;
};

void RandomUnplanned::add_tensors() {
  const std::vector<std::vector<uint64_t>> shapes = {{2, 4}, {4}, {1, 4}, {2}, {4, 2}, {16}};
  const uint64_t count = 2 + choice_.below(7);
  for (uint64_t i = 0; i < count; ++i) {
    TensorDraft tensor;
    tensor.name = "t" + std::to_string(i);
    tensor.shape = shapes[choice_.below(shapes.size())];
    tensor.placement = Placement::kUnplaced;
    const uint64_t sort = choice_.below(10);
    if (sort == 0 && !tensors_.empty()) {
      tensor.placement = Placement::kView;
      tensor.base = any_tensor().name;
      tensor.offset_bytes = 8 * choice_.below(3);
    } else if (sort == 1 && !tensors_.empty()) {
      tensor.placement = Placement::kDonation;
      tensor.base = any_tensor().name;
    } else if (sort == 2 && !tensors_.empty()) {
      tensor.placement = Placement::kPlaced;
      tensor.base = "declared";
      tensor.offset_bytes = 4 * choice_.below(8);
    }
    if (tensor.placement != Placement::kView && choice_.chance(1, 4)) {
      tensor.initial = {InitialKind::kRandom, i};
    }
    if (offer(tensor)) tensors_.push_back({tensor.name, tensor.shape});
  }
}

void RandomUnplanned::add_opaque() {
  DispatchDraft dispatch;
  dispatch.kernel = "K";
  const uint64_t count = 1 + choice_.below(4);
  for (uint64_t i = 0; i < count; ++i) {
    constexpr AccessMode kModes[] = {AccessMode::kRead,   AccessMode::kRead,   AccessMode::kWrite,
                                     AccessMode::kWrite,  AccessMode::kUpdate, AccessMode::kAtomic,
                                     AccessMode::kUniform};
    const Named& tensor = any_tensor();
    // Two accesses of a dispatch to one tensor would conflict with each other if either writes.
    const bool is_new =
        std::none_of(dispatch.operands.begin(), dispatch.operands.end(),
                     [&](const OperandDraft& other) { return other.name == tensor.name; });
    const uint64_t mode = choice_.below(choice_.chance(1, 3) ? 7 : 4);
    OperandDraft operand{is_new ? kModes[mode] : AccessMode::kRead, tensor.name, {}};
    if (choice_.chance(1, 6)) {
      const uint64_t half = tensor.size_bytes() / 2;
      operand.slice = choice_.chance(1, 2) ? ByteRange{0, half} : ByteRange{half, 2 * half};
    }
    dispatch.operands.push_back(operand);
  }
  const auto is_atomic = [](const OperandDraft& operand) {
    return operand.mode == AccessMode::kAtomic;
  };
  std::stable_sort(dispatch.operands.begin(), dispatch.operands.end(),
                   [](const OperandDraft& a, const OperandDraft& b) { return a.mode < b.mode; });
  if (std::any_of(dispatch.operands.begin(), dispatch.operands.end(), is_atomic)) {
    dispatch.attributes.emplace_back("atomic", "add");
  }
  dispatch.is_partial = choice_.chance(1, 12);
  offer(dispatch);
}

void RandomUnplanned::add_from_table() {
  struct Kernel {
    const char* name;
    int inputs;
    int outputs = 1;
  };
  constexpr Kernel kKernels[] = {
      {"add", 2},     {"mul", 2},     {"silu", 1},     {"copy", 1},
      {"col_sum", 1}, {"row_sum", 1}, {"rms_norm", 2}, {"rms_norm_vjp", 3, 2}};
  const Kernel& kernel = kKernels[choice_.below(std::size(kKernels))];
  DispatchDraft dispatch;
  dispatch.kernel = kernel.name;
  for (int i = 0; i < kernel.inputs; ++i) {
    dispatch.operands.push_back({AccessMode::kRead, any_tensor().name, {}});
  }
  for (int i = 0; i < kernel.outputs; ++i) {
    dispatch.operands.push_back({AccessMode::kWrite, any_tensor().name, {}});
  }
  offer(dispatch);
}

void RandomUnplanned::add_lifetime() {
  constexpr LifetimeKind kKinds[] = {LifetimeKind::kPin,   LifetimeKind::kPin,
                                     LifetimeKind::kUnpin, LifetimeKind::kUnpin,
                                     LifetimeKind::kFree,  LifetimeKind::kDestroy};
  LifetimeDraft lifetime;
  lifetime.kind = kKinds[choice_.below(std::size(kKinds))];
  lifetime.name = any_tensor().name;
  offer(lifetime);
}

Program RandomUnplanned::run() {
  const bool added = offer(MemoryDraft{"declared", 64, false});
  INTERLOCK_CHECK(added);
  add_tensors();
  const uint64_t output_count = choice_.below(3) + (choice_.chance(1, 20) ? 0 : 1);
  for (uint64_t i = 0; i < output_count; ++i) offer(OutputDraft{{any_tensor().name}});
  const uint64_t dispatch_count = 1 + choice_.below(dispatch_count_max_);
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    while (has_lifetimes_ && choice_.chance(1, 2)) add_lifetime();
    if (choice_.chance(1, 2)) {
      add_opaque();
    } else {
      add_from_table();
    }
  }
  while (has_lifetimes_ && choice_.chance(1, 2)) add_lifetime();
  return *builder_.finish();
}

}  // namespace

Program random_unplanned(Choice& choice, uint64_t dispatch_count_max) {
  return RandomUnplanned(choice, dispatch_count_max, false).run();
}

Program random_unplanned_with_lifetimes(Choice& choice) {
  return RandomUnplanned(choice, 10, true).run();
}

Program tiny_unplanned(Choice& choice) {
  const std::string names[] = {"a", "b", "c"};
  ProgramDraft draft;
  for (const std::string& name : names) {
    TensorDraft tensor;
    tensor.name = name;
    tensor.shape = {name == "c" ? 2u : 1u};
    tensor.placement = Placement::kUnplaced;
    draft.items.emplace_back(tensor);
  }
  const uint64_t outputs = 1 + choice.below(7);
  for (uint64_t i = 0; i < 3; ++i) {
    if ((outputs >> i & 1) != 0) draft.items.emplace_back(OutputDraft{{names[i]}});
  }
  for (int d = 0; d < 3; ++d) {
    DispatchDraft dispatch;
    dispatch.kernel = "K";
    std::vector<OperandDraft> writes;
    for (const std::string& name : names) {
      const uint64_t mode = choice.below(3);
      if (mode == 1) dispatch.operands.push_back({AccessMode::kRead, name, {}});
      if (mode == 2) writes.push_back({AccessMode::kWrite, name, {}});
    }
    dispatch.operands.insert(dispatch.operands.end(), writes.begin(), writes.end());
    draft.items.emplace_back(dispatch);
  }
  return *build(draft);
}

}  // namespace interlock
