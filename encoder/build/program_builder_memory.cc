// What a program takes while it is read. The basic idea is that a program is its lists, so that
// their lengths say nearly all of it; what hangs on an element is counted with it.
#include <algorithm>

#include "encoder/build/program_builder.h"

namespace interlock {
namespace {

template <typename Element>
uint64_t bytes_of(const std::vector<Element>& list) {
  return list.size() * sizeof(Element);
}

// A little more: where an estimate falls short, all of a list is copied once more.
size_t times(size_t size, double factor) {
  return static_cast<size_t>(static_cast<double>(size) * factor * 1.02);
}

template <typename Element>
void reserve_times(std::vector<Element>& list, double factor) {
  list.reserve(times(list.size(), factor));
}

}  // namespace

uint64_t ProgramBuilder::memory_bytes() const {
  constexpr uint64_t kTensorBytes = 256;  // Its shape, its part of tables, where its value stands.
  constexpr uint64_t kOrderRunBytes = 64;
  const Program& p = program_;
  return names_.memory_bytes() + bytes_of(p.memories) + bytes_of(p.tensors) +
         p.tensors.size() * kTensorBytes + initial_value_count_ * sizeof(double) +
         bytes_of(p.outputs) + bytes_of(p.statements) + bytes_of(p.dispatches) +
         bytes_of(p.barriers) + bytes_of(p.lifetimes) + bytes_of(p.dependencies) +
         bytes_of(p.barrier_operands) + bytes_of(p.accesses) + bytes_of(p.attributes) +
         bytes_of(p.captures) + bytes_of(p.replays) + bytes_of(p.backwards) + bytes_of(p.witness) +
         bytes_of(p.expectations) + bytes_of(p.queues) + bytes_of(p.semaphores) +
         bytes_of(p.syncs) + bytes_of(p.signal_parts) + bytes_of(p.edges) + bytes_of(p.strides) +
         bytes_of(p.host_dispatches) + bytes_of(p.uncounted_dispatches) + bytes_of(p.host_values) +
         bytes_of(sync_meanings_) + recorded_bytes_ + order_runs_.size() * kOrderRunBytes;
}

void ProgramBuilder::reserve_for(const ItemCounts& counts) {
  names_.reserve(program_.names, counts.name_count);
  program_.memories.reserve(counts.memory_count);
  is_raw_operand_.reserve(counts.memory_count);
  program_.tensors.reserve(counts.tensor_count);
  base_of_.reserve(counts.tensor_count);
  adopted_from_.reserve(counts.tensor_count);
  is_output_.reserve(counts.tensor_count);
  is_in_use_.reserve(counts.tensor_count);
  has_initial_.reserve(counts.tensor_count);
  program_.statements.reserve(counts.statement_count);
  program_.dispatches.reserve(counts.dispatch_count);
  program_.accesses.reserve(counts.operand_count);
}

void ProgramBuilder::reserve_for_text(size_t text_bytes) {
  // How much of a long text declares something nobody knows, and room that is not used costs pages.
  const size_t declaring_bytes = std::min<size_t>(text_bytes, 4096);
  reserve_for({.name_count = std::max(declaring_bytes / 32, text_bytes / 64),
               .memory_count = declaring_bytes / 64,
               .tensor_count = declaring_bytes / 48,
               .statement_count = text_bytes / 48,
               .dispatch_count = text_bytes / 64,
               .operand_count = text_bytes / 24});
}

void ProgramBuilder::reserve(double factor, uint64_t memory_bytes) {
  if (static_cast<double>(this->memory_bytes()) * factor > static_cast<double>(memory_bytes))
    return;
  // Declarations stand first, and what comes then has names of its own or none.
  const size_t declared =
      std::min(program_.names.size(), program_.memories.size() + program_.tensors.size());
  names_.reserve(program_.names, declared + times(program_.names.size() - declared, factor));
  reserve_times(program_.statements, factor);
  reserve_times(program_.dispatches, factor);
  reserve_times(program_.barriers, factor);
  reserve_times(program_.accesses, factor);
  reserve_times(program_.attributes, factor);
}

}  // namespace interlock
