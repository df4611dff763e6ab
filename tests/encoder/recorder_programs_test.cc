// Whatever a program does with queues, semaphores, events, edges and the host, a runtime that does
// it records that program: the canonical text of the recording is the one of the program, for the
// traps of the corpus and for random programs. What a recording cannot say is taken out before:
// values that the host writes, labels of what is no dispatch, and which work of the host is one
// statement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/sync_step.h"
#include "encoder/recorder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/corpus_files.h"
#include "tests/encoder/recording.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::recorder_programs_test {
namespace {

constexpr std::string_view kRenamedDefault = "p0";

unsigned flag_if(bool is_set, unsigned flag) { return is_set ? flag : 0; }

Result<Program> parsed(const std::string& text) { return parse(text, "step.ilk", every_queue()); }

// The program without what a recording cannot say, or none if little is left of it then.
class Recordable {
 public:
  explicit Recordable(const ProgramDraft& draft) {
    for (const ItemDraft& item : draft.items) {
      const auto* const queue = std::get_if<QueueDraft>(&item);
      renames_default_ |= queue != nullptr && queue->name == kDefaultQueueName;
    }
    for (ItemDraft item : draft.items) std::visit([&](auto& part) { add(part); }, item);
  }

  bool is_one() const { return is_recordable_; }

  ProgramDraft draft() const {
    ProgramDraft all;
    all.items = declarations_;
    std::ranges::copy(statements_, std::back_inserter(all.items));
    return all;
  }

 private:
  void name_queue(std::string& queue) const {
    if (renames_default_ && (queue.empty() || queue == kDefaultQueueName)) queue = kRenamedDefault;
  }
  void add(MemoryDraft& item) { declarations_.emplace_back(item); }
  // Tensors of a recording are bytes.
  void add(TensorDraft& item) {
    is_recordable_ &= item.placement == Placement::kPlaced;
    uint64_t size_bytes = size_bytes_of(item.dtype);
    for (const uint64_t extent : item.shape) size_bytes *= extent;
    item.dtype = DType::kU8;
    item.shape = {size_bytes};
    const bool has_value = item.initial.kind != InitialKind::kNone;
    item.initial = InitialValue();
    if (has_value) item.initial.kind = InitialKind::kZeros;
    declarations_.emplace_back(item);
  }
  void add(OutputDraft& item) { declarations_.emplace_back(item); }
  void add(QueueDraft& item) {
    name_queue(item.name);
    declarations_.emplace_back(item);
  }
  void add(SemaphoreDraft& item) {
    declared_.insert(item.name);
    declarations_.emplace_back(item);
  }
  void add(DispatchDraft& item) {
    for (std::string& earlier : item.after) {
      const auto found = numbers_.find(earlier);
      if (found != numbers_.end()) earlier = std::to_string(found->second);
    }
    std::erase_if(item.attributes, [](const auto& pair) { return pair.first != "atomic"; });
    const bool is_known =
        is_upper(item.kernel[0]) || item.kernel == "copy" || item.kernel == "fill";
    is_recordable_ &= is_known && item.stage == Stage::kCompute && !item.is_approximate;
    is_recordable_ &= item.label.find('@') == std::string::npos;
    if (!item.label.empty()) numbers_[item.label] = dispatch_count_;
    ++dispatch_count_;
    name_queue(item.queue);
    statements_.emplace_back(item);
  }
  void add(BarrierDraft& item) {
    item.label.clear();
    name_queue(item.queue);
    statements_.emplace_back(item);
  }
  void add(LifetimeDraft& item) {
    item.label.clear();
    is_recordable_ &= item.kind == LifetimeKind::kFree || item.kind == LifetimeKind::kDestroy;
    if (item.queue == kDefaultQueueName) name_queue(item.queue);
    statements_.emplace_back(item);
  }
  void add(SyncDraft& item) {
    item.label.clear();
    for (const SemaphoreUseDraft& use : item.semaphores) {
      is_recordable_ &= !use.is_from_outside;
      if (!declared_.insert(use.semaphore).second) continue;
      SemaphoreDraft semaphore;
      semaphore.name = use.semaphore;
      semaphore.is_binary = !use.value;
      declarations_.emplace_back(semaphore);
    }
    const bool names_one = !is_of_host(item.kind) || !item.queue.empty();
    if (names_one) name_queue(item.queue);
    one_by_one(item);
  }
  void add(HostAccessDraft& item) {
    is_recordable_ &= !item.is_approximate;
    item.label.clear();
    item.value = {};
    one_by_one(item);
  }
  template <typename Draft>
  void one_by_one(Draft& item) {
    const std::vector<OperandDraft> operands = std::move(item.operands);
    item.operands.clear();
    if (operands.empty()) statements_.emplace_back(item);
    for (const OperandDraft& operand : operands) {
      is_recordable_ &= !operand.stride;
      item.operands = {operand};
      statements_.emplace_back(item);
    }
  }
  void add(WitnessDraft&) {}
  void add(ExpectDraft&) {}
  template <typename Draft>
  void add(Draft&) {
    is_recordable_ = false;  // Captures, replays and backward passes.
  }
  static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

