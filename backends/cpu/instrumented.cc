// Slices run one after another on one memory, as the cpu backend runs them: a body sees the same
// bytes here as there.
#include "backends/cpu/instrumented.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/cpu_memory.h"
#include "backends/interface/dispatch_params.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// What all slices of a dispatch touched undeclared through one operand, in one direction.
struct Offence {
  uint64_t first_slice = 0;
  TouchedRange first_range;  // The lowest run of that slice.
  uint64_t slice_count = 0;  // Slices that do it.
};

std::string declared_text(const Program& program, const Dispatch& dispatch, int access,
                          const StridedRange& range) {
  const ByteRange run = range.run(0);
  const std::string runs =
      range.run_count == 1 ? std::string()
                           : fmt::format(" and {} more runs of {} bytes, every {} bytes",
                                         range.run_count - 1, range.run_bytes, range.pitch_bytes);
  const Access& declared = program.accesses_of(dispatch)[static_cast<size_t>(access)];
  return fmt::format("{} {}{}", clause_of(declared.mode),
                     text_of_bytes(program, declared.memory, run), runs);
}

Finding finding_of(const Program& program, DispatchId id, int access, const KernelParams& params,
                   bool is_store, const Offence& offence) {
  const Dispatch& dispatch = program.dispatch(id);
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  const Access& declared = program.accesses_of(id)[static_cast<size_t>(access)];
  const Memory& memory = program.memory(declared.memory);
  const int64_t start = static_cast<int64_t>(declared.range.begin);
  const int64_t limit = static_cast<int64_t>(memory.size_bytes);
  // Touches may lie anywhere: keep sums in range, and clip what a finding calls bytes of a memory.
  const auto address_of = [&](int64_t offset) {
    return offset > INT64_MAX - start ? INT64_MAX : start + offset;
  };
  const int64_t begin = address_of(offence.first_range.begin);
  const int64_t end = address_of(offence.first_range.end);
  const auto clip = [&](int64_t address) {
    return static_cast<uint64_t>(std::clamp<int64_t>(address, 0, limit));
  };
  const std::string operand = entry.is_variadic || has_rows(program, dispatch)
                                  ? program.text_of(declared)
                                  : std::string(entry.operands[static_cast<size_t>(access)].name);
  Finding finding{{.kind = FindingKind::kUndeclared,
                   .first = {id, static_cast<uint32_t>(access)},
                   .second = std::nullopt,
                   .memory = declared.memory,
                   .overlap = {clip(begin), clip(end)}}};
  finding.headline = fmt::format(
      "Undeclared {}: {} {} bytes [{}:{}] of memory '{}' through operand '{}', which does not declare it.",
      is_store ? "write" : "read", program.description_of(id), is_store ? "writes" : "reads", begin,
      end, program.name(memory.name), operand);
  finding.details.push_back(fmt::format(
      "Slice {} does it; there the operand {}.", offence.first_slice,
      declared_text(program, dispatch, access,
                    slice_range_of(program, dispatch, params, offence.first_slice, access))));
  if (offence.slice_count > 1) {
    finding.details.push_back(
        fmt::format("{} slices of this dispatch touch undeclared bytes so.", offence.slice_count));
  }
  if (begin < 0 || end > limit) {
    finding.details.push_back(fmt::format("Memory '{}' has only {} bytes.",
                                          program.name(memory.name), memory.size_bytes));
  }
  finding.fix = fmt::format("Declare what kernel '{}' touches, or correct its body.", entry.name);
  return finding;
}

class InstrumentedExecution {
 public:
  InstrumentedExecution(const Program& program, const InstrumentedOptions& options,
                        MemoryImage image)
      : program_(program),
        options_(options),
        image_(std::move(image)),
        memory_(program, image_, static_cast<bool>(options.on_slice)) {}

