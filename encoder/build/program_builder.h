// ProgramBuilder: the rules that make a list of items a valid Program, and their error messages.
#pragma once

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/build/dispatch_words.h"
#include "encoder/build/item_place.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/name_table.h"
#include "encoder/program/names.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/word_places.h"
#include "encoder/program/words.h"
#include "encoder/program/written_backward.h"

namespace interlock {

// Why a program is none, where only all of it tells.
struct FaultyStatement {
  StatementId statement;
  ItemPlace place;  // Of a batch of signals, which of them.
  std::string message;
};

// What a name means to sync statements.
struct SyncMeaning {
  QueueIndex queue = kNoQueue;
  SemaphoreId semaphore;
  std::vector<std::pair<QueueIndex, SyncId>> sets;  // Of an event: its last set on each queue.
};

// Whether an operand is named as the clause of edges is.
template <typename DraftOrWords>
bool names_after(const DraftOrWords& dispatch) {
  for (const auto& operand : dispatch.operands) {
    if (operand.name == kEdgesWord) return true;
  }
  return false;
}

// An operand as the printer writes it, with its space; a dependency with its comma. At most.
uint64_t text_bytes_max(const OperandDraft& operand);
uint64_t text_bytes_max(const DependencyDraft& dependency);

// What the queue of a replay has to be, for what names no queue itself.
struct QueueNeeds {
  bool is_graph = false;        // There are edges.
  bool takes_barriers = false;  // There are barriers.
  bool names_after = false;     // There is an operand named 'after': none is to be named.
};

struct LaunchQueue {  // Where the graphs of one serial queue are launched.
  std::string name;   // Of a graph queue and a semaphore: "copies.launches".
  QueueIndex queue = kNoQueue;
  uint64_t count = 0;  // Of launches so far.
};

// A capture that has not ended.
struct OpenCapture {
  NameId name;
  CaptureBody body;
  std::map<std::string, size_t, std::less<>> dispatches;  // In the body, by label.
  QueueNeeds needs;
  std::vector<TensorId> adopted;  // That nothing before it adopts into.
  uint64_t expansion_count = 0;   // What a replay adds, as Limits::expansion_count counts it.
};

// Who writes backward passes. The builder knows none: what is valid does not depend on how a
// gradient is computed.
struct BackwardSource {
  // Why there is no pass of this name, as a sentence without its first capital; none if there is.
  std::optional<std::string> (*name_error)(std::string_view mode);
  // As write_backward() of backward/backward.h.
  Result<WrittenBackward> (*write)(const Program& program, const BackwardDraft& request,
                                   BackwardRoom& room);
};

// Feed items in order, names before use; then finish() once. After an error the builder is as it
// was before the failed add, so that a lenient caller can skip the item and go on. Errors: complete
// sentences without a position; the parser adds it.
class ProgramBuilder {
 public:
  // Without `backwards` every backward pass is an error. Requires: it outlives this and its copies.
  explicit ProgramBuilder(Limits limits = {}, const BackwardSource* backwards = nullptr);

  // Adds an ItemDraft, any of its alternatives, or DispatchWords.
  template <typename Draft>
  Result<Success> add(const Draft& item) {
    if (append(item)) return Success{};
    return Error{error_message_};
  }

  // Says that an item with this name comes soon. Changes nothing but how long its add() takes, and
  // that only where there are so many names that caches do not hold what says where they are.
  void expect_name(std::string_view name) const { names_.prefetch(name); }
  bool has_many_names() const { return program_.names.size() > 4096; }

  // What the error of the last failed add() is about.
  ItemPlace error_place() const { return error_place_; }

  // Bytes of memory that the program takes so far, at most: its lists as long as they are.
  // Cost: constant. In program_builder_memory.cc, as the next three.
  uint64_t memory_bytes() const;

  // Makes room for so many items, or for what so much text usually says.
  void reserve_for(const ItemCounts& counts);
  void reserve_for_text(size_t text_bytes);

  // Makes room for `factor` times as much as was added, but no more than `memory_bytes` in all.
  void reserve(double factor, uint64_t memory_bytes);

  // For lenient callers before finish(): forgets a capture that has not ended, and what it records.
  void drop_open_capture();

  // Makes a split of each sync statement that finish() would not accept, for lenient callers,
  // before it. Cost: O(n log n) for n of them.
  void drop_faulty_syncs();

  // Requires: called once, last. Errors: a capture has not ended; a wait has no signal, or the
  // values of a semaphore do not rise.
  Result<Program> finish();

  // How many were added until now.
  size_t statement_count() const { return program_.statements.size(); }

