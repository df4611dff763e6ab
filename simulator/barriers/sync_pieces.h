// Sync pieces: the parts of a program with several queues that order something and can be left out
// one at a time: whole statements, and the words in which they say more than they may need; and the
// program without some of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/scope.h"

namespace interlock {

enum class SyncPieceKind : uint8_t {
  kBarrier,
  kEvent,     // An `await`; with its `set`, if nothing else awaits that. Or a `set` without any.
  kWait,      // Of a queue, or of the host. Of a binary semaphore with the signal that meets it.
  kHostIdle,  // `host idle`
  kHostMove,  // `host flushes`, `host invalidates`
  kEdge,      // One operand of `after A B`.
  kSignal,    // A part of a `signal`, or a `host signals`, that no wait is paired with; none that
              // somebody outside takes (binary_semaphores_taken_outside()).
  // Words: the statement stays, and orders less.
  kDependency,  // One of several dependencies of a barrier or a `set`.
  kMemory,      // Of a barrier or a `set` without scopes: without it, it is `execution`.
  kScope,       // A stage that is named, with its accesses; or an access alone.
  kOperand,     // One of several operands of a dependency, of a flush or of an invalidation.
  kQueue,       // All queues but one that a `host idle` is for.
  kValue,       // Of a wait: that of the signal before does, if the same queue has it.
};

struct SyncPiece {
  SyncPieceKind kind = SyncPieceKind::kBarrier;
  // What goes. Of kEdge the dispatch that it leads to, of kSignal the one that has the part: these
  // stay, unless they have nothing else.
  StatementId statement;
  // kEvent: the set that goes along. kWait: the signal of a binary semaphore, of which a part goes
  // along. kEdge: the dispatch that it comes from. None if there is none.
  StatementId partner;
  uint32_t part = kNone;  // Into Program::signal_parts: what goes of a signal.
  uint32_t edge = kNone;  // Into Program::edges.
  // Of words, into Program::dependencies, and of kOperand into Program::barrier_operands: the first
  // row of a strided one. A kScope without is of the signal part, or of the wait; a kOperand
  // without of what the host moves.
  uint32_t dependency = kNone;
  uint32_t operand = kNone;
  bool is_source = false;       // Of kScope: which side of the dependency.
  Scope cut;                    // Of kScope: what goes. Without a stage, that stays.
  QueueIndex queue = kNoQueue;  // Of kQueue: the one that stays.
  uint32_t lower = kNone;       // Of kValue, into Program::signal_parts: what is waited for then.
  // Of words: where, in the list of sync_pieces_of(), the piece is that this one is a part of.
  uint32_t within = kNone;

  static constexpr uint32_t kNone = UINT32_MAX;

  bool is_word() const { return kind >= SyncPieceKind::kDependency; }

  // All that the host moves by a statement, or an operand of it.
  bool is_of_host_move() const {
    return kind == SyncPieceKind::kHostMove ||
           (kind == SyncPieceKind::kOperand && dependency == kNone);
  }

  // The statement goes, or a part of it. Of an edge no statement does.
  bool takes_from(StatementId id) const {
    return edge == kNone && (statement == id || partner == id);
  }

  bool operator==(const SyncPiece&) const = default;
};

// Returns the pieces of `program`, in the order of their statements. `split` and `submit` are none:
// they say what is done, and not what orders it. Requires: no text_order. Cost: linear.
std::vector<SyncPiece> sync_pieces_of(const Program& program);

// Returns `program` as if its text did not have these pieces; without evidence, and with nothing
// said in short. Waits stay paired as they were. Dispatches and lifetime statements keep their
// numbers, statements do not. Requires: as above; the pieces are of `program`. Cost: linear.
Program without_pieces(const Program& program, std::span<const SyncPiece> pieces);

// "barrier", "event", "wait", "idle", "flush", "edge", "signal", "dependency", "memory", "scope",
// "operand", "queue", "value". Defined, as what follows, in sync_redundancy_text.cc.
std::string_view word_of(SyncPieceKind kind);

// "s=3"; of a binary semaphore "s".
std::string text_of_part(const Program& program, const SignalPart& part);

// "the wait for s=3 on q1 (statement 7)", "the edge from left to join (dispatch 3)".
std::string description_of(const Program& program, const SyncPiece& piece);

}  // namespace interlock
