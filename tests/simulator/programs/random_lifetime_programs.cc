#include "tests/simulator/programs/random_lifetime_programs.h"

#include <iterator>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"

namespace interlock {
namespace {

const char* const kNames[] = {"t0", "t1", "t2", "t3", "t4"};

TensorDraft random_tensor(Choice& choice, size_t index) {
  TensorDraft tensor;
  tensor.name = kNames[index];
  tensor.dtype = DType::kU8;
  tensor.shape = {1 + choice.below(4)};
  tensor.placement = index == 0 ? Placement::kPlaced : static_cast<Placement>(choice.below(4));
  tensor.base = "m";
  if (tensor.placement == Placement::kView || tensor.placement == Placement::kDonation) {
    tensor.base = kNames[choice.below(index)];
  }
  if (tensor.placement == Placement::kUnplaced) tensor.base.clear();
  if (tensor.placement == Placement::kPlaced) tensor.offset_bytes = choice.below(2) * 2;
  if (tensor.placement == Placement::kView) tensor.offset_bytes = choice.below(2);
  if (choice.below(4) == 0) tensor.initial = {InitialKind::kOnes, 0};
  return tensor;
}

DispatchDraft random_dispatch(Choice& choice) {
  DispatchDraft dispatch;
  dispatch.kernel = "K";
  for (const AccessMode mode : {AccessMode::kRead, AccessMode::kWrite, AccessMode::kUpdate}) {
    if (choice.below(mode == AccessMode::kUpdate ? 5 : 2) != 0) continue;
    OperandDraft operand{mode, choice.below(8) == 0 ? "m" : kNames[choice.below(5)], {}};
    if (choice.below(4) == 0) operand.slice = ByteRange{0, 1 + choice.below(2)};
    dispatch.operands.push_back(operand);
  }
  return dispatch;
}

// Adopters, which must be unplaced and hold nothing; what they adopt from; and what takes its
// bytes.
std::vector<TensorDraft> random_holders(Choice& choice) {
  std::vector<TensorDraft> tensors;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    TensorDraft& tensor = tensors.emplace_back();
    tensor.name = kNames[i];
    tensor.dtype = DType::kU8;
    tensor.shape = {i < 2 ? 3 : 1 + choice.below(3)};
    tensor.placement = i == 2 || i == 3 ? Placement::kUnplaced : Placement::kPlaced;
    if (tensor.placement == Placement::kPlaced) tensor.base = "m";
    const bool has_initial = tensor.placement == Placement::kPlaced && choice.below(8) == 0;
    if (has_initial) tensor.initial = {InitialKind::kOnes, 0};
  }
  tensors[1].placement = choice.below(2) == 0 ? Placement::kPlaced : Placement::kDonation;
  tensors[1].base = tensors[1].placement == Placement::kPlaced ? "m" : kNames[0];
  tensors[1].offset_bytes = tensors[1].placement == Placement::kPlaced ? choice.below(2) * 4 : 0;
  tensors[4].offset_bytes = choice.below(4);
  return tensors;
}

LifetimeDraft random_holding(Choice& choice) {
  constexpr LifetimeKind kKinds[] = {
      LifetimeKind::kAdopt, LifetimeKind::kAdopt,  LifetimeKind::kPin,  LifetimeKind::kPin,
      LifetimeKind::kUnpin, LifetimeKind::kUnpin,  LifetimeKind::kFree, LifetimeKind::kFree,
      LifetimeKind::kReset, LifetimeKind::kDestroy};
  LifetimeDraft item{"", kKinds[choice.below(std::size(kKinds))], kNames[choice.below(4)], ""};
  if (item.kind == LifetimeKind::kReset) item.name = "m";
  if (item.kind == LifetimeKind::kAdopt) {
    item.name = kNames[2 + choice.below(2)];
    item.source = kNames[choice.below(8) / 7];  // Mostly the first one, so that several hold it.
  }
  return item;
}

BarrierDraft random_staged_barrier(Choice& choice) {
  const auto scope = [&choice]() -> Scope {
    return {static_cast<StageMask>(1 + choice.below(3)), 0};  // Compute, copies or both.
  };
  if (choice.below(4) == 0) return {"", BarrierKind::kExecution, {}};
  DependencyDraft dependency{scope(), scope(), {}};
  if (choice.below(4) == 0) dependency.operands.push_back({AccessMode::kRead, kNames[0], {}});
  return {"", BarrierKind::kScoped, {dependency}};
}

DispatchDraft random_copy(Choice& choice) {
  DispatchDraft dispatch;
  dispatch.kernel = "copy";
  dispatch.operands.push_back({AccessMode::kRead, kNames[choice.below(5)], {}});
  dispatch.operands.push_back({AccessMode::kWrite, kNames[choice.below(5)], {}});
  return dispatch;
}

// Two that overlap or not, a view or a donation of the first, one that adopts it, and any.
std::vector<TensorDraft> random_pinned_tensors(Choice& choice) {
  std::vector<TensorDraft> tensors;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    TensorDraft& tensor = tensors.emplace_back();
    tensor.name = kNames[i];
    tensor.dtype = DType::kU8;
    tensor.shape = {i == 0 ? 4 : 1 + choice.below(3)};
    tensor.placement = i == 3 ? Placement::kUnplaced : Placement::kPlaced;
    if (i != 3) tensor.base = "m";
    if (i == 1 || i == 4) tensor.offset_bytes = choice.below(5);
    if (i != 3 && choice.below(6) == 0) tensor.initial = {InitialKind::kOnes, 0};
  }
  tensors[2].placement = choice.below(2) == 0 ? Placement::kView : Placement::kDonation;
  tensors[2].base = kNames[0];
  if (tensors[2].placement == Placement::kView) tensors[2].initial = {};
  return tensors;
}

