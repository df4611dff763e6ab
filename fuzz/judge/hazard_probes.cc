// The basic idea is to write the wide probes anew, from what conflicts and nothing else, and to cut
// the narrow ones out of the find.
#include <algorithm>
#include <optional>
#include <utility>

#include "fuzz/judge/probes.h"

namespace interlock {
namespace {

constexpr uint64_t kPlainBytes = 64;
// What is long beside the few bytes that a minimized find shares.
constexpr uint64_t kStretch = 16;

bool keeps_operands(ProbeContext context) {
  return context == ProbeContext::kOwnOperands || context == ProbeContext::kOwn;
}
bool keeps_dispatches(ProbeContext context) {
  return context == ProbeContext::kOwnDispatches || context == ProbeContext::kOwn;
}

bool is_long(ProbeRanges ranges) {
  return ranges == ProbeRanges::kSame || ranges == ProbeRanges::kOverlap;
}

// One range for both; else each has its own.
bool is_one_range(ProbeRanges ranges) {
  return ranges == ProbeRanges::kSame || ranges == ProbeRanges::kShort;
}

ByteRange times(ByteRange range, uint64_t factor) {
  return {range.begin * factor, range.end * factor};
}

class ProbeWriter {
 public:
  ProbeWriter(const Program& program, const Hazard& hazard, const ProbeShape& shape)
      : program_(program),
        hazard_(hazard),
        shape_(shape),
        first_(access_of(program, hazard.first)),
        second_(access_of(program, hazard.second)),
        names_tensors_(names_tensors(program, hazard) != shape.swaps_names) {}

  ProgramDraft run() {
    if (shape_.ranges == ProbeRanges::kOwn) return from_find();
    if (is_cut_out(shape_.context)) return from_ranges();
    return anew();
  }

 private:
  AccessMode first_mode() const {
    return keeps_first_mode(shape_.modes) ? first_.mode : plain_first_mode(hazard_.kind);
  }
  AccessMode second_mode() const {
    return keeps_second_mode(shape_.modes) ? second_.mode : plain_second_mode(hazard_.kind);
  }

  // Of the two in a memory of their own.
  std::pair<ByteRange, ByteRange> ranges() const {
    const ByteRange shared = intersection(first_.range, second_.range);
    switch (shape_.ranges) {
      case ProbeRanges::kShort:
        return {{0, shared.size_bytes()}, {0, shared.size_bytes()}};
      case ProbeRanges::kOverlap: {
        // Whichever begins later does so by as much as the two share, and so at their ends.
        const uint64_t a = first_.range.begin > second_.range.begin ? kPlainBytes : 0;
        const uint64_t b = second_.range.begin > first_.range.begin ? kPlainBytes : 0;
        const uint64_t end = 3 * kPlainBytes;
        return {{a, first_.range.end < second_.range.end ? end - kPlainBytes : end},
                {b, second_.range.end < first_.range.end ? end - kPlainBytes : end}};
      }
      case ProbeRanges::kShortOverlap: {
        const uint64_t begin = std::min(first_.range.begin, second_.range.begin);
        return {{first_.range.begin - begin, first_.range.end - begin},
                {second_.range.begin - begin, second_.range.end - begin}};
      }
      default:
        return {{0, kPlainBytes}, {0, kPlainBytes}};
    }
  }

  // `like`: whose atomic operation it has.
  DispatchDraft dispatch_of(std::string_view label, std::vector<OperandDraft> operands,
                            DispatchId like) const {
    DispatchDraft dispatch{
        .label = std::string(label), .kernel = "Opaque", .operands = std::move(operands)};
    std::ranges::stable_sort(dispatch.operands, stands_before);
    if (has_atomics(dispatch)) {
      dispatch.attributes.emplace_back("atomic",
                                       std::string(word_of(program_.dispatch(like).atomic_op)));
    }
    return dispatch;
  }

