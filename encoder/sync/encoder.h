// Encoder: decides where synchronization goes. It receives dispatches with their accesses, one at a
// time, and issues dispatches and sync into a sink. A real runtime can use one as it is.
//
// What most encoders do is all that is pure here: issue dispatches and barriers on one queue.
// Command buffers, scopes, queues, semaphores, events and edges have defaults on both sides.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/queue_point.h"

namespace interlock {

// What an encoder may know of a dispatch: its declared accesses, and nothing of the future.
struct EncoderDispatch {
  DispatchId id;
  std::span<const Access> accesses;  // Declared ones. Ranges in their memories.
  AtomicOp atomic_op = AtomicOp::kNone;
  Stage stage = Stage::kCompute;     // Where it executes, but for the arguments of an indirect one.
  QueueIndex queue = kDefaultQueue;  // Where the program has it.
};

// Whether the two may not overlap: they share a byte, and one of them changes it. Atomics of one
// operation may; `is_one_atomic_op`: both dispatches have the same `atomic_op`.
inline bool conflicts(const Access& first, const Access& second, bool is_one_atomic_op) {
  if (first.memory != second.memory || !share_a_byte(first.range, second.range)) return false;
  if (first.is_atomic() && second.is_atomic()) return !is_one_atomic_op;
  return first.has_write_side() || second.has_write_side();
}

// A value of a timeline semaphore, which one queue signals with rising values.
struct SemaphorePoint {
  uint32_t semaphore = 0;
  uint64_t value = 0;
  StageMask stages = kAllStages;  // What a signal covers; what a wait holds back.

  bool operator==(const SemaphorePoint&) const = default;
};

struct SyncCommand;  // sync_command.h: what the text can say, and a method below does not.

// Where an encoder issues its commands.
class CommandSink {
 public:
  virtual ~CommandSink() = default;
  virtual void issue_dispatch(DispatchId id) = 0;

  // Requires: it is not scoped; those are issued by the next one.
  virtual void issue_barrier(BarrierKind kind) = 0;

  // A barrier of one dependency, which covers all memory. Where there are no scopes a full barrier
  // does what it does, and more.
  virtual void issue_scoped_barrier(const Scope& /*source*/, const Scope& /*destination*/) {
    issue_barrier(BarrierKind::kFull);
  }

  // A command buffer ends. That orders nothing.
  virtual void issue_split() {}

  // The rest is about several queues. Where there is one, all is issued there in this order, and a
  // full barrier does what a wait, an event or an edge does, and more.

  // What is issued next is so on this queue.
  virtual void use_queue(QueueIndex /*queue*/) {}

  virtual void issue_signal(const SemaphorePoint& /*point*/) {}
  virtual void issue_wait(const SemaphorePoint& /*point*/) { issue_barrier(BarrierKind::kFull); }

  // A submission to a queue whose semaphore, that of its index, counts its dispatches: waits for
  // dispatches of others, `id`, and the signal that there have been `number`. A runtime submits it
  // in one call (vkQueueSubmit2); a sink that does not hears it by the methods above, in this
  // order.
  virtual void issue_submission(QueueIndex queue, std::span<const QueuePoint> waits, DispatchId id,
                                uint64_t number);

  // A barrier in two halves, of one dependency, on one queue.
  virtual void issue_set(uint32_t /*event*/, const Scope& /*source*/,
                         const Scope& /*destination*/) {}
  virtual void issue_await(uint32_t /*event*/) { issue_barrier(BarrierKind::kFull); }

  // On a graph queue, before `to` is issued.
  virtual void issue_edge(DispatchId /*from*/, DispatchId /*to*/) {
    issue_barrier(BarrierKind::kFull);
  }
  // The same of execution alone. The text says it of all edges to a dispatch, or of none: if one
  // of them is full, all are.
  virtual void issue_programmatic_edge(DispatchId from, DispatchId to) { issue_edge(from, to); }

  // Any statement of sync. What is of the host is of no queue. Where there is one queue, and no
  // host, a full barrier does what waits for signals do and what some scopes and operands do; the
  // rest orders nothing there.
  virtual void issue_sync(const SyncCommand& command);

