#include "encoder/plan/plan_values.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/error_of.h"
#include "encoder/program/interval_map.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// What adopts the bytes of another tensor is unplaced as well, and lies in its memory.
bool has_memory_of_its_own(const Program& program, const Tensor& tensor) {
  const Memory& memory = program.memory(tensor.memory);
  return tensor.placement == Placement::kUnplaced && memory.is_implicit &&
         memory.name == tensor.name;
}

class ValueReader {
 public:
  ValueReader(const Program& program, const PlanOptions& options)
      : program_(program), options_(options) {}

  PlanValues run();

 private:
  void add_values();
  void read_dispatches();
  void read_access(uint32_t dispatch, const Access& access);
  bool is_all_written(MemoryId memory, ByteRange bytes) const {
    bool is_all = true;
    is_written_.for_each(memory, bytes, [&](const auto& run) { is_all &= run.value; });
    return is_all;
  }
  void end_values();
  void read_lifetimes();
  void add_in_place_choices(uint32_t dispatch);
  void add_in_place_choice(const Dispatch& dispatch, uint32_t output, uint32_t input);
  bool is_tolerated(const Dispatch& dispatch, uint32_t output, uint32_t input) const;

  const Program& program_;
  const PlanOptions& options_;
  PlanValues values_;
  // Which bytes some dispatch has written, as long as it is not clear whether their value lives
  // from the start.
  IntervalMap<bool> is_written_;
  std::vector<bool> lives_from_start_;  // By value.
  std::vector<bool> has_lifetimes_;     // By value: nobody takes its bytes while it still has them.
};

PlanValues ValueReader::run() {
  add_values();
  read_dispatches();
  end_values();
  read_lifetimes();
  for (uint32_t i = 0; i < program_.dispatches.size(); ++i) add_in_place_choices(i);
  return std::move(values_);
}

void ValueReader::add_values() {
  values_.problem.step_count = static_cast<uint32_t>(program_.dispatches.size() + 2);
  values_.value_of_memory.assign(program_.memories.size(), PlanValues::kNoValue);
  for (size_t i = 0; i < program_.tensors.size(); ++i) {
    const Tensor& tensor = program_.tensors[i];
    if (!has_memory_of_its_own(program_, tensor)) continue;
    values_.value_of_memory[tensor.memory.index] = static_cast<uint32_t>(values_.tensors.size());
    values_.tensors.push_back(TensorId(i));
    const uint64_t unit = options_.alignment_bytes;
    values_.problem.values.push_back({(tensor.range.size_bytes() + unit - 1) / unit * unit, 1, 0});
  }
  const size_t count = values_.tensors.size();
  values_.dispatches.resize(count);
  values_.is_live_at_end.assign(count, program_.outputs.empty());
  lives_from_start_.assign(count, false);
  has_lifetimes_.assign(count, false);
  values_.owners.resize(count);
  values_.is_adopted.assign(count, false);
  for (size_t i = 0; i < program_.tensors.size(); ++i) {
    const Tensor& tensor = program_.tensors[i];
    const uint32_t value = values_.value_of_memory[tensor.memory.index];
    if (value == PlanValues::kNoValue) continue;
    if (tensor.placement != Placement::kView) values_.owners[value].push_back(TensorId(i));
    const bool is_adopter =
        tensor.placement == Placement::kUnplaced && values_.tensors[value] != TensorId(i);
    if (is_adopter) values_.is_adopted[value] = true;
  }
  for (const Tensor& tensor : program_.tensors) {
    const uint32_t value = values_.value_of_memory[tensor.memory.index];
    if (value == PlanValues::kNoValue || tensor.initial.kind == InitialKind::kNone) continue;
    lives_from_start_[value] = true;
    if (options_.keeps_inputs) values_.is_live_at_end[value] = true;
  }
  for (const TensorId id : program_.outputs) {
    const uint32_t value = values_.value_of_memory[program_.tensor(id).memory.index];
    if (value != PlanValues::kNoValue) values_.is_live_at_end[value] = true;
  }
}

