// The basic idea is that validity is a matter of bytes: whatever way an output finds its place (in
// place, donated, in a reused slot, fresh), can_write() has the last word, and whoever loses its
// bytes to a new value dies and is read no more.
#include "fuzz/generate/program_sketch.h"

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

constexpr uint64_t kMemoryCountMax = 8;
constexpr uint64_t kMemoryBytesMax = 4096;  // Of a memory as first drawn; it may grow.

uint64_t align_up(uint64_t n, uint64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

}  // namespace

ProgramSketch::ProgramSketch(Choice& choice, const Swarm& swarm, const GeneratorOptions& options,
                             FeatureCounts* counts)
    : choice_(&choice), swarm_(&swarm), options_(options), counts_(counts) {
  // Room for most programs.
  tensors_.reserve(48);
  origins_.reserve(48);
  statements_.reserve(options_.max_dispatches);
  operands_.reserve(96);
  candidates_.reserve(48);
  memories_.reserve(kMemoryCountMax);
  const uint64_t count = options_.gives_roots_own_memories ? 1 : 1 + choice.below(kMemoryCountMax);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t size_bytes = 64 + 4 * choice.below(kMemoryBytesMax / 16);
    const bool is_scratch = swarm.draws(Feature::kScratch, choice);
    if (is_scratch) note(Feature::kScratch);
    add_memory(size_bytes, is_scratch);
  }
}

void ProgramSketch::note(Feature feature) {
  if (counts_ != nullptr) ++counts_->counts[static_cast<size_t>(feature)];
}

// Recent ones are more likely than old ones, or the other way round, as the program likes it.
SketchTensorIndex ProgramSketch::pick_index(size_t count) {
  const uint64_t a = choice_->below(count);
  if (swarm_->has(Feature::kManyReaders)) return std::min(a, choice_->below(count));
  return std::max(a, choice_->below(count));
}

SketchTensorIndex ProgramSketch::add_tensor(const SketchOrigin& origin,
                                            const SketchTensor& tensor) {
  tensors_.push_back(tensor);
  origins_.push_back(origin);
  return tensors_.size() - 1;
}

uint32_t ProgramSketch::add_memory(uint64_t size_bytes, bool is_scratch) {
  memories_.push_back({.size_bytes = size_bytes, .is_scratch = is_scratch});
  return static_cast<uint32_t>(memories_.size() - 1);
}

uint32_t ProgramSketch::memory_with_room(uint64_t size_bytes) {
  const bool is_first = tensors_.empty();
  if (options_.gives_roots_own_memories && !is_first) return add_memory(size_bytes, false);
  return static_cast<uint32_t>(choice_->below(memories_.size()));
}

SketchTensorIndex ProgramSketch::make_fresh(SketchShape shape, DType dtype, bool has_value) {
  const uint64_t size_bytes = shape.size_bytes(dtype);
  const uint32_t memory = memory_with_room(size_bytes);
  const uint64_t begin = align_up(memories_[memory].used_bytes, size_bytes_of(dtype));
  memories_[memory].used_bytes = begin + size_bytes;
  memories_[memory].size_bytes = std::max(memories_[memory].size_bytes, begin + size_bytes);
  SketchOrigin origin{.placement = Placement::kPlaced, .offset_bytes = begin};
  if (has_value) {
    origin.initial_kind = InitialKind::kIota;  // Random values are f32.
    if (dtype == DType::kF32) {
      origin.initial_kind = InitialKind::kRandom;
      origin.initial_seed = next_seed_++;
    }
    if (swarm_->draws(Feature::kInitialValues, *choice_)) {
      note(Feature::kInitialValues);
      origin.initial_seed = 0;
      origin.initial_kind = choice_->chance(1, 3)   ? InitialKind::kZeros
                            : choice_->chance(1, 2) ? InitialKind::kOnes
                                                    : InitialKind::kIota;
    }
  }
  return add_tensor(origin, {dtype, shape, memory, {begin, begin + size_bytes}, false, has_value});
}

template <typename Fits>
void ProgramSketch::find_readable(Fits fits) {
  // Without branches: which of them fit is as good as random.
  candidates_.resize(tensors_.size());
  size_t count = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    candidates_[count] = i;
    const bool is_candidate = is_readable(tensors_[i]);
    const bool does_fit = fits(tensors_[i]);
    count += size_t{is_candidate} & size_t{does_fit};
  }
  candidates_.resize(count);
}

