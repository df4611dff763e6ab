// Round trips of random programs. Few names and small numbers make items meet: views of donations
// of views, labels on barriers, references to both. What does not fit is left out by the builder.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"
#include "tests/program_count.h"

namespace interlock::random_drafts_test {
namespace {

std::string name(Numbers& numbers) {
  return std::string(1, static_cast<char>('a' + numbers.below(6)));
}

std::string label(Numbers& numbers) { return numbers.below(2) == 0 ? "" : name(numbers); }

std::string reference(Numbers& numbers) {
  return numbers.below(2) == 0 ? name(numbers) : std::to_string(numbers.below(4));
}

TensorDraft tensor(Numbers& numbers) {
  TensorDraft item;
  item.name = name(numbers);
  item.dtype = static_cast<DType>(numbers.below(3));
  for (size_t rank = 1 + numbers.below(2); rank > 0; --rank)
    item.shape.push_back(1 + numbers.below(4));
  item.placement = static_cast<Placement>(numbers.below(4));
  item.base = name(numbers);
  item.offset_bytes = item.placement == Placement::kDonation ? 0 : numbers.below(12) * 2;
  item.initial.kind = static_cast<InitialKind>(numbers.below(9) > 4 ? 0 : numbers.below(6));
  item.initial.seed = item.initial.kind == InitialKind::kRandom ? numbers.below(9) : 0;
  if (item.initial.kind == InitialKind::kValues) {
    for (size_t count = numbers.below(5); count > 0; --count) {
      item.initial.values.push_back(static_cast<double>(numbers.below(600)) - 50);
    }
  }
  return item;
}

DispatchDraft dispatch(Numbers& numbers, bool has_order) {
  const std::vector<std::string> kernels = {"A", "s.B", "mix", "copy", "silu", "col_sum"};
  const std::vector<std::string> values = {"word", "fast-math", "0",     "-0",
                                           "1e5",  "0.1",       "7e300", "007"};
  DispatchDraft item;
  item.label = label(numbers);
  item.kernel = kernels[numbers.below(kernels.size())];
  if (has_order) item.order = numbers.below(20);
  for (size_t mode = 0; mode < kAccessModeCount; ++mode) {
    const bool is_common = static_cast<AccessMode>(mode) == AccessMode::kRead ||
                           static_cast<AccessMode>(mode) == AccessMode::kWrite;
    for (size_t count = numbers.below(is_common ? 3 : 2); count > 0; --count) {
      OperandDraft operand{static_cast<AccessMode>(mode), name(numbers), {}};
      const uint64_t begin = numbers.below(12);
      if (numbers.below(2) == 0) operand.slice = ByteRange{begin, begin + numbers.below(6)};
      item.operands.push_back(operand);
    }
  }
  const bool is_opaque = item.kernel == "A" || item.kernel == "s.B";
  if (is_opaque && numbers.below(2) == 0) {
    for (OperandDraft& operand : item.operands) operand.is_undeclared = numbers.below(3) == 0;
    std::stable_sort(item.operands.begin(), item.operands.end(), stands_before);
  }
  item.is_partial = numbers.below(4) == 0;
  for (size_t count = numbers.below(3); count > 0; --count) {
    item.attributes.emplace_back(name(numbers), values[numbers.below(values.size())]);
  }
  if (has_atomics(item)) {
    item.attributes.emplace_back("atomic", word_of(static_cast<AtomicOp>(1 + numbers.below(6))));
  }
  return item;
}

Scope scope(Numbers& numbers) {
  constexpr std::string_view kWords[] = {
      "compute", "compute.read", "compute.write", "compute.uniform", "copy.read", "copy.write",
      "copy",    "all",          "all.read",      "all.write",       "host.read", "indirect.read"};
  Scope scope;
  for (uint64_t count = 1 + numbers.below(3); count > 0; --count) {
    const Scope part = *scope_of(kWords[numbers.below(std::size(kWords))]);
    scope.stages |= part.stages;
    scope.accesses |= part.accesses;
  }
  return scope;
}

BarrierDraft barrier(Numbers& numbers) {
  BarrierDraft item{label(numbers), static_cast<BarrierKind>(numbers.below(3)), {}};
  if (item.kind != BarrierKind::kScoped) return item;
  for (uint64_t count = 1 + numbers.below(2); count > 0; --count) {
    DependencyDraft dependency{scope(numbers), scope(numbers), {}};
    for (uint64_t operands = numbers.below(3); operands > 0; --operands) {
      OperandDraft operand{AccessMode::kRead, name(numbers), {}};
      const uint64_t begin = numbers.below(12);
      if (numbers.below(2) == 0) operand.slice = ByteRange{begin, begin + numbers.below(6)};
      dependency.operands.push_back(operand);
    }
    item.dependencies.push_back(dependency);
  }
  return item;
}

LifetimeDraft lifetime(Numbers& numbers) {
  LifetimeDraft item{label(numbers), static_cast<LifetimeKind>(numbers.below(6)), name(numbers),
                     ""};
  if (item.kind == LifetimeKind::kAdopt) item.source = name(numbers);
  return item;
}

constexpr std::string_view kQueues[] = {"", "", "", "q0", "p", "q", "g", "x"};

std::string queue(Numbers& numbers) {
  return std::string(kQueues[numbers.below(std::size(kQueues))]);
}

// Values and binary semaphores have names apart: else most uses would not fit.
SemaphoreUseDraft semaphore_use(Numbers& numbers) {
  SemaphoreUseDraft use;
  const bool is_binary = numbers.below(3) == 0;
  use.semaphore = is_binary ? "y" : "z";
  if (is_binary != (numbers.below(16) == 0)) return use;
  use.value = numbers.below(6);
  return use;
}

StageMask stages(Numbers& numbers) {
  return numbers.below(2) == 0 ? kAllStages : scope(numbers).stages;
}

OperandDraft operand_with_rows(Numbers& numbers) {
  OperandDraft operand{AccessMode::kRead, name(numbers), {}};
  if (numbers.below(2) == 0) return operand;
  const uint64_t begin = numbers.below(4);
  operand.slice = ByteRange{begin, begin + numbers.below(20)};
  if (numbers.below(2) == 0) return operand;
  operand.stride = StrideDraft{numbers.below(4), numbers.below(6), numbers.below(4)};
  return operand;
}

SyncDraft sync(Numbers& numbers) {
  SyncDraft item;
  item.label = label(numbers);
  item.kind = static_cast<SyncKind>(numbers.below(kSyncKindCount));
  if (!is_of_host(item.kind) || item.kind == SyncKind::kHostIdle) item.queue = queue(numbers);
  switch (item.kind) {
    case SyncKind::kSignal:
      for (uint64_t count = 1 + numbers.below(2); count > 0; --count) {
        item.semaphores.push_back(semaphore_use(numbers));
        item.semaphores.back().stages = stages(numbers);
      }
      break;
    case SyncKind::kWait:
      item.semaphores = {semaphore_use(numbers)};
      item.semaphores.back().stages = stages(numbers);
      break;
    case SyncKind::kHostWaits:
    case SyncKind::kHostSignals:
      item.semaphores = {semaphore_use(numbers)};
      break;
    case SyncKind::kSet: {
      item.event = name(numbers);
      const BarrierDraft halves = barrier(numbers);
      item.barrier_kind = halves.kind;
      item.dependencies = halves.dependencies;
      break;
    }
    case SyncKind::kAwait:
      item.event = name(numbers);
      break;
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      item.operands = {operand_with_rows(numbers)};
      break;
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostIdle:
      break;
  }
  return item;
}

HostAccessDraft host_access(Numbers& numbers) {
  HostAccessDraft item;
  item.label = label(numbers);
  item.access = numbers.below(2) == 0 ? HostAccess::kReads : HostAccess::kWrites;
  item.operands = {operand_with_rows(numbers)};
  item.is_approximate = numbers.below(4) == 0;
  if (item.access == HostAccess::kWrites && numbers.below(2) == 0) {
    item.value.kind = static_cast<InitialKind>(numbers.below(6));
    if (item.value.kind == InitialKind::kRandom) item.value.seed = numbers.below(9);
    if (item.value.kind == InitialKind::kValues) item.value.values = {1, 0.1};
  }
  return item;
}

// On the whole synchronization model, what the other items say of one queue.
ItemDraft random_queue_item(Numbers& numbers) {
  switch (numbers.below(9)) {
    case 0: {
      constexpr std::string_view kNames[] = {"p", "q", "g", "q0"};
      return QueueDraft{std::string(kNames[numbers.below(4)]),
                        static_cast<QueueKind>(numbers.below(5))};
    }
    case 1:
      return numbers.below(2) == 0 ? SemaphoreDraft{"y", true, 0}
                                   : SemaphoreDraft{"z", false, numbers.below(3)};
    case 2:
    case 3:
    case 4:
    case 5:
      return sync(numbers);
    case 6:
      return host_access(numbers);
    case 7: {
      BarrierDraft item = barrier(numbers);
      item.queue = queue(numbers);
      return item;
    }
    default: {
      DispatchDraft item;
      item.label = label(numbers);
      item.kernel = "K";
      item.operands = {operand_with_rows(numbers)};
      if (numbers.below(4) == 0) item.operands[0].mode = AccessMode::kIndirect;
      for (uint64_t count = numbers.below(3); count > 0; --count) {
        item.after.push_back(reference(numbers));
      }
      item.is_programmatic = numbers.below(4) == 0;
      item.queue = item.after.empty() ? queue(numbers) : "g";
      return item;
    }
  }
}

ItemDraft random_item(Numbers& numbers, bool has_order, bool has_queues) {
  if (has_queues && numbers.below(2) == 0) return random_queue_item(numbers);
  switch (numbers.below(18)) {
    case 0:
    case 1:
      return MemoryDraft{name(numbers), 1 + numbers.below(64), numbers.below(2) == 0};
    case 2:
    case 3:
    case 4:
      return tensor(numbers);
    case 5:
      return OutputDraft{{name(numbers)}};
    case 6:
      return barrier(numbers);
    case 7: {
      WitnessDraft item{reference(numbers),
                        {},
                        static_cast<DisplacementKind>(numbers.below(4)),
                        reference(numbers)};
      if (numbers.below(2) == 0) item.slices = std::pair<uint64_t, uint64_t>(0, 1);
      return item;
    }
    case 8: {
      ExpectDraft item{numbers.below(2) == 0 ? "" : "mlx-2024", numbers.below(4) == 0, {}, "", ""};
      if (item.is_clean) return item;
      const size_t kind = numbers.below(9);
      item.kind = kind < 8 ? static_cast<FindingKind>(kind) : FindingKind::kRedundant;
      item.first = reference(numbers);
      if (numbers.below(2) == 0) item.second = reference(numbers);
      return item;
    }
    case 9:
    case 10:
      return lifetime(numbers);
    case 11:
      return CaptureDraft{name(numbers)};
    case 12:
    case 13:
      return EndDraft{};
    case 14:
      return ReplayDraft{name(numbers)};
    default:
      return dispatch(numbers, has_order);
  }
}

TEST(RandomDrafts, RoundTripAndAgreeWithTheirOwnLines) {
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  lenient.reads_every_queue = true;
  size_t sync_count = 0;
  size_t item_count = 0;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(share_count(3000, 5, 30)); ++seed) {
    SCOPED_TRACE(seed);
    Numbers numbers(seed << 32);
    const bool has_order = numbers.below(2) == 0;
    const bool has_queues = numbers.below(2) == 0;
    ProgramBuilder builder = new_builder();
    std::string lines = "interlock 1\n";
    for (int i = 0; i < 40; ++i) {
      const ItemDraft item = random_item(numbers, has_order, has_queues);
      lines += print(item) + "\n";
      const bool fits = builder.add(item).has_value();
      item_count += fits ? 1 : 0;
      sync_count += fits && std::holds_alternative<SyncDraft>(item) ? 1 : 0;
    }
    builder.drop_open_capture();
    builder.drop_faulty_syncs();
    const std::string text = expect_round_trip(*builder.finish());
    // The lines as they were written say the same, whichever of them fit.
    const auto p = parse(lines, "p.ilk", lenient);
    ASSERT_TRUE(p) << p.error().message;
    ASSERT_EQ(print(*p), text) << lines;
    if (HasFailure()) return;
  }
  // Many of the items must fit, or nothing was tested: 40 are tried in each program.
  EXPECT_GE(item_count, static_cast<size_t>(share_count(20'000, 5, 30)));
  EXPECT_GE(sync_count, static_cast<size_t>(share_count(3'000, 5, 30)));
}

}  // namespace
}  // namespace interlock::random_drafts_test