void ValueReader::read_dispatches() {
  for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
    if (is_stopped()) return;
    const Dispatch& dispatch = program_.dispatches[i];
    for (const Access& access : program_.declared_accesses_of(dispatch)) read_access(i, access);
    // A dispatch reads all that it reads before it writes.
    for (const Access& access : program_.declared_accesses_of(dispatch)) {
      const uint32_t value = values_.value_of(access);
      if (value == PlanValues::kNoValue || !access.writes_plainly() || dispatch.is_partial)
        continue;
      if (!lives_from_start_[value]) is_written_.assign(access.memory, access.range, true);
    }
  }
}

void ValueReader::read_access(uint32_t dispatch, const Access& access) {
  const uint32_t value = values_.value_of(access);
  if (value == PlanValues::kNoValue) return;
  std::vector<uint32_t>& users = values_.dispatches[value];
  if (users.empty() || users.back() != dispatch) users.push_back(dispatch);
  const bool keeps_bytes =
      program_.dispatches[dispatch].is_partial || access.mode != AccessMode::kWrite;
  if (keeps_bytes && !lives_from_start_[value] && !is_all_written(access.memory, access.range)) {
    lives_from_start_[value] = true;
  }
}

void ValueReader::end_values() {
  const uint32_t end = values_.problem.step_count - 1;
  for (uint32_t i = 0; i < values_.tensors.size(); ++i) {
    ValueLife& life = values_.problem.values[i];
    const std::vector<uint32_t>& users = values_.dispatches[i];
    const Tensor& tensor = program_.tensor(values_.tensors[i]);
    if (values_.is_live_at_end[i] && !is_all_written(tensor.memory, tensor.range)) {
      lives_from_start_[i] = true;  // The end reads bytes that nobody wrote.
    }
    if (users.empty() && !lives_from_start_[i]) continue;
    life.first_step = lives_from_start_[i] ? 0 : step_of_dispatch(users.front());
    life.last_step = users.empty() ? 0 : step_of_dispatch(users.back());
    if (values_.is_live_at_end[i]) life.last_step = end;
  }
}

// A free poisons the bytes of its value where it stands, and an unpin may do so for a free that
// waited: the value owns them until then. When that is, in the order of several queues or of the
// host, no step says: there it owns them all the time.
void ValueReader::read_lifetimes() {
  uint32_t step = 0;
  for (const Statement& statement : program_.statements) {
    if (statement.kind == StatementKind::kDispatch) ++step;
    if (statement.kind != StatementKind::kLifetime) continue;
    const Lifetime& lifetime = program_.lifetimes[statement.index];
    if (!lifetime.tensor.is_some()) continue;
    const uint32_t value = values_.value_of_memory[lifetime.memory.index];
    if (value == PlanValues::kNoValue) continue;
    ValueLife& life = values_.problem.values[value];
    has_lifetimes_[value] = true;
    if (has_sync_of_queues(program_)) {
      life = {life.size_bytes, 0, values_.problem.step_count - 1};
      continue;
    }
    life = {life.size_bytes, life.is_used() ? std::min(life.first_step, step) : step,
            life.is_used() ? std::max(life.last_step, step) : step};
  }
}

void ValueReader::add_in_place_choices(uint32_t dispatch) {
  const Dispatch& d = program_.dispatches[dispatch];
  if (is_stopped() || (is_opaque(program_, d) && !options_.is_opaque_in_place)) return;
  const uint32_t step = step_of_dispatch(dispatch);
  const auto accesses = program_.declared_accesses_of(d);
  std::vector<uint32_t> outputs;
  std::vector<uint32_t> inputs;
  const auto add_once = [](std::vector<uint32_t>& list, uint32_t value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  for (const Access& access : accesses) {
    const uint32_t value = values_.value_of(access);
    if (value == PlanValues::kNoValue) continue;
    const ValueLife& life = values_.problem.values[value];
    if (access.mode == AccessMode::kWrite && life.first_step == step) add_once(outputs, value);
    if (access.only_reads() && life.last_step == step && life.first_step < step &&
        !has_lifetimes_[value]) {
      add_once(inputs, value);
    }
  }
  for (const uint32_t output : outputs) {
    for (const uint32_t input : inputs) add_in_place_choice(d, output, input);
  }
}

void ValueReader::add_in_place_choice(const Dispatch& dispatch, uint32_t output, uint32_t input) {
  // The sizes that matter are the true ones: contracts speak of identical ranges.
  const auto size_of = [&](uint32_t value) {
    return program_.tensor(values_.tensors[value]).range.size_bytes();
  };
  if (size_of(output) != size_of(input) || !is_tolerated(dispatch, output, input)) return;
  const std::vector<uint32_t>& users = values_.dispatches[input];
  const uint32_t other = users.size() < 2 ? 0 : step_of_dispatch(users[users.size() - 2]);
  values_.problem.in_place.push_back({output, input, other});
}

bool ValueReader::is_tolerated(const Dispatch& dispatch, uint32_t output, uint32_t input) const {
  const auto accesses = program_.declared_accesses_of(dispatch);
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    if (values_.value_of(accesses[i]) != input) continue;
    if (!accesses[i].only_reads()) return false;
    for (uint32_t o = 0; o < accesses.size(); ++o) {
      if (values_.value_of(accesses[o]) != output) continue;
      if (accesses[o].mode != AccessMode::kWrite || accesses[i].range != accesses[o].range) {
        return false;
      }
      if (alias_contract_of(entry, static_cast<int>(i), static_cast<int>(o)) !=
          AliasContract::kIdenticalElement) {
        return false;
      }
    }
  }
  return true;
}

