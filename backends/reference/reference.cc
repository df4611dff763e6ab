// The basic idea: one image is enough for ordinary bytes, because running in program order leaves
// in them what program order means. Scratch bytes are put together before each read, from what
// particular accesses did in issue order (scratch_flow.h): of a plain write its bytes are kept, of
// an atomic its operand, because what it found may not be there yet.
#include "backends/reference/reference.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/execute.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/poison.h"
#include "backends/reference/scratch_flow.h"
#include "backends/reference/values_apart.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/program/text_order.h"
#include "simulator/order/queue_order.h"

namespace interlock {
namespace {

// What an access did to its taken ranges; empty before it runs and after its last reader.
using KeptPieces = std::vector<std::vector<uint8_t>>;

// Runs dispatches one by one and keeps what later readers of scratch take from each.
class ProgramOrderRun {
 public:
  ProgramOrderRun(const Program& program, ScratchFlow flow, MemoryImage initial,
                  uint64_t limit_bytes)
      : program_(program),
        flow_(std::move(flow)),
        image_(std::move(initial)),
        limit_bytes_(limit_bytes),
        held_bytes_(flow_.size_bytes),
        kept_(program.accesses.size()) {
    initial_.memories.resize(program.memories.size());
    for (size_t m = 0; m < program.memories.size(); ++m) {
      if (program.memories[m].is_scratch) initial_.memories[m] = image_.memories[m];
    }
  }

  Result<Success> run(DispatchId id) {
    for (const ScratchSource& source : flow_.sources_of(id)) restore(source);
    const Dispatch& dispatch = program_.dispatch(id);
    std::vector<CpuOperand> operands = bind_operands(program_, id, image_);
    std::vector<std::vector<uint8_t>> staged(dispatch.access_count);
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const uint32_t access = dispatch.first_access + k;
      const bool is_staged = program_.accesses[access].is_atomic() && flow_.take_count[access] > 0;
      if (!is_staged) continue;
      const uint64_t size_bytes = program_.accesses[access].range.size_bytes();
      if (!take(size_bytes)) return limit_error(id);
      staged[k].resize(size_bytes);
      operands[k].data = staged[k].data();
      operands[k].is_staged = true;
    }
    execute_piece(program_, whole_piece_of(program_, id), operands);
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      if (!keep(dispatch.first_access + k, std::move(staged[k]))) return limit_error(id);
    }
    return Success{};
  }

  MemoryImage finish() && {
    for (const ScratchSource& source : flow_.sources_of_the_end()) restore(source);
    return std::move(image_);
  }

 private:
  bool take(uint64_t size_bytes) {
    if (held_bytes_ > limit_bytes_ || size_bytes > limit_bytes_ - held_bytes_) return false;
    held_bytes_ += size_bytes;
    return true;
  }

  Error limit_error(DispatchId id) const {
    return error_of(
        "The reference of this program needs more than {} bytes, the execution limit, for values of scratch memories that wait for their readers while {} runs.",
        limit_bytes_, program_.description_of(id));
  }

  // `staged`: the operand of an atomic; its bytes are counted already.
  bool keep(uint32_t index, std::vector<uint8_t> staged) {
    if (flow_.take_count[index] == 0) return true;
    const Access& access = program_.accesses[index];
    const std::span<const ByteRange> taken = flow_.taken_of(index);
    if (access.is_atomic() && taken.size() == 1 && taken[0] == access.range) {
      kept_[index].push_back(std::move(staged));
      return true;
    }
    const uint8_t* const bytes =
        access.is_atomic() ? staged.data()
                           : image_.memories[access.memory.index].data() + access.range.begin;
    for (const ByteRange& range : taken) {
      if (!take(range.size_bytes())) return false;
      const uint8_t* const begin = bytes + (range.begin - access.range.begin);
      kept_[index].emplace_back(begin, begin + range.size_bytes());
    }
    held_bytes_ -= staged.size();
    return true;
  }

  void restore(const ScratchSource& source) {
    uint8_t* const bytes = image_.memories[source.memory.index].data() + source.range.begin;
    std::memcpy(bytes, initial_.memories[source.memory.index].data() + source.range.begin,
                source.range.size_bytes());
    chain_.clear();
    for (ScratchLinkIndex i = source.link; i != kNoScratchLink; i = flow_.links[i].previous) {
      chain_.push_back(i);
    }
    for (size_t i = chain_.size(); i-- > 0;) {
      const ScratchLink& link = flow_.links[chain_[i]];
      const uint32_t access = link.access;
      if (!kept_[access].empty()) apply(link, source.range, bytes);
      if (--flow_.take_count[access] == 0) release(access);
    }
  }

  // `bytes`: those of `range`, which is part of what is taken from the access.
  void apply(const ScratchLink& link, ByteRange range, uint8_t* bytes) const {
    const std::span<const ByteRange> taken = flow_.taken_of(link.access);
    const auto behind = std::ranges::upper_bound(taken, range.begin, {}, &ByteRange::begin);
    INTERLOCK_CHECK(behind != taken.begin() && range.end <= (behind - 1)->end);
    const size_t piece = static_cast<size_t>(behind - taken.begin()) - 1;
    const uint8_t* const from =
        kept_[link.access][piece].data() + (range.begin - taken[piece].begin);
    if (!link.is_atomic) {
      std::memcpy(bytes, from, range.size_bytes());
      return;
    }
    for (uint64_t i = 0; i < range.size_bytes(); ++i) {
      bytes[i] = atomic_result(link.op, bytes[i], from[i]);
    }
  }