  void run(DispatchId id) {
    const Dispatch& dispatch = program_.dispatch(id);
    const KernelParams params = dispatch_params_of(program_, id);
    const uint64_t slice_count = slice_count_of(dispatch.kernel, params);
    offences_.assign(2 * dispatch.access_count, {});
    for (uint64_t slice = 0; slice < slice_count && !is_stopped(); ++slice) {
      run_slice(id, params, slice);
    }
    for (size_t i = 0; i < offences_.size(); ++i) {
      if (offences_[i].slice_count == 0) continue;
      findings_.push_back(finding_of(program_, id, static_cast<int>(i / 2), params,
                                     /*is_store=*/i % 2 == 1, offences_[i]));
    }
  }

  InstrumentedRun finish() && { return {std::move(image_), std::move(findings_)}; }

 private:
  void run_slice(DispatchId id, const KernelParams& params, uint64_t slice) {
    const Dispatch& dispatch = program_.dispatch(id);
    declared_.clear();
    for (uint32_t i = 0; i < dispatch.access_count; ++i) {
      declared_.push_back(slice_range_of(program_, dispatch, params, slice, static_cast<int>(i)));
    }
    memory_.begin_slice(id, declared_);
    if (has_rows(program_, dispatch)) {
      run_rows(dispatch, params);
    } else {
      options_.bodies[dispatch.kernel.index](memory_, params, slice);
    }
    if (!memory_.has_undeclared() && !options_.on_slice) return;
    const std::vector<OperandTouches> touches = memory_.take_touches();
    for (size_t i = 0; i < touches.size(); ++i) {
      count(offences_[2 * i], slice, touches[i].undeclared_loads);
      count(offences_[2 * i + 1], slice, touches[i].undeclared_stores);
    }
    if (options_.on_slice) options_.on_slice(id, slice, touches);
  }

  // Bodies know operands and not their rows.
  void run_rows(const Dispatch& dispatch, const KernelParams& params) {
    for_each_row_part(program_, dispatch, [&](const RowPart& part) {
      const RowPart::Operand& to = part.operands[part.operand_count - 1];
      for (uint64_t k = 0; k < part.size_bytes; ++k) {
        const auto value = part.operand_count == 1
                               ? static_cast<uint8_t>(params.byte)
                               : memory_.load_byte(static_cast<int>(part.operands[0].access),
                                                   part.operands[0].offset_bytes + k);
        memory_.store_byte(static_cast<int>(to.access), to.offset_bytes + k, value);
      }
    });
  }

  static void count(Offence& offence, uint64_t slice, const std::vector<TouchedRange>& ranges) {
    if (ranges.empty()) return;
    if (offence.slice_count == 0) {
      offence.first_slice = slice;
      offence.first_range = ranges.front();
    }
    ++offence.slice_count;
  }

  const Program& program_;
  const InstrumentedOptions& options_;
  MemoryImage image_;
  RecordingMemory memory_;
  std::vector<StridedRange> declared_;  // Of the slice in execution, by access.
  std::vector<Offence> offences_;       // Of the dispatch: by access, loads then stores.
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<RecordedBody> recorded_bodies() {
  std::vector<RecordedBody> bodies(kernel_table().size());
  for_each_kernel(
      [&]<class Kernel>(KernelId id) { bodies[id.index] = run_slice<Kernel, RecordingMemory>; });
  return bodies;
}

Result<InstrumentedRun> run_instrumented(const Program& program,
                                         const InstrumentedOptions& options) {
  INTERLOCK_CHECK(options.bodies.size() == kernel_table().size());
  auto image = initial_image(program, options.limit_bytes);
  if (!image) return image.error();
  InstrumentedExecution execution(program, options, std::move(*image));
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (is_stopped()) return Error{"The run was stopped."};
    execution.run(DispatchId{i});
  }
  return std::move(execution).finish();
}

Result<std::vector<Finding>> find_undeclared(const Program& program,
                                             const InstrumentedOptions& options) {
  auto run = run_instrumented(program, options);
  if (!run) return run.error();
  return std::move(run->findings);
}

}  // namespace interlock