std::optional<SketchTensorIndex> ProgramSketch::make_view(SketchShape shape, DType dtype) {
  const uint64_t size_bytes = shape.size_bytes(dtype);
  find_readable([&](const SketchTensor& t) {
    return (t.dtype == dtype) & (t.range.size_bytes() >= size_bytes);
  });
  if (candidates_.empty()) return std::nullopt;
  const SketchTensorIndex source = candidates_[pick_index(candidates_.size())];
  const SketchTensor& s = tensors_[source];
  const uint64_t room_elements = (s.range.size_bytes() - size_bytes) / 4;
  const uint64_t offset_bytes = 4 * choice_->below(room_elements + 1);
  const uint64_t begin = s.range.begin + offset_bytes;
  note(Feature::kView);
  return add_tensor({.placement = Placement::kView, .base = source, .offset_bytes = offset_bytes},
                    {dtype, shape, s.memory, {begin, begin + size_bytes}, true, s.is_input});
}

SketchTensorIndex ProgramSketch::pick_input(SketchShape shape, DType dtype) {
  if (swarm_->draws(Feature::kView, *choice_)) {
    if (const auto view = make_view(shape, dtype)) return *view;
  }
  const bool wants_new = choice_->chance(1, 6);
  if (wants_new) return make_fresh(shape, dtype, true);
  find_readable([&](const SketchTensor& t) {
    return (t.dtype == dtype) & (t.shape.rows == shape.rows) & (t.shape.cols == shape.cols);
  });
  if (candidates_.empty()) return make_fresh(shape, dtype, true);
  return candidates_[pick_index(candidates_.size())];
}

SketchTensorIndex ProgramSketch::pick_any_input() {
  find_readable([](const SketchTensor&) { return true; });
  if (candidates_.empty() || choice_->chance(1, 8)) {
    const DType dtype = choice_->chance(1, 2)   ? DType::kF32
                        : choice_->chance(1, 2) ? DType::kU8
                                                : DType::kI32;
    return make_fresh({0, 1 + choice_->below(32)}, dtype, true);
  }
  return candidates_[pick_index(candidates_.size())];
}

bool ProgramSketch::can_write(const std::vector<SketchOperand>& operands,
                              const OperandPositions& in_place, uint32_t memory, ByteRange range) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const SketchOperand& o = operands[i];
    if (o.memory != memory || !share_a_byte(o.range, range)) continue;
    if (!in_place.contains(i) || o.mode != AccessMode::kRead || o.range != range) return false;
  }
  return true;
}

void ProgramSketch::kill_overlapping(uint32_t memory, ByteRange range) {
  for (SketchTensor& t : tensors_) {
    if (t.memory == memory && share_a_byte(t.range, range)) t.is_alive = false;
  }
}

SketchTensorIndex ProgramSketch::donate(SketchTensorIndex source, SketchShape shape, DType dtype) {
  const SketchTensor s = tensors_[source];
  const uint64_t size_bytes = shape.size_bytes(dtype);
  kill_overlapping(s.memory, s.range);
  note(Feature::kDonation);
  return add_tensor({.placement = Placement::kDonation, .base = source},
                    {dtype, shape, s.memory, {s.range.begin, s.range.begin + size_bytes}});
}

std::optional<SketchTensorIndex> ProgramSketch::take_in_place(
    SketchShape shape, DType dtype, const std::vector<SketchOperand>& operands,
    const OperandPositions& in_place) {
  const SketchOperand& o = operands[in_place[choice_->below(in_place.size())]];
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const SketchTensor& t = tensors_[i];
    const bool is_it = t.is_alive && t.memory == o.memory && t.range == o.range && o.tensor == i &&
                       t.shape == shape && t.dtype == dtype;
    if (!is_it || !can_write(operands, in_place, t.memory, t.range)) continue;
    note(Feature::kInPlace);
    if (!t.is_view && choice_->chance(1, 2)) return donate(i, shape, dtype);
    return i;
  }
  return std::nullopt;
}

std::optional<SketchTensorIndex> ProgramSketch::reuse_slot(
    SketchShape shape, DType dtype, const std::vector<SketchOperand>& operands) {
  if (tensors_.empty()) return std::nullopt;
  const SketchTensor& slot = tensors_[choice_->below(tensors_.size())];
  const uint64_t size_bytes = shape.size_bytes(dtype);
  uint64_t begin = slot.range.begin;
  if (options_.gives_roots_own_memories) {
    begin = 0;
  } else if (choice_->chance(1, 2)) {
    begin += choice_->below(slot.range.size_bytes());
  }
  begin = align_up(begin, size_bytes_of(dtype));
  const uint32_t memory = slot.memory;
  const ByteRange range{begin, begin + size_bytes};
  if (range.end > memories_[memory].size_bytes || !can_write(operands, {}, memory, range)) {
    return std::nullopt;
  }
  kill_overlapping(memory, range);
  memories_[memory].used_bytes = std::max(memories_[memory].used_bytes, range.end);
  note(Feature::kSlotReuse);
  return add_tensor({.placement = Placement::kPlaced, .offset_bytes = begin},
                    {dtype, shape, memory, range});
}

