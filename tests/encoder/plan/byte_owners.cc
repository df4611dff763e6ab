#include "tests/encoder/plan/byte_owners.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace interlock {
namespace {

// Who wrote a byte: a dispatch through an operand, or whoever gave the program its initial values.
struct Writer {
  enum Kind : uint8_t { kNobody, kMemory, kTensor, kDispatch } kind = kNobody;
  uint64_t who = 0;
  uint64_t operand = 0;
  uint64_t byte = 0;  // Of what it wrote.

  bool operator==(const Writer&) const = default;
};

std::string name_of(const Program& program, TensorId id) {
  return std::string(program.name(program.tensor(id).name));
}

// A program whose bytes hold who wrote them.
class Bytes {
 public:
  // Names, which a plan keeps, number the tensors and the memories.
  Bytes(const Program& program, std::map<std::string, uint64_t>& numbers) : program_(program) {
    for (const Memory& memory : program.memories) bytes_.emplace_back(memory.size_bytes);
    for (size_t m = 0; m < program.memories.size(); ++m) {
      const Memory& memory = program.memories[m];
      const std::string name = "memory " + std::string(program.name(memory.name));
      // A memory that only one of the two has belongs to values, which nobody has written yet.
      if (numbers.count(name) == 0) continue;
      for (uint64_t i = 0; i < memory.size_bytes; ++i) {
        bytes_[m][i] = {Writer::kMemory, numbers[name], 0, i};
      }
    }
    for (const Tensor& tensor : program.tensors) {
      if (tensor.initial.kind == InitialKind::kNone) continue;
      const uint64_t who = numbers.emplace(program.name(tensor.name), numbers.size()).first->second;
      for (uint64_t i = tensor.range.begin; i < tensor.range.end; ++i) {
        bytes_[tensor.memory.index][i] = {Writer::kTensor, who, 0, i - tensor.range.begin};
      }
    }
  }

  const Writer& at(MemoryId memory, uint64_t byte) const { return bytes_[memory.index][byte]; }

  void write(size_t dispatch) {
    const auto accesses = program_.accesses_of(program_.dispatches[dispatch]);
    for (size_t o = 0; o < accesses.size(); ++o) {
      if (accesses[o].only_reads()) continue;
      for (uint64_t i = accesses[o].range.begin; i < accesses[o].range.end; ++i) {
        bytes_[accesses[o].memory.index][i] = {Writer::kDispatch, dispatch, o,
                                               i - accesses[o].range.begin};
      }
    }
  }

 private:
  const Program& program_;
  std::vector<std::vector<Writer>> bytes_;  // By memory.
};

}  // namespace

std::string first_clobber(const Program& program, const Program& planned) {
  std::map<std::string, uint64_t> numbers;
  for (const Memory& memory : program.memories) {
    if (memory.is_implicit) continue;
    numbers.emplace("memory " + std::string(program.name(memory.name)), numbers.size());
  }
  Bytes expected(program, numbers);
  Bytes found(planned, numbers);
  const auto differs = [&](MemoryId memory, ByteRange range, MemoryId other, ByteRange place) {
    for (uint64_t i = 0; i < range.size_bytes(); ++i) {
      if (expected.at(memory, range.begin + i) != found.at(other, place.begin + i)) return true;
    }
    return false;
  };
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    const auto accesses = program.accesses_of(program.dispatches[d]);
    const auto places = planned.accesses_of(planned.dispatches[d]);
    for (size_t o = 0; o < accesses.size(); ++o) {
      // A partial write leaves bytes as they were: they are part of its result.
      const bool reads = accesses[o].mode != AccessMode::kWrite || program.dispatches[d].is_partial;
      if (reads &&
          differs(accesses[o].memory, accesses[o].range, places[o].memory, places[o].range)) {
        return "dispatch " + std::to_string(d) + " reads " + program.text_of(accesses[o]);
      }
    }
    expected.write(d);
    found.write(d);
  }
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    const TensorId id(t);
    bool is_live = program.outputs.empty();
    for (const TensorId output : program.outputs) is_live |= output == id;
    if (!is_live) continue;
    for (size_t p = 0; p < planned.tensors.size(); ++p) {
      if (name_of(planned, TensorId(p)) != name_of(program, id)) continue;
      const Tensor& a = program.tensors[t];
      const Tensor& b = planned.tensors[p];
      if (differs(a.memory, a.range, b.memory, b.range)) return "output " + name_of(program, id);
    }
  }
  return "";
}

}  // namespace interlock
