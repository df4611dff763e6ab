// Encoder: decides where synchronization goes. It receives dispatches with their accesses, one at a
// time, and issues dispatches and sync into a sink. A real runtime can use one as it is.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// What an encoder may know of a dispatch: its declared accesses, and nothing of the future.
struct EncoderDispatch {
  DispatchId id;
  std::span<const Access> accesses;  // Declared ones. Ranges in their memories.
  AtomicOp atomic_op = AtomicOp::kNone;
};

// Where an encoder issues its commands.
class CommandSink {
 public:
  virtual ~CommandSink() = default;
  virtual void issue_dispatch(DispatchId id) = 0;
  virtual void issue_barrier(BarrierKind kind) = 0;
};

class Encoder {
 public:
  virtual ~Encoder() = default;

  // Called once per dispatch, in the order in which the program has them. An encoder that does not
  // reorder issues any barrier that `dispatch` needs, then the dispatch.
  virtual void encode(const EncoderDispatch& dispatch, CommandSink& sink) = 0;

  // Called where bytes are to be destroyed that a dispatch issued since the last barrier accesses:
  // all that was issued must be over before what follows. Whoever overrides it may forget what it
  // knows of the dispatches before the barrier, and a reordering encoder first issues what it
  // holds.
  virtual void wait_for_all(CommandSink& sink) { sink.issue_barrier(BarrierKind::kFull); }

  // Called once at the end; a reordering encoder issues what it still holds.
  virtual void finish(CommandSink& /*sink*/) {}
};

// A registered encoder.
struct EncoderEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock list encoders`.
  bool is_broken;            // Known to miss hazards: a model of a real bug, or `none`.
  std::unique_ptr<Encoder> (*create)();
};

// In registry.cc, which knows every encoder.
std::span<const EncoderEntry> encoder_registry();

// Returns null if there is none of this name.
const EncoderEntry* find_encoder(std::string_view name);

// Gives `encoder` the dispatches of `program` in the order of the text, with what they declare, and
// asks it to wait where a `destroy`, or the unpin that one waits for, finds accesses pending.
// Cost: linear in the program, times log of the tensors that are destroyed, and the encoder's.
void issue_all(const Program& program, Encoder& encoder, CommandSink& sink);

// Runs `encoder` over the dispatches of `program`, in the order of the text: that is the issue
// order, which whoever recorded or reordered the program has chosen. `order=` stays with its
// dispatch. Sync that is already there is dropped first, and with it the witness and the
// expectations about the program as it stood; expectations about encoders stay, but for those of
// gradients: the statements `backward` are spelled out. If the encoder
// issues in another order, dispatches are permuted and `order=` becomes explicit.
// Requires: the encoder issues every dispatch exactly once.
// Cost: linear in the program, and what the encoder takes.
Program encode(const Program& program, Encoder& encoder);

}  // namespace interlock