  // The last one that was added. Requires: there is one.
  StatementId last_statement() const { return StatementId(program_.statements.size() - 1); }

  // After finish() failed: what it is about; no statement if it is a capture.
  const FaultyStatement& faulty_statement() const { return faulty_statement_; }

 private:
  // Sets the error, and returns false. What returns a bool below returns whether there was none.
  template <typename... Arguments>
  bool fail(ItemPlace place, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    error_place_ = place;
    error_message_ = fmt::format(text, std::forward<Arguments>(arguments)...);
    return false;
  }
  NameId intern(std::string_view name) { return names_.add(program_.names, name); }
  NameTable::Mention mention_of(std::string_view name) const {
    return names_.mention_of(program_.names, name);
  }
  NameMeaning meaning_of(std::string_view name) const {
    return names_.meaning_of(program_.names, name);
  }
  // " Did you mean 'gx'?", a close name of these sorts; and where a word of the format stands.
  template <typename... MeaningIds>
  std::string advice_for(std::string_view name, MeaningIds NameMeaning::*... sorts) {
    NearestName nearest(name);
    (offer_names(sorts, nearest), ...);
    return nearest.advice() + place_of_word(name);
  }
  template <typename MeaningId>
  void offer_names(MeaningId NameMeaning::*sort, NearestName& nearest) {
    constexpr size_t kCandidatesMax = 4096;
    if (advice_left_-- <= 0) return;
    for (const std::string_view name : names_.first_names(program_.names, sort, kCandidatesMax)) {
      nearest.offer(name);
    }
  }

  bool append(const ItemDraft& item);
  bool check_name(ItemPlace place, std::string_view noun, std::string_view name);
  // Sets label_mention_. Requires: not empty.
  bool check_label(std::string_view label);
  // At most `limit` of what `noun` names in the program.
  bool check_count(uint64_t count, std::string_view noun, uint64_t limit);
  // The canonical line must be short enough to be read again; `what` says whose `length` it is.
  bool check_line_length(std::string_view what, uint64_t length);
  bool check_room_for_statements(uint64_t added_count);
  bool check_statement(std::string_view label) {
    return check_room_for_statements(1) && (label.empty() || check_label(label));
  }
  // Requires: check_statement() of this label was called last.
  void append_statement(StatementKind kind, size_t index, std::string_view label,
                        QueueIndex queue = kDefaultQueue);
  // Finds the tensor; `where` says before what it is declared.
  bool find_tensor(ItemPlace place, const std::string& name, std::string_view where, TensorId& id);
  size_t counted_dispatch_count() const {
    return program_.dispatches.size() - program_.uncounted_dispatches.size();
  }
  void use(TensorId id) { is_in_use_[base_of_[id.index].index] = true; }
  void use(std::span<const Access> operands);
  Program settled();
  void number_memories();

  // In program_builder_values.cc.
  bool append(const MemoryDraft& item);
  bool append(const TensorDraft& item);
  bool append(const OutputDraft& item);
  bool check_not_after(std::string_view name);
  bool check_coherence(const MemoryDraft& item);
  bool check_room_for_memory();
  bool place(const TensorDraft& item, Tensor& tensor);
  bool place_nowhere(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor);
  bool place_in_memory(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor);
  bool place_in_tensor(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor);
  bool find_size(const TensorDraft& item, uint64_t& size_bytes);
  bool check_initial_value(const TensorDraft& item, const Tensor& tensor);
  bool check_values(const TensorDraft& item, const Tensor& tensor);
  bool add_context(const TensorDraft& item);

  // In program_builder_dispatches.cc.
  bool append(const DispatchDraft& item);
  bool append(const DispatchWords& item);
  bool append_dispatch(const DispatchWords& item, Dispatch& dispatch);
  DispatchDraft draft_as_recorded(const DispatchWords& item, const Dispatch& dispatch);
  bool find_kernel_of(const DispatchWords& item, bool is_opaque, KernelId& kernel);
  bool check_order(const DispatchWords& item);
  void claim_order(uint64_t order);
  bool append_operands(const DispatchWords& item);
  bool check_stage(const DispatchWords& item, bool is_opaque);
  bool find_edges(const DispatchWords& item, QueueIndex queue);
  bool find_edge(std::string_view reference, ItemPlace place, DispatchId& from);
  bool check_recorded_edge(std::string_view reference, ItemPlace place);
  bool append_attributes(const DispatchWords& item, Dispatch& dispatch);
  bool check_attribute_key(const DispatchWords& item, size_t position);
  bool append_attribute(const DispatchWords& item, size_t position, Dispatch& dispatch);
  bool check_line_length(const DispatchWords& item);

