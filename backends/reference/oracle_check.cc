// The expected image is `before` with the outputs of the dispatch in it. Where the kernel is exact,
// all of that image is known; else it is known but for the outputs, which the oracle bounds.
#include "backends/reference/oracle_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/execute.h"
#include "backends/float64/kernel_oracles.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

constexpr uint32_t kCanonicalNan = 0x7fc00000u;
constexpr uint64_t kElementBytes = sizeof(float);

uint32_t bits_at(const MemoryImage& image, const Access& access, uint64_t element) {
  uint32_t bits;
  std::memcpy(&bits,
              &image.memories[access.memory.index][access.range.begin + element * kElementBytes],
              sizeof bits);
  return bits;
}

double value_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool is_right(uint32_t bits, const Rounded& oracle) {
  if (!oracle.is_known()) return true;
  if (std::isnan(oracle.value)) return bits == kCanonicalNan;
  const double value = value_of(bits);
  return value == oracle.value || std::fabs(value - oracle.value) <= oracle.error;
}

bool may_share(const Program& program, const Dispatch& dispatch, uint32_t low, uint32_t high) {
  const Access& a = program.accesses_of(dispatch)[low];
  const Access& b = program.accesses_of(dispatch)[high];
  if (a.memory != b.memory || !share_a_byte(a.range, b.range)) return true;
  if (a.only_reads() && b.only_reads()) return true;
  if (!a.only_reads() && !b.only_reads()) return a.is_atomic() && b.is_atomic();
  const uint32_t input = a.only_reads() ? low : high;
  const uint32_t output = a.only_reads() ? high : low;
  return alias_contract_of(kernel_entry(dispatch.kernel), static_cast<int>(input),
                           static_cast<int>(output)) == AliasContract::kIdenticalElement &&
         !program.accesses_of(dispatch)[output].is_atomic() && a.range == b.range;
}

class Judgement {
 public:
  Judgement(const Program& program, DispatchId id, const MemoryImage& before,
            const MemoryImage& after)
      : program_(program),
        dispatch_(program.dispatch(id)),
        accesses_(program.accesses_of(id)),
        before_(before),
        after_(after),
        id_(id) {
    for (uint32_t high = 1; high < accesses_.size(); ++high) {
      for (uint32_t low = 0; low < high; ++low) {
        check_.is_judged = check_.is_judged && may_share(program, dispatch_, low, high);
      }
    }
  }

  OracleCheck finish(const Arithmetic& arithmetic) && {
    expect_outside_unchanged();
    if (!check_.is_judged) return std::move(check_);
    const KernelEntry& entry = kernel_entry(dispatch_.kernel);
    if (const KernelOracle oracle = find_kernel_oracle(entry.name)) {
      compare_values(oracle, arithmetic);
    } else {
      compare_bytes(expected_image());
    }
    return std::move(check_);
  }

 private:
  // Keeps the first mismatch of an output; the bytes outside come last.
  void report(OracleMismatch mismatch) {
    if (!check_.mismatch || !check_.mismatch->operand) check_.mismatch = std::move(mismatch);
  }

  void expect_outside_unchanged() {
    for (size_t m = 0; m < before_.memories.size(); ++m) {
      const std::vector<uint8_t>& before = before_.memories[m];
      const std::vector<uint8_t>& after = after_.memories[m];
      std::vector<ByteRange> written;
      for (const Access& access : accesses_) {
        if (access.memory == MemoryId{m} && !access.only_reads()) written.push_back(access.range);
      }
      std::ranges::sort(written, {}, &ByteRange::begin);
      written.push_back({before.size(), before.size()});
      uint64_t begin = 0;
      for (const ByteRange& range : written) {
        const auto at = [&](uint64_t i) { return static_cast<ptrdiff_t>(i); };
        if (begin < range.begin) {
          const auto end = before.begin() + at(range.begin);
          const auto found =
              std::mismatch(before.begin() + at(begin), end, after.begin() + at(begin));
          if (found.first != end) {
            report_outside(MemoryId{m}, static_cast<uint64_t>(found.first - before.begin()));
            return;
          }
        }
        begin = std::max(begin, range.end);
      }
    }
  }

  void report_outside(MemoryId memory, uint64_t offset) {
    const uint8_t before = before_.memories[memory.index][offset];
    const uint8_t after = after_.memories[memory.index][offset];
    const std::string message = fmt::format(
        "{} changes byte {} of memory '{}' from {} to {}, which it does not declare to write.",
        program_.description_of(id_), offset, program_.name(program_.memory(memory).name), before,
        after);
    report({.memory = memory, .bytes = {offset, offset + 1}, .message = message});
  }