// Mostly the same one, so that statements meet.
const char* random_pinned_name(Choice& choice) {
  constexpr size_t kTensors[] = {0, 0, 0, 0, 3, 3, 1, 2, 4};
  return kNames[kTensors[choice.below(std::size(kTensors))]];
}

LifetimeDraft random_pin_or_end(Choice& choice) {
  constexpr LifetimeKind kKinds[] = {
      LifetimeKind::kPin,     LifetimeKind::kPin,     LifetimeKind::kUnpin, LifetimeKind::kUnpin,
      LifetimeKind::kDestroy, LifetimeKind::kDestroy, LifetimeKind::kFree,  LifetimeKind::kFree,
      LifetimeKind::kReset,   LifetimeKind::kAdopt};
  LifetimeDraft item{"", kKinds[choice.below(std::size(kKinds))], random_pinned_name(choice), ""};
  if (item.kind == LifetimeKind::kReset) item.name = "m";
  if (item.kind == LifetimeKind::kAdopt) item = {"", item.kind, kNames[3], kNames[0]};
  return item;
}

// A read leaves values as they are.
DispatchDraft random_use(Choice& choice) {
  if (choice.below(4) == 0) return random_copy(choice);
  if (choice.below(4) == 0) return random_dispatch(choice);
  const AccessMode mode = choice.below(4) == 0 ? AccessMode::kWrite : AccessMode::kRead;
  return {"", "K", {}, {{mode, random_pinned_name(choice), {}}}, false, {}};
}

ItemDraft random_pinned_item(Choice& choice) {
  const uint64_t sort = choice.below(16);
  if (sort == 0) return random_staged_barrier(choice);
  if (sort == 1) return BarrierDraft{"", BarrierKind::kFull, {}};
  if (sort < 5) return random_use(choice);
  return random_pin_or_end(choice);
}

}  // namespace