  bool renames_default_ = false;
  bool is_recordable_ = true;
  uint64_t dispatch_count_ = 0;
  std::map<std::string, uint64_t> numbers_;
  std::set<std::string> declared_;
  std::vector<ItemDraft> declarations_, statements_;
};

// Makes the calls of a runtime that does what the draft says.
class Runtime {
 public:
  explicit Runtime(interlock_recorder* r) : r_(r) {}

  void record(const ProgramDraft& draft) {
    for (const ItemDraft& item : draft.items)
      std::visit([&](const auto& part) { add(part); }, item);
  }

 private:
  void add(const MemoryDraft& item) {
    const unsigned flags = flag_if(item.is_scratch, INTERLOCK_SCRATCH) |
                           flag_if(item.is_unified, INTERLOCK_UNIFIED) | item.atom_bytes;
    memories_[item.name] =
        interlock_recorder_memory(r_, item.name.c_str(), 0, item.size_bytes, flags);
    sizes_[item.name] = item.size_bytes;
  }
  void add(const TensorDraft& item) {
    const bool has_value = item.initial.kind != InitialKind::kNone;
    const unsigned flags = flag_if(has_value, INTERLOCK_HOLDS_VALUE);
    memories_[item.name] = interlock_recorder_tensor(r_, item.name.c_str(), memories_.at(item.base),
                                                     item.offset_bytes, item.shape[0], flags);
    sizes_[item.name] = item.shape[0];
  }
  void add(const OutputDraft& item) {
    for (const std::string& name : item.tensors) {
      interlock_recorder_output(r_, memories_.at(name), 0, sizes_.at(name));
    }
  }
  void add(const QueueDraft& item) {
    queues_[item.name] = interlock_recorder_queue(r_, item.name.c_str(),
                                                  static_cast<interlock_queue_kind>(item.kind));
  }
  void add(const SemaphoreDraft& item) {
    semaphores_[item.name] = interlock_recorder_semaphore(
        r_, item.name.c_str(), item.is_binary ? INTERLOCK_BINARY : item.initial);
  }
  void add(const DispatchDraft& item) {
    const std::string kernel = (item.kernel[0] >= 'a' ? "=" : "") + item.kernel;
    dispatches_.push_back(interlock_recorder_dispatch(
        r_, kernel.c_str(), item.label.empty() ? nullptr : item.label.c_str()));
    for (const OperandDraft& operand : item.operands) {
      const ByteRange range = range_of(operand);
      interlock_recorder_access(r_, kind_of(operand.mode, item), memories_.at(operand.name),
                                range.begin, range.size_bytes());
      if (!operand.stride) continue;
      const StrideDraft& rows = *operand.stride;
      interlock_recorder_rows(r_, rows.row_count, rows.pitch_bytes, rows.width_bytes);
    }
    for (const std::string& earlier : item.after) {
      interlock_recorder_after(r_, dispatches_.at(std::stoul(earlier)));
    }
    if (item.is_programmatic) interlock_recorder_programmatic(r_);
    if (item.is_partial) interlock_recorder_partial(r_);
    if (item.order) interlock_recorder_order(r_, *item.order);
    interlock_recorder_on(r_, queue_of(item.queue));
    interlock_recorder_end(r_);
  }
  void add(const BarrierDraft& item) {
    interlock_recorder_barrier_on(r_, queue_of(item.queue), scope_of_text(item, "barrier").c_str());
  }
  void add(const LifetimeDraft& item) {
    const bool destroys = item.kind == LifetimeKind::kDestroy;
    interlock_recorder_end_tensor(r_, destroys ? INTERLOCK_DESTROY : INTERLOCK_FREE,
                                  memories_.at(item.name),
                                  item.queue.empty() ? INTERLOCK_HOST : queue_of(item.queue));
  }
  void add(const SyncDraft& item) {
    const interlock_queue queue = is_of_host(item.kind) ? INTERLOCK_HOST : queue_of(item.queue);
    std::vector<std::string> stages;
    std::vector<interlock_semaphore_use> uses;
    for (const SemaphoreUseDraft& use : item.semaphores) stages.push_back(stage_text(use.stages));
    for (size_t i = 0; i < stages.size(); ++i) {
      const SemaphoreUseDraft& use = item.semaphores[i];
      uses.push_back({semaphores_.at(use.semaphore), use.value.value_or(0),
                      stages[i].empty() ? nullptr : stages[i].c_str()});
    }
    switch (item.kind) {
      case SyncKind::kSignal:
      case SyncKind::kHostSignals:
        return interlock_recorder_signal(r_, queue, uses.data(), uses.size());
      case SyncKind::kWait:
      case SyncKind::kHostWaits:
        return interlock_recorder_wait(r_, queue, &uses[0]);
      case SyncKind::kSet:
        return interlock_recorder_set(r_, queue, event_of(item.event),
                                      scope_of_text(item, "set " + item.event).c_str());
      case SyncKind::kAwait:
        return interlock_recorder_await(r_, queue, event_of(item.event));
      case SyncKind::kSplit:
        return interlock_recorder_split(r_, queue);
      case SyncKind::kSubmit:
        return interlock_recorder_submit(r_, queue);
      case SyncKind::kHostIdle:
        return interlock_recorder_host_idle(
            r_, item.queue.empty() ? INTERLOCK_HOST : queue_of(item.queue));
      case SyncKind::kHostFlushes:
        return host(INTERLOCK_HOST_FLUSHES, item.operands[0]);
      case SyncKind::kHostInvalidates:
        return host(INTERLOCK_HOST_INVALIDATES, item.operands[0]);
    }
  }
  void add(const HostAccessDraft& item) {
    host(item.access == HostAccess::kReads ? INTERLOCK_HOST_READS : INTERLOCK_HOST_WRITES,
         item.operands[0]);
  }
  template <typename Draft>
  void add(const Draft&) {
    ADD_FAILURE() << "a recording has no such item";
  }