  // What fill, copy and mix leave.
  MemoryImage expected_image() const {
    MemoryImage image = before_;
    const auto bytes_of = [&](size_t operand) {
      return image.memories[accesses_[operand].memory.index].begin() +
             static_cast<ptrdiff_t>(accesses_[operand].range.begin);
    };
    if (!takes_rows(kernel_entry(dispatch_.kernel))) {
      execute_dispatch(program_, id_, image);
      return image;
    }
    for_each_row_part(program_, dispatch_, [&](const RowPart& part) {
      const auto at = [&](size_t operand) {
        const RowPart::Operand& place = part.operands[operand];
        return bytes_of(place.access) + static_cast<ptrdiff_t>(place.offset_bytes);
      };
      if (part.operand_count == 1) {
        std::fill_n(at(0), part.size_bytes,
                    static_cast<uint8_t>(params_of(program_, dispatch_).byte));
      } else {
        std::copy_n(at(0), part.size_bytes, at(1));
      }
    });
    return image;
  }

  void compare_bytes(const MemoryImage& expected) {
    for (uint32_t i = 0; i < accesses_.size(); ++i) {
      const Access& access = accesses_[i];
      if (access.only_reads()) continue;
      check_.element_count += access.range.size_bytes();
      check_.exact_count += access.range.size_bytes();
      const std::vector<uint8_t>& right = expected.memories[access.memory.index];
      const std::vector<uint8_t>& bytes = after_.memories[access.memory.index];
      for (uint64_t k = access.range.begin; k < access.range.end; ++k) {
        if (bytes[k] == right[k]) continue;
        report_element(i, k - access.range.begin, {k, k + 1}, bytes[k],
                       {static_cast<double>(right[k]), 0});
        return;
      }
    }
  }

  void compare_values(KernelOracle oracle, const Arithmetic& arithmetic) {
    OracleCase c = oracle_case_of(params_of(program_, dispatch_), arithmetic);
    for (const Access& access : accesses_) {
      if (!access.reads_plainly()) continue;
      Doubles& values = c.inputs.emplace_back(access.range.size_bytes() / kElementBytes);
      const bool is_f32 = program_.tensor(access.tensor).dtype == DType::kF32;
      for (uint64_t k = 0; k < values.size(); ++k) {
        const uint32_t bits = bits_at(before_, access, k);
        values[k] = is_f32 ? value_of(bits) : static_cast<double>(bits);
      }
    }
    const std::vector<OracleTensor> outputs = oracle(c);
    size_t next = 0;
    for (uint32_t i = 0; i < accesses_.size(); ++i) {
      if (accesses_[i].writes_plainly()) compare_output(i, outputs[next++]);
    }
  }

  void compare_output(uint32_t operand, const OracleTensor& oracle) {
    const Access& access = accesses_[operand];
    INTERLOCK_CHECK(oracle.size() == access.range.size_bytes() / kElementBytes);
    check_.element_count += oracle.size();
    for (uint64_t k = 0; k < oracle.size(); ++k) {
      const uint32_t bits = bits_at(after_, access, k);
      check_.unbounded_count += oracle[k].is_known() ? 0 : 1;
      check_.exact_count += oracle[k].error == 0 ? 1 : 0;
      check_.special_count += std::isfinite(oracle[k].value) ? 0 : 1;
      if (!is_right(bits, oracle[k])) {
        const uint64_t begin = access.range.begin + k * kElementBytes;
        report_element(operand, k, {begin, begin + kElementBytes}, value_of(bits), oracle[k]);
        return;
      }
      if (oracle[k].is_known() && oracle[k].error > 0) {
        const double error = std::fabs(value_of(bits) - oracle[k].value);
        check_.ratio_max = std::max(check_.ratio_max, error / oracle[k].error);
      }
    }
  }

  void report_element(uint32_t operand, uint64_t element, ByteRange bytes, double value,
                      const Rounded& oracle) {
    const std::string message = fmt::format(
        "{} leaves {} in element {} of '{}', where the oracle has {} and allows an error of {}.",
        program_.description_of(id_), value, element, program_.text_of(accesses_[operand]),
        oracle.value, oracle.error);
    report({operand, element, accesses_[operand].memory, bytes, oracle.error, message});
  }

  const Program& program_;
  const Dispatch& dispatch_;
  std::span<const Access> accesses_;
  const MemoryImage& before_;
  const MemoryImage& after_;
  DispatchId id_;
  OracleCheck check_;
};

}  // namespace

Result<OracleCheck> check_against_oracle(const Program& program, DispatchId id,
                                         const MemoryImage& before, const MemoryImage& after,
                                         const Arithmetic& arithmetic) {
  for (const MemoryImage* image : {&before, &after}) {
    bool fits = image->memories.size() == program.memories.size();
    for (size_t m = 0; fits && m < program.memories.size(); ++m) {
      fits = image->memories[m].size() == program.memories[m].size_bytes;
    }
    if (!fits) {
      return error_of("The image {} {} does not have the memories of the program.",
                      image == &before ? "before" : "after", program.description_of(id));
    }
  }
  return Judgement(program, id, before, after).finish(arithmetic);
}

}  // namespace interlock