  // In program_builder_operands.cc.
  // Appends the access that the operand is, or one for each of its rows.
  bool append_operand(const OperandWords& operand, size_t position, std::vector<Access>& accesses);
  void drop_strides_from(size_t stride_count);
  bool append_rows(const OperandWords& operand, ItemPlace place, std::vector<Access>& accesses);
  NameId find_operand(const OperandWords& operand);
  bool resolve(const OperandWords& operand, size_t position, Access& access);

  // In program_builder_barriers.cc.
  bool append(const BarrierDraft& item);
  // Of a barrier, or of an event.
  bool append_word(const BarrierDraft& item);
  bool append_dependencies(BarrierKind kind, std::span<const DependencyDraft> dependencies,
                           Barrier& barrier);
  bool check_line_length(const BarrierDraft& item);
  bool check_transitions(const BarrierDraft& item);
  void append_transitions(const Barrier& barrier, std::string_view label, QueueIndex queue);
  bool has_transition(StatementId statement) const;

  // In program_builder_statements.cc.
  bool append(const WitnessDraft& item);
  bool append(const ExpectDraft& item);
  bool find_statement(ItemPlace place, StatementKind kind, const std::string& reference,
                      uint32_t& index);
  bool find_numbered(ItemPlace place, std::string_view reference, StatementId& statement);
  bool find_dispatch(ItemPart part, const std::string& reference, DispatchId& id) {
    return find_statement(part, StatementKind::kDispatch, reference, id.index);
  }
  bool find_finding(const ExpectDraft& item, Expectation& expectation);
  bool find_dispatches(const ExpectDraft& item, Expectation& expectation);
  bool find_redundant(const ExpectDraft& item, Expectation& expectation);
  bool find_barrier(const ExpectDraft& item, BarrierId& barrier);
  bool find_waiting(const ExpectDraft& item, Expectation& expectation);
  bool find_lifetime(const ExpectDraft& item, LifetimeId& lifetime);

  // In program_builder_queues.cc.
  struct BinaryUses {
    uint64_t signal_count = 0;
    uint64_t wait_count = 0;
  };
  bool append(const QueueDraft& item);
  bool append(const SemaphoreDraft& item);
  bool append(const SyncDraft& item);
  SyncMeaning& sync_meaning(NameId name);
  const SyncMeaning& sync_meaning_of(std::string_view name) const;
  bool find_queue(std::string_view name, QueueIndex& queue);
  // Whether it is recorded, and names no queue: each replay does.
  bool is_settled_by_replay(std::string_view queue) const {
    return open_capture_.has_value() && queue.empty();
  }
  // " on NAME", as long as it may get in replays.
  uint64_t queue_bytes_max(std::string_view queue) const {
    return 4 + (is_settled_by_replay(queue) ? limits_.name_bytes : queue.size());
  }
  bool check_takes_barriers(QueueIndex queue, std::string_view noun);
  bool check_semaphore(const SyncDraft& item, size_t position);
  SemaphoreId semaphore_of(const SemaphoreUseDraft& use);
  bool check_sync(const SyncDraft& item);
  bool append_sync(const SyncDraft& item, QueueIndex queue, SyncStep& step);
  BinaryUses& uses_of(SemaphoreId id);
  void append_signal_parts(const SyncDraft& item, SyncStep& step);
  bool append_set(const SyncDraft& item, QueueIndex queue, SyncStep& step);
  bool append_await(const SyncDraft& item, QueueIndex queue, SyncStep& step);
  bool append_host_operands(const SyncDraft& item, SyncStep& step);
  bool check_line_length(const SyncDraft& item);

  // In program_builder_waits.cc, as drop_faulty_syncs().
  struct Signaled {
    SemaphoreId semaphore;
    uint64_t value = 0;
    uint32_t part = 0;  // Into Program::signal_parts.
    uint32_t sync = 0;  // Into Program::syncs.
  };
  std::vector<Signaled> sorted_signals() const;
  template <typename Fault>
  void find_faulty_signals(const std::vector<Signaled>& signals, Fault fault) const;
  template <typename Fault>
  void pair_waits(const std::vector<Signaled>& signals, Fault fault);
  std::optional<FaultyStatement> settle_waits();
  void drop_sync(StatementId dropped);
  void number_semaphores();
  void number_binary_signals();
  std::string unmet_text(const SyncStep& wait) const;

  // In program_builder_host.cc.
  bool append(const HostAccessDraft& item);
  bool append_host_access(const HostAccessDraft& item);
  bool check_host_value(const HostAccessDraft& item);
  DType dtype_of_value(const Access& access) const;