  void release(uint32_t access) {
    for (const std::vector<uint8_t>& piece : kept_[access]) held_bytes_ -= piece.size();
    kept_[access] = KeptPieces();
  }

  const Program& program_;
  ScratchFlow flow_;
  MemoryImage initial_;  // Of scratch memories only.
  MemoryImage image_;
  uint64_t limit_bytes_;
  uint64_t held_bytes_;           // By the flow, by what is kept, and by staged operands.
  std::vector<KeptPieces> kept_;  // By access.
  std::vector<ScratchLinkIndex> chain_;
};

std::vector<DispatchId> program_order(const Program& program) {
  std::vector<DispatchId> ids;
  for (size_t d = 0; d < program.dispatches.size(); ++d) ids.emplace_back(d);
  std::ranges::stable_sort(ids, {}, [&](DispatchId id) { return program.dispatch(id).order; });
  return ids;
}

bool lasts(const Lifetime& lifetime) { return lifetime.kind == LifetimeKind::kAdopt; }

// The program without statements that end values. Where a value stays on bytes of another one is
// kept: without the adoption the text has a place of its own for it.
Program with_lasting_values(const Program& program) {
  Program lasting = program;
  lasting.lifetimes.clear();
  lasting.expectations.clear();  // They may name lifetime statements.
  lasting.statements.clear();
  lasting.captures.clear();  // These three count statements.
  lasting.replays.clear();
  lasting.backwards.clear();
  const TextOrder* const text = program.text_order.get();
  TextOrder text_left = text != nullptr ? *text : TextOrder();
  text_left.statements.clear();
  text_left.lifetimes.clear();
  for (size_t i = 0; i < program.statements.size(); ++i) {
    Statement statement = program.statements[i];
    const StatementId id(lasting.statements.size());
    switch (statement.kind) {
      case StatementKind::kLifetime: {
        const Lifetime& lifetime = program.lifetimes[statement.index];
        if (!lasts(lifetime)) continue;
        if (text != nullptr) text_left.lifetimes.push_back(text->lifetimes[statement.index]);
        statement.index = static_cast<uint32_t>(lasting.lifetimes.size());
        lasting.lifetimes.push_back(lifetime);
        lasting.lifetimes.back().statement = id;
        break;
      }
      case StatementKind::kDispatch:
        lasting.dispatches[statement.index].statement = id;
        break;
      case StatementKind::kSync:
        lasting.syncs[statement.index].statement = id;
        break;
      default:
        lasting.barriers[statement.index].statement = id;
    }
    if (text != nullptr) text_left.statements.push_back(text->statements[i]);
    lasting.statements.push_back(statement);
  }
  if (text != nullptr) {
    lasting.text_order = std::make_shared<const TextOrder>(std::move(text_left));
  }
  return lasting;
}

// In the reference order, apart from values that harm each other.
Result<MemoryImage> unharmed_image(const Program& program, const Program& apart, Backend& backend,
                                   MemoryImage image) {
  const Result<MemoryImage> outputs =
      backend.run(apart, reference_order_schedule(apart), ExecutionMode::kWitness);
  if (!outputs) return outputs.error();
  place_outputs(program, apart, *outputs, image);
  return image;
}

// Every value lasts, and dispatches run in program order.
Result<MemoryImage> lasting_image(const Program& program, Backend& backend, uint64_t limit_bytes) {
  if (!std::ranges::all_of(program.lifetimes, lasts)) {
    Result<MemoryImage> image = lasting_image(with_lasting_values(program), backend, limit_bytes);
    if (image) Poison(program).fill_at_end(*image);
    return image;
  }
  if (!program.has_program_order) {
    return backend.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  }
  const std::vector<DispatchId> order = program_order(program);
  if (!touches_scratch(program)) {
    Schedule schedule;
    for (const DispatchId id : order) {
      schedule.steps.push_back(whole_step(program, id, StepKind::kRun));
    }
    return backend.run(program, schedule, ExecutionMode::kWitness);
  }
  Result<MemoryImage> initial = initial_image(program, limit_bytes);
  if (!initial) return initial;
  Result<ScratchFlow> flow = trace_scratch(program, limit_bytes);
  if (!flow) return flow.error();
  ProgramOrderRun run(program, std::move(flow).value(), std::move(initial).value(), limit_bytes);
  for (const DispatchId id : order) {
    if (is_stopped()) return Error{"The run was stopped."};
    const Result<Success> executed = run.run(id);
    if (!executed) return executed.error();
  }
  return std::move(run).finish();
}

}  // namespace

Result<MemoryImage> reference_image(const Program& program, Backend& backend,
                                    uint64_t limit_bytes) {
  Result<MemoryImage> image = lasting_image(program, backend, limit_bytes);
  // With several queues values stay where they are: what harms them is found by `check`.
  if (!image || needs_queue_order(program) || !harms_values(program)) return image;
  const std::optional<Program> apart = with_values_apart(program);
  return apart ? unharmed_image(program, *apart, backend, std::move(*image)) : std::move(image);
}

}  // namespace interlock
