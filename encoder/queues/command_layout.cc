// The basic idea is that a valid program stays one when its dispatches move to queues, and that
// signals whose values count up name their parts: a wait for 3 is for the third of its semaphore.
#include "encoder/queues/command_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "encoder/program/limits.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

class CommandLayout {
 public:
  CommandLayout(const Program& program, const std::vector<QueueDraft>& queues,
                const RecordingSink& issued)
      : source_(program), queues_(queues), issued_(issued) {}

  std::optional<Program> run() {
    if (!has_simple_source() || !add_queues()) return std::nullopt;
    copy_declarations();
    edge_ = 0;
    for (const Command& command : issued_.commands()) {
      const bool is_added =
          command.kind == StatementKind::kDispatch ? add_dispatch(command) : add_sync(command);
      if (!is_added) return std::nullopt;
    }
    const bool has_all = edge_ == issued_.edges().size() && pair_waits() &&
                         result_.statements.size() <= Limits{}.statement_count;
    if (!has_all) return std::nullopt;
    if (!std::ranges::is_sorted(order_)) result_.has_program_order = true;
    return std::move(result_);
  }

 private:
  // Of one semaphore, that of a queue, as it counts.
  struct Counted {
    SemaphoreId id;               // None: not mentioned yet.
    std::vector<uint32_t> parts;  // By value, from 1 on: into Program::signal_parts.
  };

  // What is said in short depends on statements; and nothing may be named as edges are.
  bool has_simple_source() const {
    return source_.captures.empty() && source_.replays.empty() && source_.backwards.empty() &&
           source_.lifetimes.empty() && source_.uncounted_dispatches.empty() &&
           std::ranges::none_of(source_.names, [](const std::string& name) {
             return name == kEdgesWord || name == kProgrammaticWord;
           });
  }

  bool add_queues() {
    const bool has_default = std::ranges::any_of(
        queues_, [](const QueueDraft& queue) { return queue.name == kDefaultQueueName; });
    if (queues_.empty() || has_default || queues_.size() >= Limits{}.queue_count) return false;
    new_names_.emplace(std::string(kDefaultQueueName), NameId());
    for (const QueueDraft& queue : queues_) new_names_.emplace(queue.name, NameId());
    for (size_t i = 0; i < queues_.size(); ++i) new_names_.emplace(name_of_semaphore(i), NameId());
    return true;
  }

  static std::string name_of_semaphore(size_t number) { return fmt::format("s{}", number + 1); }

  void copy_declarations() {
    result_.names = source_.names;
    result_.memories = source_.memories;
    result_.tensors = source_.tensors;
    result_.outputs = source_.outputs;
    result_.strides = source_.strides;
    result_.has_program_order = source_.has_program_order;
    result_.dispatches.reserve(source_.dispatches.size());
    result_.accesses.reserve(source_.accesses.size());
    result_.attributes.reserve(source_.attributes.size());
    result_.statements.reserve(issued_.commands().size());
    result_.syncs.reserve(issued_.details().size());
    result_.edges.reserve(issued_.edges().size());
    order_.reserve(source_.dispatches.size());
    positions_.assign(source_.dispatches.size(), DispatchId::kNone);
    counted_.resize(queues_.size());
    intern_new_names();
    result_.queues.push_back({id_of(kDefaultQueueName), QueueKind::kConcurrent});
    for (const QueueDraft& queue : queues_)
      result_.queues.push_back({id_of(queue.name), queue.kind});
  }

