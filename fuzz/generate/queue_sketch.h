// QueueSketch: a program of several queues as the generator grows it. Knows which queues are
// graphs, what may stand behind `after`, who signals which semaphore, and which events are set, so
// that what it emits builds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "fuzz/generate/queue_generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

class QueueSketch {
 public:
  QueueSketch(Choice& choice, const QueueGeneratorOptions& options, QueueFeatureCounts* counts);

  // A dispatch, or an access of the host.
  void add_operation();
  // A statement that orders something, or ends a value.
  void add_sync();
  // Somebody has to signal what is waited for.
  void add_missing_signals();

  ProgramDraft finish();

 private:
  static constexpr size_t kHost = SIZE_MAX;

  struct SemaphoreState {
    std::string name;
    size_t owner = 0;  // The queue that signals it next; kHost.
    bool is_binary = false;
    uint64_t signal_count = 0;  // And the initial value.
    uint64_t initial = 0;
    uint64_t wait_value_max = 0;  // Of a binary one: how many waits.
    // Of a binary one, where its last wait stands: the next use comes after that. A queue, or
    // kHost.
    size_t taker = 0;

    // A bit is taken before it is set again, and nobody takes what others are to have.
    bool may_be_signaled() const {
      return !is_binary || signal_count == 0 || signal_count <= wait_value_max;
    }
    bool may_be_waited_for() const {
      return !is_binary || wait_value_max < std::max<uint64_t>(signal_count, 1);
    }
    void hand_on() {
      if (is_binary && signal_count == wait_value_max && taker != kHost) owner = taker;
    }
  };

  bool chance(uint64_t numerator, uint64_t denominator) {
    return choice_.chance(numerator, denominator);
  }
  template <typename Items>
  const auto& one_of(const Items& items) {
    return items[choice_.below(std::size(items))];
  }
  void note(QueueFeature feature);
  void draw_features();
  void add_memories();
  void add_tensors();
  void add_queues();
  void add_semaphores();

  // In queue_generator.cc.
  OperandDraft range_in(const std::string& memory, uint64_t size_bytes);
  OperandDraft rows_in(const std::string& memory);
  OperandDraft operand_in(const std::string& memory, uint64_t size_bytes_max);
  OperandDraft operand(AccessMode mode);
  void add_opaque_operands(DispatchDraft& dispatch);
  void add_bytewise_operands(DispatchDraft& dispatch);
  void add_edges(DispatchDraft& dispatch);
  void add_host_access(std::string label);
  size_t draw_queue() { return choice_.below(queues_.size()); }
  std::string name_of(size_t queue) const { return queues_[queue].name; }
  bool is_graph(size_t queue) const { return queues_[queue].kind == QueueKind::kGraph; }
  void note_queue(size_t queue);

  // In queue_sketch_sync.cc.
  using AddSync = void (QueueSketch::*)();
  void add_barrier();
  void add_event();
  void add_submit();
  void add_split();
  void add_signal();
  void add_wait();
  void add_handoff();
  void add_idle();
  void add_host_move();
  void add_end();
  void add_wait_from_outside(const SemaphoreState& semaphore);
  Scope draw_scope();
  StageMask draw_stages();
  BarrierKind draw_dependencies(std::vector<DependencyDraft>& dependencies, bool is_barrier);
  SemaphoreUseDraft next_signal(SemaphoreState& semaphore);
  void emit_wait(const SemaphoreState& semaphore, std::optional<uint64_t> value, size_t queue,
                 StageMask stages);
  void emit_signal(std::vector<SemaphoreUseDraft> uses, size_t owner);
  void emit_sync(SyncKind kind, size_t queue);

  Choice& choice_;
  const QueueGeneratorOptions options_;
  QueueFeatureCounts* const counts_;
  ProgramDraft draft_;
  // What this program may have.
  bool has_copies_ = false;
  bool has_uniforms_ = false;
  bool has_indirect_ = false;
  bool has_atomics_ = false;
  bool has_partial_ = false;
  bool has_host_ = false;
  bool has_operands_ = false;
  bool has_scopes_ = false;
  bool has_stages_ = false;
  bool has_rows_ = false;
  bool has_noncoherent_ = false;
  bool has_images_ = false;  // Graphics, opaque copies, transitions.
  bool has_approximate_ = false;
  bool has_outside_ = false;            // Waits from outside.
  std::vector<uint32_t> sync_weights_;  // By sort of sync: kSorts of queue_sketch_sync.cc.
  std::vector<std::string> memories_;
  std::vector<TensorDraft> tensors_;
  std::vector<bool> is_ended_;  // By tensor: a value that ended does so once.
  std::vector<QueueDraft> queues_;
  std::vector<std::vector<std::string>> events_;  // That were set, by queue.
  std::vector<SemaphoreState> semaphores_;
  std::vector<std::string> nodes_;  // Of graph queues: labels.
  uint64_t operation_count_ = 0;
};

}  // namespace interlock
