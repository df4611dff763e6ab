#include "tests/simulator/random_lifetime_programs.h"

#include <iterator>

#include "encoder/program_builder.h"

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

}  // namespace

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
