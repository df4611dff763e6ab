// The basic idea is that a valid program stays one when its dispatches move to queues, and that
// signals whose values count up name their parts: a wait for 3 is for the third of its semaphore.
#include "encoder/queues/command_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encoder/program/limits.h"
#include "encoder/program/words.h"
#include "encoder/sync/submission.h"

namespace interlock {
namespace {

std::string name_of_semaphore(size_t number) { return fmt::format("s{}", number + 1); }

}  // namespace

CommandLayout::CommandLayout(const Program& program, const std::vector<QueueDraft>& queues,
                             size_t command_count, size_t edge_count)
    : source_(program), queues_(queues) {
  is_valid_ = has_simple_source() && add_queues();
  if (!is_valid_) return;
  copy_declarations(command_count);
  result_.edges.reserve(edge_count);
}

std::optional<Program> CommandLayout::finish() {
  if (is_valid_ && has_operands_of_source_) copy_operands_so_far();
  const bool has_all = is_valid_ && edges_.empty() && (!has_open_waits_ || pair_waits()) &&
                       result_.statements.size() <= Limits{}.statement_count;
  if (!has_all) return std::nullopt;
  if (!is_sorted_) result_.has_program_order = true;
  return std::move(result_);
}

// What is said in short depends on statements; and nothing may be named as edges are.
bool CommandLayout::has_simple_source() const {
  return source_.captures.empty() && source_.replays.empty() && source_.backwards.empty() &&
         source_.lifetimes.empty() && source_.uncounted_dispatches.empty() &&
         std::ranges::none_of(source_.names, [](const std::string& name) {
           return name == kEdgesWord || name == kProgrammaticWord;
         });
}

bool CommandLayout::add_queues() {
  const bool has_default = std::ranges::any_of(
      queues_, [](const QueueDraft& queue) { return queue.name == kDefaultQueueName; });
  if (queues_.empty() || has_default || queues_.size() >= Limits{}.queue_count) return false;
  new_names_.emplace(std::string(kDefaultQueueName), NameId());
  for (const QueueDraft& queue : queues_) new_names_.emplace(queue.name, NameId());
  for (size_t i = 0; i < queues_.size(); ++i) new_names_.emplace(name_of_semaphore(i), NameId());
  return true;
}

void CommandLayout::copy_declarations(size_t command_count) {
  result_.names = source_.names;
  result_.memories = source_.memories;
  result_.tensors = source_.tensors;
  result_.outputs = source_.outputs;
  result_.strides = source_.strides;
  result_.has_program_order = source_.has_program_order;
  result_.dispatches.reserve(source_.dispatches.size());
  result_.accesses.reserve(source_.accesses.size());
  result_.attributes.reserve(source_.attributes.size());
  result_.statements.reserve(command_count);
  if (command_count > source_.dispatches.size()) {
    result_.syncs.reserve(command_count - source_.dispatches.size());
    result_.signal_parts.reserve(command_count - source_.dispatches.size());
  }
  positions_.assign(source_.dispatches.size(), DispatchId::kNone);
  counted_.resize(queues_.size());
  intern_new_names();
  result_.queues.push_back({id_of(kDefaultQueueName), QueueKind::kConcurrent});
  for (const QueueDraft& queue : queues_) result_.queues.push_back({id_of(queue.name), queue.kind});
}

// Some of them may be names already.
void CommandLayout::intern_new_names() {
  size_t longest = 0;
  for (const auto& [name, id] : new_names_) longest = std::max(longest, name.size());
  for (size_t i = 0; i < result_.names.size(); ++i) {
    if (result_.names[i].size() > longest) continue;
    const auto known = new_names_.find(std::string_view(result_.names[i]));
    if (known != new_names_.end()) known->second = NameId(i);
  }
  for (auto& [name, id] : new_names_) {
    if (id.is_some()) continue;
    id = NameId(result_.names.size());
    result_.names.push_back(name);
  }
}

// At most; the longest line that is read is far above what most dispatches take.
uint64_t CommandLayout::line_bytes_max(const Dispatch& dispatch, uint64_t edge_count) const {
  constexpr uint64_t kItemBytesMax = 512;
  uint64_t bytes = (8 + dispatch.access_count + edge_count) * kItemBytesMax;
  for (const Attribute& attribute : source_.attributes_of(dispatch)) {
    bytes += kItemBytesMax + source_.name(attribute.text).size();
  }
  return bytes;
}

void CommandLayout::issue_edge(DispatchId from, DispatchId to) {
  if (is_valid_) edges_.push_back({from, to});
}

void CommandLayout::issue_dispatch(DispatchId id) { is_valid_ = is_valid_ && add_dispatch(id); }

bool CommandLayout::add_dispatch(DispatchId id) {
  const Dispatch& original = source_.dispatch(id);
  const auto position = static_cast<uint32_t>(result_.dispatches.size());
  if (line_bytes_max(original, edges_.size()) > Limits{}.line_bytes) return false;
  if (!add_edges(id, position)) return false;
  Dispatch& copy = result_.dispatches.emplace_back(original);
  copy.statement = StatementId(result_.statements.size());
  if (!source_.has_program_order) copy.order = id.index;
  append_operands(copy);
  result_.statements.push_back({.kind = StatementKind::kDispatch,
                                .queue = index_of_queue(),
                                .index = position,
                                .label = source_.statements[original.statement.index].label});
  positions_[id.index] = position;
  is_sorted_ = is_sorted_ && (last_dispatch_ == DispatchId::kNone || last_dispatch_ < id.index);
  last_dispatch_ = id.index;
  return true;
}

// Whether what comes next in the source is what it has.
bool CommandLayout::are_operands_next(const Dispatch& dispatch) const {
  return (dispatch.access_count == 0 || dispatch.first_access == access_count_) &&
         (dispatch.attribute_count == 0 || dispatch.first_attribute == attribute_count_);
}

void CommandLayout::copy_operands_so_far() {
  const auto up_to = [](const auto& all, size_t count) {
    return all.begin() + static_cast<std::ptrdiff_t>(count);
  };
  has_operands_of_source_ = false;
  result_.accesses.assign(source_.accesses.begin(), up_to(source_.accesses, access_count_));
  result_.attributes.assign(source_.attributes.begin(),
                            up_to(source_.attributes, attribute_count_));
}

// Those of a dispatch of the source.
void CommandLayout::append_operands(Dispatch& dispatch) {
  const Dispatch original = dispatch;
  if (has_operands_of_source_ && !are_operands_next(dispatch)) copy_operands_so_far();
  dispatch.first_access = static_cast<uint32_t>(access_count_);
  dispatch.first_attribute = static_cast<uint32_t>(attribute_count_);
  access_count_ += dispatch.access_count;
  attribute_count_ += dispatch.attribute_count;
  if (has_operands_of_source_) return;
  for (const Access& access : source_.accesses_of(original)) result_.accesses.push_back(access);
  for (const Attribute& attribute : source_.attributes_of(original)) {
    result_.attributes.push_back(attribute);
  }
}

// From rising ones of its queue.
bool CommandLayout::add_edges(DispatchId to, uint32_t position) {
  uint32_t last = DispatchId::kNone;
  for (const CommandEdge& edge : edges_) {
    const uint32_t from = positions_[edge.from.index];
    const bool is_valid =
        edge.to == to && from != DispatchId::kNone && (last == DispatchId::kNone || last < from) &&
        queues_[queue_].kind == QueueKind::kGraph &&
        result_.statements[result_.dispatches[from].statement.index].queue == index_of_queue();
    if (!is_valid) return false;
    last = from;
    result_.edges.push_back({DispatchId(size_t{position}), DispatchId(size_t{from})});
  }
  edges_.clear();
  return true;
}

// Null where it is no semaphore of a queue, or its stages are none.
CommandLayout::Counted* CommandLayout::counted_of(const SemaphorePoint& point) {
  if (!is_valid_ || point.semaphore >= counted_.size() || point.stages == 0) return nullptr;
  Counted& semaphore = counted_[point.semaphore];
  if (!semaphore.id.is_some()) {
    semaphore.id = SemaphoreId(result_.semaphores.size());
    result_.semaphores.push_back({id_of(name_of_semaphore(point.semaphore))});
    counted_by_id_.push_back(point.semaphore);
  }
  return &semaphore;
}

void CommandLayout::issue_signal(const SemaphorePoint& point) {
  Counted* const semaphore = counted_of(point);
  if (semaphore == nullptr || point.value != semaphore->parts.size() + 1) {
    is_valid_ = false;
    return;
  }
  SyncStep& step = result_.syncs.emplace_back();
  step.statement = StatementId(result_.statements.size());
  step.kind = SyncKind::kSignal;
  step.first = static_cast<uint32_t>(result_.signal_parts.size());
  step.count = 1;
  semaphore->parts.push_back(step.first);
  result_.signal_parts.push_back({semaphore->id, point.stages, point.value});
  result_.statements.push_back({.kind = StatementKind::kSync,
                                .queue = index_of_queue(),
                                .index = static_cast<uint32_t>(result_.syncs.size() - 1)});
}

void CommandLayout::issue_wait(const SemaphorePoint& point) {
  const Counted* const semaphore = counted_of(point);
  if (semaphore == nullptr) {
    is_valid_ = false;
    return;
  }
  SyncStep& step = result_.syncs.emplace_back();
  step.statement = StatementId(result_.statements.size());
  step.kind = SyncKind::kWait;
  step.semaphore = semaphore->id;
  step.stages = point.stages;
  step.value = point.value;
  if (point.value > 0 && point.value <= semaphore->parts.size()) {
    step.partner = semaphore->parts[point.value - 1];
  } else {
    has_open_waits_ = true;
  }
  result_.statements.push_back({.kind = StatementKind::kSync,
                                .queue = index_of_queue(),
                                .index = static_cast<uint32_t>(result_.syncs.size() - 1)});
}

void CommandLayout::issue_submission(QueueIndex queue, std::span<const QueuePoint> waits,
                                     DispatchId id, uint64_t number) {
  issue_one_by_one(*this, queue, waits, id, number);
}

bool CommandLayout::pair_waits() {
  for (SyncStep& step : result_.syncs) {
    if (step.kind != SyncKind::kWait) continue;
    const Counted& semaphore = counted_[counted_by_id_[step.semaphore.index]];
    if (step.value == 0 || step.value > semaphore.parts.size()) return false;
    step.partner = semaphore.parts[step.value - 1];
  }
  return true;
}

}  // namespace interlock