  void host(interlock_host_operation what, const OperandDraft& operand) {
    const ByteRange range = range_of(operand);
    interlock_recorder_host(r_, what, memories_.at(operand.name), range.begin, range.size_bytes());
  }
  ByteRange range_of(const OperandDraft& operand) const {
    return operand.slice.value_or(ByteRange{0, sizes_.at(operand.name)});
  }
  static interlock_access_kind kind_of(AccessMode mode, const DispatchDraft& item) {
    if (mode != AccessMode::kAtomic) return static_cast<interlock_access_kind>(mode);
    return item.attributes.at(0).second == "add" ? INTERLOCK_ATOMIC_ADD : INTERLOCK_ATOMIC_MAX;
  }
  interlock_queue queue_of(const std::string& name) const {
    return name.empty() || name == kDefaultQueueName ? 0 : queues_.at(name);
  }
  interlock_event event_of(const std::string& name) {
    const auto [found, is_new] = events_.try_emplace(name, 0);
    if (is_new) found->second = interlock_recorder_event(r_, name.c_str());
    return found->second;
  }
  static std::string stage_text(StageMask stages) {
    SyncDraft wait;
    wait.kind = SyncKind::kWait;
    wait.semaphores = {{"s", 1, stages}};
    const std::string text = print(ItemDraft(wait));
    const std::string before = "wait s=1 before ";
    return text.starts_with(before) ? text.substr(before.size()) : "";
  }
  // What the printer says between these words and the queue.
  template <typename Draft>
  static std::string scope_of_text(Draft item, const std::string& words) {
    item.queue.clear();
    const std::string text = print(ItemDraft(item));
    return text.size() > words.size() ? text.substr(words.size() + 1) : "";
  }

  interlock_recorder* r_;
  std::map<std::string, interlock_memory> memories_;
  std::map<std::string, uint64_t> sizes_;
  std::map<std::string, interlock_queue> queues_;
  std::map<std::string, interlock_semaphore> semaphores_;
  std::map<std::string, interlock_event> events_;
  std::vector<interlock_dispatch> dispatches_;
};

// Expects that the recording is the program. Returns false if none can be made.
bool is_recorded(const Program& program) {
  const Recordable recordable(draft_of(program));
  if (!recordable.is_one()) return false;
  const Result<Program> expected = parsed(print(recordable.draft()));
  if (!expected) return false;  // A line of many operands may order what lines of one do not.
  const Recording recording =
      recording_of([&](interlock_recorder* r) { Runtime(r).record(recordable.draft()); });
  EXPECT_EQ(recording.status, INTERLOCK_OK) << recording.error;
  const Result<Program> recorded = parsed("interlock 1\n" + recording.text);
  EXPECT_TRUE(recorded) << recorded.error().message << recording.text;
  if (recorded) {
    EXPECT_EQ(print(*recorded), print(*expected));
  }
  return true;
}

TEST(RecorderPrograms, AreTheTrapsOfTheCorpus) {
  size_t count = 0;
  for (const auto& path : corpus_files({"queues"})) {
    SCOPED_TRACE(path);
    const Program program = corpus_program(path);
    // Recordings have no such operations.
    const bool has_others = std::ranges::any_of(program.dispatches, [](const Dispatch& dispatch) {
      return dispatch.stage != Stage::kCompute || dispatch.is_approximate;
    });
    if (has_others) continue;
    EXPECT_TRUE(is_recorded(program));
    ++count;
  }
  EXPECT_GE(count, 70u);
}

TEST(RecorderPrograms, AreRandomOnesOfSeveralQueues) {
  const int full = program_count(1500);
  int recorded = 0;
  for (int seed = 0; seed < full; ++seed) {
    SCOPED_TRACE(seed);
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_queue_program(choice);
    const Result<Program> program = parsed(text);
    if (program && is_recorded(*program)) ++recorded;
    if (HasFailure()) FAIL() << text;
  }
  EXPECT_GT(recorded, full * 3 / 5);
}

}  // namespace
}  // namespace interlock::recorder_programs_test