SketchTensorIndex ProgramSketch::pick_output(SketchShape shape, DType dtype,
                                             const std::vector<SketchOperand>& operands,
                                             const OperandPositions& in_place) {
  if (is_quiet_) {
    note(Feature::kManyOutputs);
    return make_fresh(shape, dtype, false);
  }
  if (!in_place.empty() && swarm_->draws(Feature::kInPlace, *choice_)) {
    if (const auto taken = take_in_place(shape, dtype, operands, in_place)) return *taken;
  }
  const uint64_t size_bytes = shape.size_bytes(dtype);
  if (!tensors_.empty() && swarm_->draws(Feature::kDonation, *choice_)) {
    const SketchTensorIndex source = pick_index(tensors_.size());
    const SketchTensor& s = tensors_[source];
    const ByteRange range{s.range.begin, s.range.begin + size_bytes};
    const bool can_donate = s.is_alive && !s.is_view && s.range.size_bytes() >= size_bytes &&
                            s.range.begin % size_bytes_of(dtype) == 0;
    if (can_donate && can_write(operands, {}, s.memory, range)) return donate(source, shape, dtype);
  }
  if (swarm_->draws(Feature::kSlotReuse, *choice_)) {
    if (const auto reused = reuse_slot(shape, dtype, operands)) return *reused;
  }
  // Write an existing value again; long runs of independent writers would end with it.
  if (!swarm_->has(Feature::kManyOutputs) && !tensors_.empty() && choice_->chance(1, 4)) {
    const SketchTensorIndex old = pick_index(tensors_.size());
    const SketchTensor& t = tensors_[old];
    if (t.is_alive && t.shape == shape && t.dtype == dtype &&
        can_write(operands, {}, t.memory, t.range)) {
      return old;
    }
  }
  return make_fresh(shape, dtype, false);
}

SketchOperand ProgramSketch::operand(AccessMode mode, SketchTensorIndex tensor) const {
  const SketchTensor& t = tensors_[tensor];
  return {mode, t.memory, t.range, tensor};
}

void ProgramSketch::read(std::vector<SketchOperand>& operands, SketchShape shape, DType dtype) {
  constexpr size_t kOperandsTypical = 4;
  if (operands.empty()) operands.reserve(kOperandsTypical);
  operands.push_back(operand(AccessMode::kRead, pick_input(shape, dtype)));
}

void ProgramSketch::write(std::vector<SketchOperand>& operands, SketchShape shape,
                          const OperandPositions& in_place) {
  const SketchTensorIndex tensor = pick_output(shape, DType::kF32, operands, in_place);
  operands.push_back(operand(AccessMode::kWrite, tensor));
}

SketchOperand ProgramSketch::pick_range(AccessMode mode, uint64_t alignment_bytes) {
  uint32_t memory = static_cast<uint32_t>(choice_->below(memories_.size()));
  const uint64_t longest = choice_->chance(1, 4) ? 256 : 16;
  ByteRange range;
  range.begin = choice_->below(memories_[memory].size_bytes);
  range.end = range.begin + 1 + choice_->below(longest);
  if (!operands_.empty() && swarm_->draws(Feature::kTinyOverlap, *choice_)) {
    note(Feature::kTinyOverlap);
    const SketchOperand& used = operands_[pick_index(operands_.size())];
    memory = used.memory;
    const uint64_t length = 1 + choice_->below(longest);
    const uint64_t first = used.range.begin;
    const uint64_t last = std::max(used.range.end, first + 1) - 1;
    switch (choice_->below(5)) {
      case 0:  // Shares the last byte.
        range = {last, last + length};
        break;
      case 1:  // Touches the end.
        range = {last + 1, last + 1 + length};
        break;
      case 2:  // Shares the first byte.
        range = {first + 1 - std::min(first + 1, length), first + 1};
        break;
      case 3:  // Touches the begin.
        range = {first - std::min(first, length), first};
        break;
      default:  // The same bytes.
        range = used.range;
    }
  } else if (swarm_->draws(Feature::kEmptyRange, *choice_)) {
    note(Feature::kEmptyRange);
    range.end = range.begin;
  }
  const uint64_t size_bytes = memories_[memory].size_bytes / alignment_bytes * alignment_bytes;
  range.begin = std::min(range.begin / alignment_bytes * alignment_bytes, size_bytes);
  range.end = std::min(align_up(range.end, alignment_bytes), size_bytes);
  range.end = std::max(range.begin, range.end);
  return {mode, memory, range, std::nullopt};
}

void ProgramSketch::emit(std::string_view kernel, const std::vector<SketchOperand>& operands,
                         Attributes attributes, bool is_partial) {
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  statements_.push_back({.is_dispatch = true,
                         .kernel = kernel,
                         .operands_end = operands_.size(),
                         .attributes = std::move(attributes),
                         .is_partial = is_partial});
  ++dispatch_count_;
}

void ProgramSketch::emit_barrier(BarrierKind kind) { statements_.push_back({.barrier = kind}); }

}  // namespace interlock
