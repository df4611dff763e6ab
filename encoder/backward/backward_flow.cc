#include "encoder/backward/backward_flow.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

GradientKernels::GradientKernels()
    : rules_(kernel_table().size(), nullptr), inputs_(kernel_table().size()) {
  for (const VjpRule& rule : vjp_rules()) {
    const size_t kernel = find_kernel(rule.kernel)->index;
    rules_[kernel] = &rule;
    inputs_[kernel] = interlock::inputs_of(rule);
  }
}

bool GradientKernels::carries(const Dispatch& dispatch, size_t operand) const {
  if (rule_of(dispatch) == nullptr) return true;
  const std::vector<int>& inputs = inputs_of(dispatch);
  return std::find(inputs.begin(), inputs.end(), static_cast<int>(operand)) != inputs.end();
}

BackwardFlow::BackwardFlow(const Program& program, const BackwardValues& values,
                           const GradientKernels& kernels)
    : program_(program),
      values_(values),
      kernels_(kernels),
      starts_(values.count(), 0),
      stops_(values.count(), 0),
      reaching_(values.count(), 0),
      passes_(program.dispatches.size(), false),
      held_(program.memories.size(), 0),
      written_raw_(program.memories.size(), 0) {}

void BackwardFlow::run() {
  for (uint32_t value = 0; value < values_.count(); ++value) reach(value, 0);
  for (const BackwardStep& step : values_.steps()) {
    if (step.is_adoption) {
      reach(step.part, reaching_[values_.value(step.part).whole]);
    } else {
      spread(step.dispatch);
    }
  }
}

void BackwardFlow::reach(uint32_t value, Sources sources) {
  reaching_[value] = starts_[value] | (sources & ~stops_[value]);
  held_[program_.tensor(values_.value(value).root).memory.index] |= reaching_[value];
}

BackwardFlow::Sources BackwardFlow::reaching_raw(const Access& access) const {
  const size_t memory = access.memory.index;
  return written_raw_[memory] | (access.tensor.is_some() ? 0 : held_[memory]);
}

BackwardFlow::Sources BackwardFlow::read_by(const Dispatch& dispatch) const {
  const auto accesses = program_.accesses_of(dispatch);
  Sources sources = 0;
  for (size_t a = 0; a < accesses.size(); ++a) {
    const Access& access = accesses[a];
    if (access.mode == AccessMode::kWrite) continue;
    sources |= reaching_raw(access);
    if (!access.tensor.is_some() || !kernels_.carries(dispatch, a)) continue;
    const uint32_t value = values_.of_operand(dispatch, a);
    sources |= reaching_[access.only_reads() ? value : values_.value(value).previous];
  }
  return sources;
}

void BackwardFlow::spread(uint32_t index) {
  const Dispatch& dispatch = program_.dispatches[index];
  const auto accesses = program_.accesses_of(dispatch);
  const Sources read = read_by(dispatch);
  for (size_t a = 0; a < accesses.size(); ++a) {
    const Access& access = accesses[a];
    if (access.only_reads()) continue;
    if (!access.tensor.is_some()) {
      written_raw_[access.memory.index] |= read;
      continue;
    }
    const uint32_t value = values_.of_operand(dispatch, a);
    const bool keeps_old = access.is_sliced || dispatch.is_partial ||
                           !is_whole(program_, program_.tensor(access.tensor));
    const uint32_t previous = values_.value(value).previous;
    const Sources found = read | (keeps_old ? reaching_[previous] : 0);
    passes_[index] = passes_[index] || found != 0;
    reach(value, found);
  }
}

}  // namespace interlock
