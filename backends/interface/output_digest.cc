#include "backends/interface/output_digest.h"

#include <span>

#include "encoder/program/hash.h"

namespace interlock {

uint64_t output_digest(const Program& program, const MemoryImage& image) {
  uint64_t digest = kFnv1aBasis;
  if (program.outputs.empty()) {
    for (const std::vector<uint8_t>& memory : image.memories) {
      digest = fnv1a(digest, memory);
    }
    return digest;
  }
  for (const TensorId id : program.outputs) {
    const Tensor& tensor = program.tensor(id);
    const std::span<const uint8_t> memory = image.memories[tensor.memory.index];
    digest = fnv1a(digest, memory.subspan(tensor.range.begin, tensor.range.size_bytes()));
  }
  return digest;
}

}  // namespace interlock