Result<Success> check_options(const PlanOptions& options) {
  constexpr uint64_t kAlignmentMax = uint64_t{1} << 20;
  constexpr uint32_t kSlackMax = 10'000;
  const uint64_t unit = options.alignment_bytes;
  if (unit < 4 || (unit & (unit - 1)) != 0 || unit > kAlignmentMax) {
    return error_of("the alignment is {} bytes; expected a power of two from 4 to {}.", unit,
                    kAlignmentMax);
  }
  if (options.slack_percent > kSlackMax) {
    return error_of("the slack is {} percent; expected at most {}.", options.slack_percent,
                    kSlackMax);
  }
  if (options.region_dispatches == 0) {
    return Error{"an arena has 0 dispatches between two resets; expected at least 1."};
  }
  return Success{};
}

}  // namespace

Result<PlanValues> values_of(const Program& program, const PlanOptions& options) {
  if (auto checked = check_options(options); !checked) return checked.error();
  PlanValues values = ValueReader(program, options).run();
  if (is_stopped()) return Error{"The plan was stopped."};
  uint64_t sum_bytes = 0;
  for (const ValueLife& value : values.problem.values) {
    if (value.size_bytes > kPlanBytesMax - sum_bytes) {
      return error_of("the unplaced tensors have more than {} bytes together, the limit of a plan.",
                      kPlanBytesMax);
    }
    sum_bytes += value.size_bytes;
  }
  return values;
}

Result<Success> check_order_count(const Program& program, size_t dispatch_count_max) {
  if (program.dispatches.size() <= dispatch_count_max) return Success{};
  return error_of("the program has {} dispatches; a plan that adds no order takes at most {}.",
                  program.dispatches.size(), dispatch_count_max);
}

template <typename Order>
OrderRule<Order>::OrderRule(Order order, PlanValues& values)
    : values_(values), order_(std::move(order)) {
  for (const std::vector<uint32_t>& users : values.dispatches) {
    std::vector<uint32_t>& heads = heads_.emplace_back();
    for (const uint32_t user : users) {
      const auto precedes = [&](uint32_t head) { return order_.is_ordered(head, user); };
      if (std::ranges::none_of(heads, precedes)) heads.push_back(user);
    }
  }
  std::erase_if(values.problem.in_place, [&](const InPlaceChoice& choice) {
    const uint32_t taker = values.dispatches[choice.output].front();
    for (const uint32_t user : values.dispatches[choice.input]) {
      if (!order_.is_ordered(user, taker)) return true;
    }
    return heads_[choice.output].size() > 1;
  });
}

template <typename Order>
bool OrderRule<Order>::allows(uint32_t earlier, uint32_t later) const {
  if (values_.dispatches[earlier].empty() || heads_[later].empty()) return false;
  for (const uint32_t head : heads_[later]) {
    for (const uint32_t user : values_.dispatches[earlier]) {
      if (!order_.is_ordered(user, head)) return false;
    }
  }
  return true;
}

template class OrderRule<DispatchOrder>;
template class OrderRule<SyncOrder>;

}  // namespace interlock