  // Some of them may be names already.
  void intern_new_names() {
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

  NameId id_of(std::string_view name) const { return new_names_.find(name)->second; }

  static QueueIndex index_of(const Command& command) {
    return static_cast<QueueIndex>(command.queue + 1u);
  }

  // At most; the longest line that is read is far above what most dispatches take.
  uint64_t line_bytes_max(const Dispatch& dispatch, uint64_t edge_count) const {
    constexpr uint64_t kItemBytesMax = 512;
    uint64_t bytes = (8 + dispatch.access_count + edge_count) * kItemBytesMax;
    for (const Attribute& attribute : source_.attributes_of(dispatch)) {
      bytes += kItemBytesMax + source_.name(attribute.text).size();
    }
    return bytes;
  }

  bool add_dispatch(const Command& command) {
    const Dispatch& original = source_.dispatch(command.dispatch);
    const auto accesses = source_.accesses_of(original);
    const auto attributes = source_.attributes_of(original);
    const auto to = static_cast<uint32_t>(result_.dispatches.size());
    const size_t first_edge = edge_;
    if (!add_edges(command, to)) return false;
    if (line_bytes_max(original, edge_ - first_edge) > Limits{}.line_bytes) return false;
    Dispatch copy = original;
    copy.statement = StatementId(result_.statements.size());
    copy.first_access = static_cast<uint32_t>(result_.accesses.size());
    copy.first_attribute = static_cast<uint32_t>(result_.attributes.size());
    if (!source_.has_program_order) copy.order = command.dispatch.index;
    result_.accesses.insert(result_.accesses.end(), accesses.begin(), accesses.end());
    result_.attributes.insert(result_.attributes.end(), attributes.begin(), attributes.end());
    result_.statements.push_back({.kind = StatementKind::kDispatch,
                                  .queue = index_of(command),
                                  .index = to,
                                  .label = source_.statements[original.statement.index].label});
    result_.dispatches.push_back(copy);
    positions_[command.dispatch.index] = to;
    order_.push_back(command.dispatch.index);
    return true;
  }

  // Those that lead to the dispatch: they were issued right before it. From rising ones of its
  // queue.
  bool add_edges(const Command& command, uint32_t to) {
    uint32_t last = DispatchId::kNone;
    for (; edge_ < issued_.edges().size(); ++edge_) {
      const CommandEdge& edge = issued_.edges()[edge_];
      if (edge.to != command.dispatch) break;
      const uint32_t from = positions_[edge.from.index];
      const bool is_valid =
          from != DispatchId::kNone && (last == DispatchId::kNone || last < from) &&
          queues_[command.queue].kind == QueueKind::kGraph &&
          result_.statements[result_.dispatches[from].statement.index].queue == index_of(command);
      if (!is_valid) return false;
      last = from;
      result_.edges.push_back({DispatchId(size_t{to}), DispatchId(size_t{from})});
    }
    return true;
  }

  bool add_sync(const Command& command) {
    const bool is_known = command.kind == StatementKind::kSync &&
                          (command.sync == SyncKind::kSignal || command.sync == SyncKind::kWait);
    if (!is_known) return false;
    const SemaphorePoint& point = issued_.details()[command.detail].point;
    if (point.semaphore >= counted_.size() || point.stages == 0) return false;
    Counted& semaphore = counted_[point.semaphore];
    if (!semaphore.id.is_some()) {
      semaphore.id = SemaphoreId(result_.semaphores.size());
      result_.semaphores.push_back({id_of(name_of_semaphore(point.semaphore))});
      counted_by_id_.push_back(point.semaphore);
    }
    SyncStep step;
    step.statement = StatementId(result_.statements.size());
    step.kind = command.sync;
    if (command.sync == SyncKind::kSignal) {
      if (point.value != semaphore.parts.size() + 1) return false;
      step.first = static_cast<uint32_t>(result_.signal_parts.size());
      step.count = 1;
      semaphore.parts.push_back(step.first);
      result_.signal_parts.push_back({semaphore.id, point.stages, point.value});
    } else {
      step.semaphore = semaphore.id;
      step.stages = point.stages;
      step.value = point.value;
    }
    result_.statements.push_back({.kind = StatementKind::kSync,
                                  .queue = index_of(command),
                                  .index = static_cast<uint32_t>(result_.syncs.size())});
    result_.syncs.push_back(step);
    return true;
  }

  bool pair_waits() {
    for (SyncStep& step : result_.syncs) {
      if (step.kind != SyncKind::kWait) continue;
      const Counted& semaphore = counted_[counted_by_id_[step.semaphore.index]];
      if (step.value == 0 || step.value > semaphore.parts.size()) return false;
      step.partner = semaphore.parts[step.value - 1];
    }
    return true;
  }

  const Program& source_;
  const std::vector<QueueDraft>& queues_;
  const RecordingSink& issued_;
  Program result_;
  std::map<std::string, NameId, std::less<>> new_names_;
  std::vector<Counted> counted_;         // By semaphore of the encoder.
  std::vector<uint32_t> counted_by_id_;  // By semaphore of the program.
  std::vector<uint32_t> positions_;      // By dispatch of the source: its index here.
  std::vector<uint32_t> order_;          // By dispatch here: its index in the source.
  size_t edge_ = 0;                      // The next that was issued.
};

}  // namespace

std::optional<Program> laid_out(const Program& program, const std::vector<QueueDraft>& queues,
                                const RecordingSink& issued) {
  return CommandLayout(program, queues, issued).run();
}

}  // namespace interlock
