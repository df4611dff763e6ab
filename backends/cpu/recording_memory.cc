// Offsets are unsigned 64-bit numbers that may have wrapped below zero in a wrong body; all checks
// here are written so that they cannot overflow.
#include "backends/cpu/recording_memory.h"

#include <algorithm>
#include <utility>

#include "backends/kernels/mix.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

bool contains(const StridedRange& range, uint64_t begin, uint64_t size_bytes) {
  if (begin < range.begin || range.run_count == 0) return false;
  const uint64_t offset = begin - range.begin;
  const uint64_t run = range.pitch_bytes == 0 ? 0 : offset / range.pitch_bytes;
  if (run >= range.run_count) return false;
  const uint64_t in_run = offset - run * range.pitch_bytes;
  return in_run <= range.run_bytes && size_bytes <= range.run_bytes - in_run;
}

// Grows the latest range where it can: bodies mostly touch ascending bytes.
void append(std::vector<TouchedRange>& ranges, TouchedRange range) {
  if (!ranges.empty() && ranges.back().begin <= range.begin && range.begin <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

void normalize(std::vector<TouchedRange>& ranges) {
  std::ranges::sort(ranges);
  std::vector<TouchedRange> joined;
  for (const TouchedRange& range : ranges) append(joined, range);
  ranges = std::move(joined);
}

}  // namespace

void RecordingMemory::begin_slice(DispatchId dispatch, std::span<const StridedRange> declared) {
  accesses_ = program_.accesses_of(dispatch);
  INTERLOCK_CHECK(declared.size() == accesses_.size());
  declared_ = declared;
  is_partial_ = program_.dispatch(dispatch).is_partial;
  has_undeclared_ = false;
  touches_.assign(accesses_.size(), {});
  kernel_ = &kernel_entry(program_.dispatch(dispatch).kernel);
  own_stores_.assign(accesses_.size(), {});
}

std::vector<OperandTouches> RecordingMemory::take_touches() {
  for (OperandTouches& operand : touches_) {
    normalize(operand.loaded);
    normalize(operand.stored);
    normalize(operand.undeclared_loads);
    normalize(operand.undeclared_stores);
  }
  return std::move(touches_);
}

bool RecordingMemory::streams(int operand) const {
  const auto position = static_cast<size_t>(operand);  // Rows are more than the operands.
  return position < kernel_->operands.size() && kernel_->operands[position].streams;
}

bool RecordingMemory::has_stored(int operand, int64_t begin, int64_t end) const {
  const std::vector<TouchedRange>& stores = own_stores_[static_cast<size_t>(operand)];
  return std::any_of(stores.begin(), stores.end(), [&](const TouchedRange& range) {
    return range.begin <= begin && end <= range.end;
  });
}

bool RecordingMemory::declares(int operand, uint64_t offset, uint64_t size_bytes,
                               Touch touch) const {
  const Access& declared = access(operand);
  bool allows = false;
  switch (touch) {
    // A partial write keeps what was there, so it may look at it. One that streams may look at what
    // the slice has left there.
    case Touch::kLoad:
      allows = declared.reads_plainly() || (declared.writes_plainly() && is_partial_) ||
               (streams(operand) && has_stored(operand, static_cast<int64_t>(offset),
                                               static_cast<int64_t>(offset + size_bytes)));
      break;
    case Touch::kStore:
      allows = declared.writes_plainly();
      break;
    case Touch::kAtomic:
      allows = declared.is_atomic();
      break;
  }
  // A wrapped offset would come back as a small one.
  const bool is_in_operand =
      offset <= declared.range.size_bytes() && size_bytes <= declared.range.size_bytes() - offset;
  return allows && is_in_operand &&
         contains(declared_[static_cast<size_t>(operand)], declared.range.begin + offset,
                  size_bytes);
}

void RecordingMemory::record(int operand, uint64_t offset, uint64_t size_bytes, Touch touch) {
  const bool is_declared = declares(operand, offset, size_bytes, touch);
  const bool is_own_store = is_declared && touch == Touch::kStore && streams(operand);
  if (is_declared && !records_all_ && !is_own_store) return;
  const int64_t begin = static_cast<int64_t>(offset);
  const TouchedRange range{
      begin, begin > INT64_MAX - 8 ? INT64_MAX : begin + static_cast<int64_t>(size_bytes)};
  if (is_own_store) append(own_stores_[static_cast<size_t>(operand)], range);
  OperandTouches& touches = touches_[static_cast<size_t>(operand)];
  if (records_all_ && touch != Touch::kStore) append(touches.loaded, range);
  if (records_all_ && touch != Touch::kLoad) append(touches.stored, range);
  if (is_declared) return;
  has_undeclared_ = true;
  append(touch == Touch::kLoad ? touches.undeclared_loads : touches.undeclared_stores, range);
}

// Null outside the memory of the operand.
uint8_t* RecordingMemory::byte_at(int operand, uint64_t offset) {
  std::vector<uint8_t>& memory = image_.memories[access(operand).memory.index];
  // Wraps on purpose: an offset below the operand may still be in its memory.
  const uint64_t address = access(operand).range.begin + offset;
  return address < memory.size() ? &memory[address] : nullptr;
}

void RecordingMemory::load(int operand, uint64_t offset, void* value, uint64_t size_bytes) {
  record(operand, offset, size_bytes, Touch::kLoad);
  auto* bytes = static_cast<uint8_t*>(value);
  for (uint64_t i = 0; i < size_bytes; ++i) {
    const uint8_t* byte = byte_at(operand, offset + i);
    bytes[i] = byte == nullptr ? 0 : *byte;
  }
}

void RecordingMemory::store(int operand, uint64_t offset, const void* value, uint64_t size_bytes) {
  record(operand, offset, size_bytes, Touch::kStore);
  const auto* bytes = static_cast<const uint8_t*>(value);
  for (uint64_t i = 0; i < size_bytes; ++i) {
    uint8_t* byte = byte_at(operand, offset + i);
    if (byte != nullptr) *byte = bytes[i];
  }
}

void RecordingMemory::atomic_byte(int operand, uint64_t offset, AtomicOp op, uint8_t value) {
  record(operand, offset, 1, Touch::kAtomic);
  uint8_t* byte = byte_at(operand, offset);
  if (byte != nullptr) *byte = atomic_result(op, *byte, value);
}

}  // namespace interlock