  // What the probe has of a dispatch of the find: the operands that it keeps, in their order, the
  // two that conflict with the modes of the probe. `operand_of` gives an operand by number, and
  // whether it is one of the two; nothing if it has to go. None if all of the dispatch goes.
  template <typename OperandOf>
  std::optional<DispatchDraft> taken(DispatchId id, size_t operand_count,
                                     OperandOf operand_of) const {
    const bool is_first = id == hazard_.first.dispatch;
    const bool is_second = id == hazard_.second.dispatch;
    if (!is_first && !is_second && !keeps_dispatches(shape_.context)) return std::nullopt;
    std::vector<OperandDraft> operands;
    for (uint32_t k = 0; k < operand_count; ++k) {
      const bool is_pair =
          (is_first && k == hazard_.first.access) || (is_second && k == hazard_.second.access);
      const bool is_kept = is_pair || keeps_operands(shape_.context) || !(is_first || is_second);
      if (!is_kept) continue;
      std::optional<OperandDraft> operand = operand_of(k, is_pair);
      if (!operand) continue;
      if (is_pair) operand->mode = is_first ? first_mode() : second_mode();
      operands.push_back(*std::move(operand));
    }
    const std::string_view label = is_first ? kFirstOfProbe : is_second ? kSecondOfProbe : "";
    return dispatch_of(label, std::move(operands), id);
  }

  ProgramDraft anew() const {
    const auto [first_range, second_range] = ranges();
    uint64_t bytes = std::max(first_range.end, second_range.end);
    if (shape_.context == ProbeContext::kSharedMemory) bytes += kPlainBytes;
    ProgramDraft draft;
    draft.items.emplace_back(MemoryDraft{"m", bytes, false});
    std::string first_name = "m";
    std::string second_name = "m";
    if (shape_.ranges == ProbeRanges::kTwoTensors) {
      first_name = "t0";
      second_name = "t1";
    } else if (names_tensors_) {
      first_name = second_name = "t";
    }
    const auto operand_of = [bytes](AccessMode mode, const std::string& name, ByteRange range) {
      const bool is_whole = range == ByteRange{0, bytes};
      return OperandDraft{mode, name, is_whole ? std::nullopt : std::optional(range), false};
    };
    std::vector<OperandDraft> first = {operand_of(first_mode(), first_name, first_range)};
    std::vector<OperandDraft> second = {operand_of(second_mode(), second_name, second_range)};
    const OperandDraft first_operand = first[0];
    if (shape_.context == ProbeContext::kBefore || shape_.context == ProbeContext::kBetween) {
      for (uint64_t i = 0; i < shape_.count; ++i) {
        draft.items.emplace_back(MemoryDraft{"n" + std::to_string(i), kPlainBytes, false});
      }
    }
    add_bystanders(draft, first, "a");
    add_bystanders(draft, second, "b");
    std::vector<std::string> tensors = {first_name};
    if (second_name != first_name) tensors.push_back(second_name);
    for (const std::string& name : tensors) {
      if (name == "m") continue;
      draft.items.emplace_back(
          TensorDraft{.name = name, .dtype = DType::kU8, .shape = {bytes}, .base = "m"});
    }
    add_context(draft, false, bytes, first_operand);
    draft.items.emplace_back(dispatch_of(kFirstOfProbe, std::move(first), hazard_.first.dispatch));
    add_context(draft, true, bytes, first_operand);
    draft.items.emplace_back(
        dispatch_of(kSecondOfProbe, std::move(second), hazard_.second.dispatch));
    return draft;
  }

  void add_context(ProgramDraft& draft, bool is_between, uint64_t memory_bytes,
                   const OperandDraft& first) const {
    const auto add = [&](OperandDraft operand) {
      draft.items.emplace_back(dispatch_of("", {std::move(operand)}, hazard_.first.dispatch));
    };
    const auto context = is_between ? ProbeContext::kBetween : ProbeContext::kBefore;
    for (uint64_t i = 0; shape_.context == context && i < shape_.count; ++i) {
      add({AccessMode::kWrite, "n" + std::to_string(i), std::nullopt, false});
    }
    if (is_between && shape_.context == ProbeContext::kSharedMemory) {
      add({AccessMode::kRead, "m", ByteRange{memory_bytes - kPlainBytes, memory_bytes}, false});
    }
    if (!is_between && shape_.context == ProbeContext::kBarrierBefore) {
      add({AccessMode::kWrite, first.name, first.slice, false});
    }
  }