  // A statement of the program about a value stands here, on the queue that the program has it on.
  // Where there is one queue they keep the places that they have.
  virtual void issue_lifetime(LifetimeId /*id*/) {}
};

class Encoder {
 public:
  virtual ~Encoder() = default;

  // Called before all others, with what a runtime knows of its values: accesses name them.
  virtual void begin(std::span<const Tensor> /*tensors*/) {}

  // Called once per dispatch, in the order in which the program has them. An encoder that does not
  // reorder issues any barrier that `dispatch` needs, then the dispatch.
  virtual void encode(const EncoderDispatch& dispatch, CommandSink& sink) = 0;

  // Called where a command buffer ends, in the order of the dispatches. On one queue a barrier also
  // covers what earlier command buffers have, so what is known stays known; an encoder that forgets
  // it, or has other means between command buffers, says so here. One that holds dispatches issues
  // them first.
  virtual void end_command_buffer(CommandSink& sink) { sink.issue_split(); }

  // Called where bytes are to be destroyed: all accesses of `bytes`, whose modes mean nothing, must
  // be over before what follows. `is_pending`: some that was issued is not; an encoder that holds
  // dispatches looks at those itself. Most wait for everything, if for anything.
  virtual void wait_for(std::span<const Access> /*bytes*/, bool is_pending, CommandSink& sink) {
    if (is_pending) wait_for_all(sink);
  }

  // All that was given must be over before what follows. Whoever overrides it may forget what it
  // knows of the dispatches before the barrier, and an encoder that holds some first issues them.
  virtual void wait_for_all(CommandSink& sink) { sink.issue_barrier(BarrierKind::kFull); }

  // Called once at the end, before any last wait_for_all(); an encoder that holds dispatches issues
  // them.
  virtual void finish(CommandSink& /*sink*/) {}
};

class ExternalEncoder;

// A registered encoder, or one that is not part of this build.
struct EncoderEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock list encoders`.
  bool is_broken;            // Known to miss hazards: a model of a real bug, or `none`.
  std::unique_ptr<Encoder> (*create)();
  bool has_scopes = false;  // Its barriers tell stages and sorts of access apart.
  // If some, in the place of create(), which is null then. encode_by() of external_encoder.h asks
  // either.
  ExternalEncoder* external = nullptr;
};

// In registry.cc, which knows every encoder.
std::span<const EncoderEntry> encoder_registry();

// Returns null if there is none of this name.
const EncoderEntry* find_encoder(std::string_view name);

// Gives `encoder` the dispatches of `program` in the order of the text, with what they declare,
// tells it where command buffers end, and asks it to wait where a `destroy` stands, or the unpin
// that one waits for.
// Cost: linear in the program, times log of the tensors that are destroyed, and the encoder's.
void issue_all(const Program& program, Encoder& encoder, CommandSink& sink);

// Runs `encoder` over the dispatches of `program`, in the order of the text: that is the issue
// order, which whoever recorded or reordered the program has chosen. `order=` stays with its
// dispatch, and a `split` where the encoder has it. Other sync is dropped first, and with it the
// witness and the expectations about the program as it stood; expectations about encoders stay, but
// for those of gradients: the statements `backward` are spelled out. If the encoder issues in
// another order, dispatches are permuted and `order=` becomes explicit. Requires: the encoder
// issues every dispatch exactly once, and on one queue; for several there is encode_on_queues() in
// encoder/queues/queue_commands.h. Cost: linear in the program, and what the encoder takes.
Program encode(const Program& program, Encoder& encoder);

// The same of a program that is needed no more: what it declares is not copied.
Program encode(Program&& program, Encoder& encoder);

// As encode(), of an encoder that is not trusted to issue every dispatch once.
// Errors: it drops a dispatch, issues one twice or one that is not there; it issues a scoped
// barrier without its scopes; it issues on another queue, or signals, waits, events, edges or
// other sync for which barriers stand in encode(), so that a mistake would not show.
Result<Program> try_encode(const Program& program, Encoder& encoder);

}  // namespace interlock
