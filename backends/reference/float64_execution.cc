// Beside the words lie the bytes of the same run rounded to float32: for ids, which are no float32,
// and for kernels that move bytes.
#include "backends/reference/float64_execution.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "backends/cpu/execute.h"
#include "backends/float64/arithmetic.h"
#include "backends/float64/kernel_oracles.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr uint64_t kFloatBytes = sizeof(float);

template <typename T>
T word_at(const std::vector<uint8_t>& bytes, uint64_t word) {
  T value;
  std::memcpy(&value, &bytes[word * kFloatBytes], sizeof value);
  return value;
}

class Execution {
 public:
  Execution(const Program& program, MemoryImage image)
      : program_(program), bytes_(std::move(image)) {
    for (size_t m = 0; m < bytes_.memories.size(); ++m) {
      words_.memories.emplace_back(bytes_.memories[m].size() / kFloatBytes);
      take_words_from_bytes(MemoryId{m}, {0, bytes_.memories[m].size()});
    }
  }

  void execute(DispatchId id) {
    const std::string_view kernel = kernel_entry(program_.dispatch(id).kernel).name;
    if (const KernelOracle oracle = find_kernel_oracle(kernel)) {
      execute_oracle(id, oracle);
    } else {
      execute_on_bytes(id, kernel == "copy");
    }
  }

  Float64Image finish() && { return std::move(words_); }

 private:
  // Of every word that shares a byte with `range`.
  void take_words_from_bytes(MemoryId memory, ByteRange range) {
    const std::vector<uint8_t>& bytes = bytes_.memories[memory.index];
    std::vector<double>& words = words_.memories[memory.index];
    const uint64_t end =
        std::min<uint64_t>((range.end + kFloatBytes - 1) / kFloatBytes, words.size());
    for (uint64_t k = range.begin / kFloatBytes; k < end; ++k) words[k] = word_at<float>(bytes, k);
  }

  void execute_oracle(DispatchId id, KernelOracle oracle) {
    OracleCase c = oracle_case_of(params_of(program_, program_.dispatch(id)), kIeeeArithmetic);
    const std::span<const Access> accesses = program_.accesses_of(id);
    for (const Access& access : accesses) {
      if (!access.reads_plainly()) continue;
      const bool is_f32 = program_.tensor(access.tensor).dtype == DType::kF32;
      Doubles& values = c.inputs.emplace_back();
      values.reserve(access.range.size_bytes() / kFloatBytes);
      for (uint64_t k = access.range.begin / kFloatBytes; k < access.range.end / kFloatBytes; ++k) {
        const size_t m = access.memory.index;
        values.push_back(is_f32 ? words_.memories[m][k]
                                : static_cast<double>(word_at<uint32_t>(bytes_.memories[m], k)));
      }
    }
    const std::vector<OracleTensor> outputs = oracle(c);
    size_t next = 0;
    for (const Access& access : accesses) {
      if (access.writes_plainly()) store(access, outputs[next++]);
    }
  }

  void store(const Access& access, const OracleTensor& output) {
    INTERLOCK_CHECK(output.size() == access.range.size_bytes() / kFloatBytes);
    for (uint64_t k = 0; k < output.size(); ++k) {
      const uint64_t at = access.range.begin + k * kFloatBytes;
      const auto rounded = static_cast<float>(output[k].value);
      words_.memories[access.memory.index][at / kFloatBytes] = output[k].value;
      std::memcpy(&bytes_.memories[access.memory.index][at], &rounded, sizeof rounded);
    }
  }

  void execute_on_bytes(DispatchId id, bool is_copy) {
    std::vector<CopiedWords> copied;
    if (is_copy) copied = words_copied_by(id);
    execute_dispatch(program_, id, bytes_);
    for (const Access& access : program_.accesses_of(id)) {
      if (access.writes_plainly()) take_words_from_bytes(access.memory, access.range);
    }
    for (const CopiedWords& words : copied) {
      std::ranges::copy(words.values,
                        words_.memories[words.to.memory.index].data() + words.to.first_word);
    }
  }

  struct WordPlace {
    MemoryId memory;
    uint64_t first_word = 0;
  };
  struct CopiedWords {
    WordPlace to;
    std::vector<double> values;
  };

  // What starts at words on both sides; bytes tell the rest.
  std::vector<CopiedWords> words_copied_by(DispatchId id) const {
    std::vector<CopiedWords> copied;
    const std::span<const Access> accesses = program_.accesses_of(id);
    const auto take = [&](const RowPart& part) {
      const auto begin_of = [&](const RowPart::Operand& place) {
        return accesses[place.access].range.begin + place.offset_bytes;
      };
      const uint64_t from = begin_of(part.operands[0]);
      const uint64_t to = begin_of(part.operands[1]);
      if (from % kFloatBytes != 0 || to % kFloatBytes != 0) return;
      const MemoryId source = accesses[part.operands[0].access].memory;
      const MemoryId destination = accesses[part.operands[1].access].memory;
      const double* const first = words_.memories[source.index].data() + from / kFloatBytes;
      copied.push_back({{destination, to / kFloatBytes},
                        std::vector<double>(first, first + part.size_bytes / kFloatBytes)});
    };
    for_each_row_part(program_, program_.dispatch(id), take);
    return copied;
  }

  const Program& program_;
  MemoryImage bytes_;
  Float64Image words_;
};

}  // namespace

Result<Float64Image> execute_in_float64(const Program& program, uint64_t limit_bytes) {
  Result<MemoryImage> initial = initial_image(program, limit_bytes);
  if (!initial) return initial.error();
  Execution execution(program, std::move(*initial));
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    if (is_stopped()) return Error{"The run was stopped."};
    execution.execute(DispatchId{d});
  }
  return std::move(execution).finish();
}

std::vector<double> values_of(const Program& program, const Float64Image& image, TensorId tensor) {
  const Tensor& t = program.tensor(tensor);
  INTERLOCK_CHECK(t.dtype == DType::kF32);
  const double* const first = image.memories[t.memory.index].data() + t.range.begin / kFloatBytes;
  return {first, first + t.range.size_bytes() / kFloatBytes};
}

}  // namespace interlock