  // Other operands, on memories of their own, before the one that is there.
  void add_bystanders(ProgramDraft& draft, std::vector<OperandDraft>& operands,
                      const std::string& prefix) const {
    if (shape_.context != ProbeContext::kOperands) return;
    const AccessMode mode =
        operands[0].mode == AccessMode::kUniform ? AccessMode::kUniform : AccessMode::kRead;
    for (uint64_t i = 0; i < shape_.count; ++i) {
      const std::string name = prefix + std::to_string(i);
      draft.items.emplace_back(MemoryDraft{name, kPlainBytes, false});
      operands.insert(operands.end() - 1, OperandDraft{mode, name, std::nullopt, false});
    }
  }

  // The find in opaque dispatches on raw memory.
  ProgramDraft from_ranges() const {
    const uint64_t factor = is_long(shape_.ranges) ? kStretch : 1;
    const ByteRange shared = intersection(first_.range, second_.range);
    const auto name_of = [](MemoryId memory) { return "m" + std::to_string(memory.index); };
    std::vector<ItemDraft> dispatches;
    std::vector<bool> is_used(program_.memories.size());
    for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
      const auto accesses = program_.declared_accesses_of(DispatchId(i));
      auto dispatch = taken(DispatchId(i), accesses.size(), [&](uint32_t k, bool is_pair) {
        const Access& access = accesses[k];
        is_used[access.memory.index] = true;
        const ByteRange range = is_pair && is_one_range(shape_.ranges) ? shared : access.range;
        return std::optional(
            OperandDraft{access.mode, name_of(access.memory), times(range, factor), false});
      });
      if (dispatch) dispatches.emplace_back(*std::move(dispatch));
    }
    ProgramDraft draft;
    for (uint32_t i = 0; i < program_.memories.size(); ++i) {
      if (!is_used[i]) continue;
      draft.items.emplace_back(
          MemoryDraft{name_of(MemoryId(i)), program_.memories[i].size_bytes * factor, false});
    }
    draft.items.insert(draft.items.end(), dispatches.begin(), dispatches.end());
    return draft;
  }

  // The find with its tensors.
  ProgramDraft from_find() const {
    ProgramDraft draft;
    uint32_t index = 0;
    for (ItemDraft& item : without_evidence(expanded_draft_of(program_)).items) {
      if (std::holds_alternative<BarrierDraft>(item)) continue;
      const auto* const found = std::get_if<DispatchDraft>(&item);
      if (found == nullptr) {
        draft.items.push_back(std::move(item));
        continue;
      }
      const std::vector<OperandDraft>& operands = found->operands;
      auto dispatch =
          taken(DispatchId(index++), operands.size(), [&](uint32_t k, bool /*is_pair*/) {
            return operands[k].is_undeclared ? std::nullopt : std::optional(operands[k]);
          });
      if (dispatch) draft.items.emplace_back(*std::move(dispatch));
    }
    return draft;
  }

  const Program& program_;
  const Hazard& hazard_;
  const ProbeShape& shape_;
  const Access& first_;
  const Access& second_;
  const bool names_tensors_;
};

}  // namespace

bool names_tensors(const Program& program, const Hazard& hazard) {
  return access_of(program, hazard.first).tensor.is_some() &&
         access_of(program, hazard.second).tensor.is_some();
}

ProgramDraft probe_of(const Program& program, const Hazard& hazard, const ProbeShape& shape) {
  return ProbeWriter(program, hazard, shape).run();
}

}  // namespace interlock
