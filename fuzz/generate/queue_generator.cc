// The idea: few bytes and few places, so that most operands touch and most dependencies meet
// something.
#include "fuzz/generate/queue_generator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "encoder/program/words.h"
#include "fuzz/generate/queue_sketch.h"

namespace interlock {
namespace {

constexpr std::string_view kQueueFeatureWords[] = {
    // By QueueFeature.
    "concurrent",
    "serial",
    "serial-blocking",
    "legacy-default",
    "graph",
    "copies",
    "uniforms",
    "indirect",
    "updates",
    "atomics",
    "partial",
    "rows",
    "tensors",
    "edges",
    "programmatic",
    "graphics",
    "opaque-copies",
    "approximate",
    "host-reads",
    "host-writes",
    "host-values",
    "host-flushes",
    "host-invalidates",
    "host-idle",
    "host-waits",
    "host-signals",
    "unified",
    "noncoherent",
    "full-barriers",
    "execution",
    "scopes",
    "operands",
    "events",
    "submits",
    "splits",
    "signals",
    "batches",
    "waits",
    "stages",
    "binary",
    "initial",
    "handoffs",
    "early-waits",
    "from-outside",
    "transitions",
    "discards",
    "free",
    "destroy",
    "ends-on-queues",
    "pin",
    "unpin",
    "reset",
    "adopt",
    "order",
    "captures",
    "replays",
    "launches"};
static_assert(std::size(kQueueFeatureWords) == kQueueFeatureCount);

constexpr QueueKind kQueueKinds[] = {QueueKind::kConcurrent, QueueKind::kSerial,
                                     QueueKind::kSerialBlocking, QueueKind::kLegacyDefault,
                                     QueueKind::kGraph};

}  // namespace

std::string_view word_of(QueueFeature feature) { return word_in(kQueueFeatureWords, feature); }

QueueSketch::QueueSketch(Choice& choice, const QueueGeneratorOptions& options,
                         QueueFeatureCounts* counts)
    : choice_(choice), options_(options), counts_(counts) {
  draw_features();
  add_memories();
  if (options_.ends_values && chance(1, 3)) add_tensors();
  add_queues();
  add_semaphores();
}

void QueueSketch::note(QueueFeature feature) {
  if (counts_ != nullptr) ++counts_->counts[static_cast<size_t>(feature)];
}

void QueueSketch::note_queue(size_t queue) {
  note(static_cast<QueueFeature>(static_cast<size_t>(QueueFeature::kConcurrent) +
                                 static_cast<size_t>(queues_[queue].kind)));
}

void QueueSketch::add_memories() {
  const auto add = [&](MemoryDraft memory) {
    memory.size_bytes = options_.memory_bytes;
    memories_.push_back(memory.name);
    draft_.items.emplace_back(std::move(memory));
  };
  add({"m"});
  if (!chance(1, 2)) return;
  MemoryDraft other{"n"};
  switch (choice_.below(4)) {
    case 1:
      note(QueueFeature::kUnified);
      other.is_unified = true;
      has_host_ = true;
      break;
    case 2:
    case 3:
      note(QueueFeature::kNoncoherent);
      other.atom_bytes = chance(1, 2) ? 4 : 2;
      has_noncoherent_ = true;
      has_host_ = true;
      break;
    default:
      break;
  }
  add(std::move(other));
}

void QueueSketch::add_tensors() {
  const uint64_t count = 1 + choice_.below(3);
  for (uint64_t i = 0; i < count; ++i) {
    TensorDraft tensor;
    tensor.name = fmt::format("t{}", i);
    tensor.dtype = DType::kU8;
    const uint64_t size_bytes = 1 + choice_.below(3);
    tensor.shape = {size_bytes};
    tensor.base = one_of(memories_);
    tensor.offset_bytes = choice_.below(options_.memory_bytes - size_bytes + 1);
    const bool is_free_of_others = std::ranges::none_of(tensors_, [&](const TensorDraft& other) {
      return other.base == tensor.base && other.offset_bytes < tensor.offset_bytes + size_bytes &&
             tensor.offset_bytes < other.offset_bytes + other.shape[0];
    });
    // At most one value is stated for a byte.
    if (is_free_of_others && chance(3, 4)) {
      tensor.initial.kind = chance(1, 2) ? InitialKind::kOnes : InitialKind::kIota;
    }
    note(QueueFeature::kTensors);
    tensors_.push_back(tensor);
    is_ended_.push_back(false);
    draft_.items.emplace_back(std::move(tensor));
  }
  if (chance(1, 4)) draft_.items.emplace_back(OutputDraft{{one_of(tensors_).name}});
}

void QueueSketch::add_queues() {
  const uint64_t count = 1 + choice_.below(options_.queue_count_max);
  const bool is_uniform = chance(1, 3);
  const QueueKind common = one_of(kQueueKinds);
  for (uint64_t q = 0; q < count; ++q) {
    const QueueKind drawn = chance(1, 2) ? QueueKind::kConcurrent : one_of(kQueueKinds);
    queues_.push_back({fmt::format("q{}", q), is_uniform ? common : drawn});
    note_queue(q);
    draft_.items.emplace_back(queues_.back());
  }
  events_.resize(queues_.size());
}

OperandDraft QueueSketch::range_in(const std::string& memory, uint64_t size_bytes) {
  const uint64_t begin = choice_.below(options_.memory_bytes - size_bytes + 1);
  return {AccessMode::kRead, memory, ByteRange{begin, begin + size_bytes}};
}

// Two rows of a byte or two.
OperandDraft QueueSketch::rows_in(const std::string& memory) {
  note(QueueFeature::kRows);
  const uint64_t width = 1 + choice_.below(2);
  const uint64_t pitch = width + choice_.below(3);
  OperandDraft operand = range_in(memory, pitch + width);
  operand.stride = StrideDraft{2, pitch, width};
  return operand;
}

OperandDraft QueueSketch::operand_in(const std::string& memory, uint64_t size_bytes_max) {
  if (has_rows_ && chance(1, 4)) return rows_in(memory);
  const uint64_t size_bytes = 1 + choice_.below(size_bytes_max);
  return range_in(memory, size_bytes);
}

OperandDraft QueueSketch::operand(AccessMode mode) {
  if (!tensors_.empty() && chance(1, 2)) return {mode, one_of(tensors_).name};
  OperandDraft operand = operand_in(one_of(memories_), 3);
  operand.mode = mode;
  return operand;
}

// At least one, in their order.
void QueueSketch::add_opaque_operands(DispatchDraft& dispatch) {
  const bool has_atomic = has_atomics_ && chance(1, 3);
  const auto add = [&](AccessMode mode) { dispatch.operands.push_back(operand(mode)); };
  while (dispatch.operands.empty()) {
    if (has_indirect_ && chance(1, 3)) {
      note(QueueFeature::kIndirect);
      add(AccessMode::kIndirect);
    }
    if (has_uniforms_ && chance(1, 3)) {
      note(QueueFeature::kUniforms);
      add(AccessMode::kUniform);
    }
    if (chance(1, 2)) add(AccessMode::kRead);
    if (chance(1, 2)) add(AccessMode::kWrite);
    if (chance(1, 5)) {
      note(QueueFeature::kUpdates);
      add(AccessMode::kUpdate);
    }
    if (has_atomic) {
      note(QueueFeature::kAtomics);
      add(AccessMode::kAtomic);
    }
  }
  if (has_atomic) dispatch.attributes.emplace_back("atomic", chance(1, 2) ? "add" : "max");
  if (has_partial_ && chance(1, 3)) {
    note(QueueFeature::kPartial);
    dispatch.is_partial = true;
  }
}

void QueueSketch::add_bytewise_operands(DispatchDraft& dispatch) {
  note(QueueFeature::kCopies);
  const uint64_t size_bytes = 1 + choice_.below(3);
  const auto add = [&](AccessMode mode) {
    OperandDraft operand = range_in(one_of(memories_), size_bytes);
    operand.mode = mode;
    dispatch.operands.push_back(std::move(operand));
  };
  dispatch.kernel = chance(1, 2) ? "copy" : "fill";
  if (dispatch.kernel == "copy") add(AccessMode::kRead);
  add(AccessMode::kWrite);
  if (dispatch.kernel == "fill") dispatch.attributes.emplace_back("value", "7");
}

void QueueSketch::add_edges(DispatchDraft& dispatch) {
  for (const std::string& node : nodes_) {
    if (chance(1, 2)) dispatch.after.push_back(node);
  }
  if (dispatch.after.empty()) return;
  note(QueueFeature::kEdges);
  if (!chance(1, 4)) return;
  note(QueueFeature::kProgrammatic);
  dispatch.is_programmatic = true;
}

void QueueSketch::add_host_access(std::string label) {
  HostAccessDraft access;
  access.label = std::move(label);
  const bool reads = chance(1, 2);
  note(reads ? QueueFeature::kHostReads : QueueFeature::kHostWrites);
  access.access = reads ? HostAccess::kReads : HostAccess::kWrites;
  access.operands = {operand(reads ? AccessMode::kRead : AccessMode::kWrite)};
  // Elements of a tensor; of raw bytes they would be wider than these few.
  const bool is_of_tensor = !access.operands[0].slice.has_value();
  if (!reads && is_of_tensor && chance(1, 2)) {
    note(QueueFeature::kHostValues);
    access.value.kind = InitialKind::kOnes;
    access.dtype = DType::kU8;
  } else if (has_approximate_ && chance(1, 2)) {
    note(QueueFeature::kApproximate);
    access.is_approximate = true;
  }
  draft_.items.emplace_back(std::move(access));
}

void QueueSketch::add_operation() {
  std::string label = fmt::format("d{}", operation_count_++);
  if (has_host_ && chance(1, 3)) return add_host_access(std::move(label));
  const size_t queue = draw_queue();
  DispatchDraft dispatch;
  dispatch.label = label;
  dispatch.kernel = "Work";
  dispatch.queue = name_of(queue);
  if (has_copies_ && chance(1, 2)) {
    add_bytewise_operands(dispatch);
  } else if (has_images_ && chance(1, 4)) {
    note(QueueFeature::kOpaqueCopies);
    dispatch.stage = Stage::kCopy;
    dispatch.operands = {operand(AccessMode::kRead), operand(AccessMode::kWrite)};
  } else {
    add_opaque_operands(dispatch);
    if (has_images_ && chance(1, 2)) {
      note(QueueFeature::kGraphics);
      dispatch.stage = Stage::kGraphics;
    }
  }
  if (has_approximate_ && dispatch.kernel == "Work" && chance(1, 2)) {
    note(QueueFeature::kApproximate);
    dispatch.is_approximate = true;
  }
  if (is_graph(queue)) {
    add_edges(dispatch);
    nodes_.push_back(std::move(label));
  }
  draft_.items.emplace_back(std::move(dispatch));
}

ProgramDraft QueueSketch::finish() { return std::move(draft_); }

ProgramDraft generate_queues(Choice& choice, const QueueGeneratorOptions& options,
                             QueueFeatureCounts* counts) {
  QueueSketch sketch(choice, options, counts);
  uint64_t operations_left = 2 + choice.below(options.operation_count_max - 1);
  uint64_t syncs_left = choice.below(options.sync_count_max + 1);
  while (operations_left > 0) {
    if (syncs_left > 0 && choice.chance(syncs_left, syncs_left + operations_left)) {
      sketch.add_sync();
      --syncs_left;
    } else {
      sketch.add_operation();
      --operations_left;
    }
  }
  sketch.add_missing_signals();
  return sketch.finish();
}

}  // namespace interlock