  // In program_builder_lifetimes.cc.
  bool append(const LifetimeDraft& item);
  bool find_value(const LifetimeDraft& item, ItemPart part, const std::string& name, TensorId& id);
  bool resolve_lifetime(const LifetimeDraft& item, Lifetime& lifetime);
  bool check_adoption(const LifetimeDraft& item, const Lifetime& lifetime);
  void place_adopted_tensors();

  // In program_builder_groups.cc, and of launches in program_builder_launches.cc.
  bool append(const CaptureDraft& item);
  bool append(const EndDraft& item);
  bool append(const ReplayDraft& item);
  bool append(const BackwardDraft& item);
  bool check_not_recording(std::string_view noun);
  bool check_declaration(std::string_view noun);
  bool check_expansion_room(uint64_t expansion_count);
  bool check_group(std::string_view noun);
  bool check_backward(const BackwardDraft& item);
  bool append_backward(const BackwardDraft& item);
  bool check_replay(const CaptureBody& body, const Replay& replay);
  bool check_queue_of_replay(const QueueNeeds& needs, const Replay& replay);
  bool check_launch(QueueIndex stream);
  const std::string& begin_launch(QueueIndex stream);
  void end_launch(QueueIndex stream);
  void append_launch_step(SyncKind kind, QueueIndex queue, QueueIndex stream, uint64_t value);
  void record(StatementDraft statement);
  uint64_t label_room_bytes() const;

  Limits limits_;
  const BackwardSource* backwards_;
  Program program_;
  ItemPlace error_place_;
  std::string error_message_;
  NameTable names_;
  std::array<NameId, 16> last_operand_names_;  // By length and last letter; see find_operand().
  NameTable::Mention label_mention_;           // Of the statement that is added.
  DispatchWords words_;                        // Of the draft that is added; kept for its room.
  // Disjoint ranges with initial values: (memory, begin) to the tensor.
  std::map<std::pair<MemoryId, uint64_t>, TensorId> initial_ranges_;
  // The numbers given by `order=`, as disjoint runs: first to last, both included. Recorded streams
  // have few runs, whatever their length.
  std::map<uint64_t, uint64_t> order_runs_;
  std::vector<SyncMeaning> sync_meanings_;
  std::vector<BinaryUses> binary_uses_;  // By semaphore, as far as any is binary.
  std::vector<Edge> edges_;              // Of the dispatch that is added.
  FaultyStatement faulty_statement_;
  bool is_default_declared_ = false;  // The queue.
  bool has_unqueued_edges_ = false;   // Recorded ones: nothing may be named 'after' then.
  std::vector<bool> is_raw_operand_;  // By memory: some dispatch names the memory itself.
  std::vector<bool> is_output_;       // By tensor.
  bool has_late_memory_ = false;      // A memory is declared after an unplaced tensor.
  // By tensor without a source, for all that views or donates it too.
  std::vector<TensorId> base_of_;       // By tensor: the one that its sources end at.
  std::vector<bool> is_in_use_;         // An operand, or something that is adopted or freed.
  std::vector<bool> has_initial_;       // One of them has an initial value.
  std::vector<TensorId> adopted_from_;  // None: it is not adopted.
  std::map<TensorId, uint32_t> pin_counts_;
  std::vector<MemoryId> dropped_memories_;  // Of tensors that are adopted into.
  bool has_adoption_ = false;
  std::optional<OpenCapture> open_capture_;
  std::vector<uint64_t> expansion_counts_;  // By capture, of one replay.
  std::vector<uint32_t> replay_counts_;     // By capture.
  std::vector<QueueNeeds> queue_needs_;     // By capture.
  uint64_t expansion_count_ = 0;            // Of all replays and backward passes.
  uint64_t backward_try_count_ = 0;         // Those that did not fit, too. So the next two.
  uint64_t failed_expansion_count_ = 0;     // What passes would have added that did not fit.
  uint64_t rewalk_count_ = 0;
  bool is_in_backward_ = false;                 // What is added is of a backward pass.
  bool is_in_launch_ = false;                   // What is added is of a replay on a serial queue.
  std::map<QueueIndex, LaunchQueue> launches_;  // By serial queue.
  uint64_t recorded_count_ = 0;                 // Statements in captures.
  uint64_t recorded_bytes_ = 0;                 // That they take.
  uint64_t initial_value_count_ = 0;            // Written out.
  uint32_t group_count_ = 0;                    // Captures, replays and backward passes.
  // A hostile program must not make every one of its errors scan all names.
  int advice_left_ = 8;
};

}  // namespace interlock
