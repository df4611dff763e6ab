// The bytes before the first dispatch. Every byte has a value, also those that nobody initialized:
// they are external input, or poison that nobody should read, and both must be the same each time.
#include "backends/interface/image.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "encoder/program/error_of.h"
#include "encoder/program/hash.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// In [-1, 1), a multiple of 2^-23: exact.
float unit_f32(uint64_t random) { return static_cast<float>(random >> 40) * 0x1p-23f - 1.0f; }

// Words are finite f32 values, so that a kernel that reads them makes no NaN.
void fill_with_pattern(std::vector<uint8_t>& bytes, uint64_t name_hash) {
  const uint64_t word_count = bytes.size() / sizeof(float);
  for (uint64_t word = 0; word < word_count; ++word) {
    if (is_stopped_at(word)) return;
    const float value = unit_f32(splitmix64(name_hash + word));
    std::memcpy(&bytes[word * sizeof(float)], &value, sizeof value);
  }
  const uint64_t rest_bytes = bytes.size() % sizeof(float);
  const float last = unit_f32(splitmix64(name_hash + word_count));
  if (rest_bytes > 0) std::memcpy(&bytes[word_count * sizeof(float)], &last, rest_bytes);
}

template <typename T, typename ValueAt>
void store_each(std::span<uint8_t> bytes, const ValueAt& value_at) {
  for (uint64_t k = 0; k < bytes.size() / sizeof(T); ++k) {
    if (is_stopped_at(k)) return;
    const T element = value_at(k);
    std::memcpy(&bytes[k * sizeof(T)], &element, sizeof element);
  }
}

template <typename T, typename FromRandom>
void store_elements(std::span<uint8_t> bytes, const InitialValue& value,
                    const FromRandom& from_random) {
  const uint64_t first_seed = value.seed << 32;
  switch (value.kind) {
    case InitialKind::kRandom:
      return store_each<T>(bytes,
                           [&](uint64_t k) { return from_random(splitmix64(first_seed + k)); });
    case InitialKind::kOnes:
      return store_each<T>(bytes, [](uint64_t) { return T{1}; });
    case InitialKind::kIota:
      return store_each<T>(bytes, [](uint64_t k) { return static_cast<T>(k); });
    case InitialKind::kValues:
      return store_each<T>(bytes, [&](uint64_t k) { return static_cast<T>(value.values[k]); });
    case InitialKind::kNone:
    case InitialKind::kZeros:
      return store_each<T>(bytes, [](uint64_t) { return T{0}; });
  }
}

}  // namespace

void store_value(std::span<uint8_t> bytes, DType dtype, const InitialValue& value) {
  switch (dtype) {
    case DType::kF32:
      return store_elements<float>(bytes, value, unit_f32);
    case DType::kI32:
      return store_elements<int32_t>(
          bytes, value, [](uint64_t random) { return static_cast<int32_t>(random >> 32); });
    case DType::kU8:
      return store_elements<uint8_t>(
          bytes, value, [](uint64_t random) { return static_cast<uint8_t>(random >> 56); });
  }
}

Result<MemoryImage> initial_image(const Program& program, uint64_t limit_bytes) {
  uint64_t size_bytes = 0;
  for (const Memory& memory : program.memories) {
    if (memory.size_bytes > limit_bytes - size_bytes) {
      return error_of(
          "Running this program needs more than {} bytes, the execution limit: memory '{}' has {} bytes, and those before it {} in all.",
          limit_bytes, program.name(memory.name), memory.size_bytes, size_bytes);
    }
    size_bytes += memory.size_bytes;
  }
  MemoryImage image;
  image.memories.reserve(program.memories.size());
  for (const Memory& memory : program.memories) {
    std::vector<uint8_t>& bytes = image.memories.emplace_back(memory.size_bytes);
    fill_with_pattern(bytes, fnv1a(program.name(memory.name)));
  }
  for (const Tensor& tensor : program.tensors) {
    if (tensor.initial.kind == InitialKind::kNone) continue;
    const std::span<uint8_t> memory = image.memories[tensor.memory.index];
    store_value(memory.subspan(tensor.range.begin, tensor.range.size_bytes()), tensor.dtype,
                tensor.initial);
  }
  if (is_stopped()) return Error{"The run was stopped."};
  return image;
}

uint64_t output_digest(const Program& program, const MemoryImage& image) {
  uint64_t digest = kFnv1aBasis;
  if (program.outputs.empty()) {
    for (const std::vector<uint8_t>& memory : image.memories) {
      digest = fnv1a(digest, memory);
    }
  }
  for (const TensorId id : program.outputs) {
    const Tensor& tensor = program.tensor(id);
    const std::span<const uint8_t> memory = image.memories[tensor.memory.index];
    digest = fnv1a(digest, memory.subspan(tensor.range.begin, tensor.range.size_bytes()));
  }
  for (const std::vector<uint8_t>& read : image.host_reads) digest = fnv1a(digest, read);
  return digest;
}

}  // namespace interlock