Program random_pinned_program(Choice& choice, uint64_t statement_count_max, bool has_replay) {
  ProgramBuilder builder;
  const auto try_to_add = [&builder](const ItemDraft& item) {
    static_cast<void>(builder.add(item));  // What does not fit is left out.
  };
  try_to_add(MemoryDraft{"m", 8, false});
  for (const TensorDraft& tensor : random_pinned_tensors(choice)) try_to_add(tensor);
  if (choice.below(2) == 0) try_to_add(OutputDraft{{kNames[choice.below(4)]}});
  if (has_replay) {
    try_to_add(CaptureDraft{"c"});
    for (uint64_t k = 1 + choice.below(5); k > 0; --k) try_to_add(random_pinned_item(choice));
    try_to_add(EndDraft{});
  }
  // The first value, which most of the rest is about; some never have one.
  if (choice.below(4) != 0) {
    try_to_add(DispatchDraft{"", "K", {}, {{AccessMode::kWrite, kNames[0], {}}}, false, {}});
    try_to_add(LifetimeDraft{"", LifetimeKind::kAdopt, kNames[3], kNames[0]});
  }
  if (choice.below(4) != 0) try_to_add(LifetimeDraft{"", LifetimeKind::kPin, kNames[0], ""});
  for (uint64_t k = 1 + choice.below(statement_count_max); k > 0; --k) {
    if (has_replay && choice.below(6) == 0) {
      try_to_add(ReplayDraft{"c"});
    } else {
      try_to_add(random_pinned_item(choice));
    }
  }
  return builder.finish().value();
}

Program random_holding_program(Choice& choice, uint64_t statement_count_max) {
  ProgramBuilder builder;
  const auto try_to_add = [&builder](const ItemDraft& item) {
    static_cast<void>(builder.add(item));  // What does not fit is left out.
  };
  try_to_add(MemoryDraft{"m", 8, false});
  for (const TensorDraft& tensor : random_holders(choice)) try_to_add(tensor);
  if (choice.below(2) == 0) try_to_add(OutputDraft{{kNames[choice.below(4)]}});
  // First, as what is in use adopts nothing for the first time.
  try_to_add(DispatchDraft{"", "K", {}, {{AccessMode::kWrite, kNames[0], {}}}, false, {}});
  for (size_t i = 0; i < 4; ++i) {
    const bool is_adopter = i >= 2;
    if (is_adopter && choice.below(4) == 0) continue;
    if (is_adopter) {
      try_to_add(LifetimeDraft{"", LifetimeKind::kAdopt, kNames[i], kNames[choice.below(8) / 7]});
    }
    if (choice.below(3) == 0) try_to_add(LifetimeDraft{"", LifetimeKind::kPin, kNames[i], ""});
  }
  const uint64_t count = 1 + choice.below(statement_count_max);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t sort = choice.below(16);
    if (sort == 0) {
      try_to_add(random_staged_barrier(choice));
    } else if (sort < 11) {
      try_to_add(random_holding(choice));
    } else if (sort < 13) {
      try_to_add(random_copy(choice));
    } else {
      try_to_add(random_dispatch(choice));
    }
  }
  return builder.finish().value();
}

Program random_lifetime_program(Choice& choice, const RandomLifetimeOptions& options) {
  ProgramBuilder builder;
  const auto try_to_add = [&builder](const ItemDraft& item) {
    static_cast<void>(builder.add(item));  // What does not fit is left out.
  };
  try_to_add(MemoryDraft{"m", 6, false});
  for (size_t i = 0; i < std::size(kNames); ++i) try_to_add(random_tensor(choice, i));
  if (choice.below(2) == 0) try_to_add(OutputDraft{{kNames[choice.below(5)]}});
  const uint64_t count = 1 + choice.below(options.statement_count_max);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t sort = choice.below(10);
    if (sort == 0) {
      const bool is_full = !options.has_sync_only || choice.below(2) == 0;
      try_to_add(BarrierDraft{"", is_full ? BarrierKind::kFull : BarrierKind::kExecution, {}});
    } else if (sort < 5) {
      const auto kind = static_cast<LifetimeKind>(choice.below(6));
      if (kind == LifetimeKind::kAdopt && !options.has_adopt) continue;
      if (kind == LifetimeKind::kDestroy && !options.has_destroy) continue;
      const bool is_reset = kind == LifetimeKind::kReset;
      LifetimeDraft item{"", kind, is_reset ? "m" : kNames[choice.below(5)], ""};
      if (kind == LifetimeKind::kAdopt) item.source = kNames[choice.below(5)];
      try_to_add(item);
    } else {
      try_to_add(random_dispatch(choice));
    }
  }
  return builder.finish().value();
}

}  // namespace interlock
