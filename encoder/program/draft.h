// ProgramDraft: a program as it is written, item by item, with names instead of indices. It is what
// the parser reads, what the printer prints, and what mutators and minimizers edit: an item can be
// dropped or changed without renumbering anything else. build() (assemble/build.h) turns it into a
// Program, or says why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct MemoryDraft {
  std::string name;
  uint64_t size_bytes = 0;
  bool is_scratch = false;
  bool is_unified = false;
  uint32_t atom_bytes = 0;  // 0: coherent.
};

struct TensorDraft {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  Placement placement = Placement::kPlaced;
  std::string base;           // The memory, or the tensor that it views or donates, if any.
  uint64_t offset_bytes = 0;  // Of kPlaced and kView, relative to `base`.
  InitialValue initial;
};

struct OutputDraft {
  std::vector<std::string> tensors;
};

// `rows R pitch P width W` of a slice.
struct StrideDraft {
  uint64_t row_count = 0;
  uint64_t pitch_bytes = 0;
  uint64_t width_bytes = 0;

  bool operator==(const StrideDraft&) const = default;
};

struct OperandDraft {
  AccessMode mode = AccessMode::kRead;
  std::string name;                // A tensor or a memory; tensors are looked up first.
  std::optional<ByteRange> slice;  // NAME[a:b], relative to NAME.
  bool is_undeclared = false;      // After `actual`: the dispatch touches it and does not say so.
  std::optional<StrideDraft> stride;  // Of the slice, if there is one.
};

// The order of the operands of a dispatch: of drafts, or of their words.
inline constexpr auto stands_before = [](const auto& a, const auto& b) {
  return a.is_undeclared != b.is_undeclared ? b.is_undeclared : a.mode < b.mode;
};

struct DispatchDraft {
  std::string label;  // Empty if it has none. So for every label below.
  std::string kernel;
  std::optional<uint64_t> order;
  // Uniform, reads, writes, updates, atomics: in this order; then those after `actual`, likewise.
  std::vector<OperandDraft> operands;
  bool is_partial = false;
  std::vector<std::pair<std::string, std::string>> attributes;  // key, value; as written.
  std::vector<std::string> after;  // Of a graph queue: dispatches, by label or index.
  bool is_programmatic = false;    // All of these edges.
  std::string queue;               // Empty: the default one. So for every queue below.
  Stage stage = Stage::kCompute;   // `in copy`, `in graphics`: of opaque ones.
  bool is_approximate = false;
};

template <typename Dispatch>
bool has_atomics(const Dispatch& dispatch) {
  for (const auto& operand : dispatch.operands) {
    if (operand.mode == AccessMode::kAtomic) return true;
  }
  return false;
}

struct DependencyDraft {
  Scope source;
  Scope destination;
  std::vector<OperandDraft> operands;  // Their mode means nothing.
  TransitionKind transition = TransitionKind::kNone;
};

struct BarrierDraft {
  std::string label;
  BarrierKind kind = BarrierKind::kFull;
  std::vector<DependencyDraft> dependencies;  // Of kScoped.
  std::string queue;
};

struct LifetimeDraft {
  std::string label;
  LifetimeKind kind = LifetimeKind::kFree;
  std::string name;    // A tensor; of kReset a memory.
  std::string source;  // Of kAdopt: a tensor.
  std::string queue;   // Empty: in the order of the host.
};

struct QueueDraft {
  std::string name;
  QueueKind kind = QueueKind::kConcurrent;
};

struct SemaphoreDraft {
  std::string name;
  bool is_binary = false;
  uint64_t initial = 0;
};

// `s=3 after copy`, `b before compute`.
struct SemaphoreUseDraft {
  std::string semaphore;
  std::optional<uint64_t> value;  // None: the semaphore is binary.
  StageMask stages = kAllStages;
  bool is_from_outside = false;  // Of a wait.
};

// A sync statement other than a barrier. What its kind does not have is empty.
struct SyncDraft {
  std::string label;
  SyncKind kind = SyncKind::kSplit;
  // One or more of kSignal; one of kWait, kHostWaits, kHostSignals.
  std::vector<SemaphoreUseDraft> semaphores;
  std::string event;                              // Of kSet and kAwait.
  BarrierKind barrier_kind = BarrierKind::kFull;  // Of kSet. So the next.
  std::vector<DependencyDraft> dependencies;
  std::vector<OperandDraft> operands;  // Of kHostFlushes and kHostInvalidates.
  std::string queue;                   // Of kHostIdle, empty: all queues.
};

// `host reads x`, `host writes x = random(3)`.
struct HostAccessDraft {
  std::string label;
  HostAccess access = HostAccess::kReads;  // Never kNone.
  std::vector<OperandDraft> operands;
  InitialValue value;         // Of kWrites. kNone: a hash that nothing else has.
  DType dtype = DType::kF32;  // Of the value, for its text; what it is, the operand says.
  bool is_approximate = false;
};

// Statements from here to EndDraft are recorded, not executed.
struct CaptureDraft {
  std::string name;
};

struct EndDraft {};

// Executes what was recorded. A statement with label L gets the label L@N in the capture's Nth
// replay.
struct ReplayDraft {
  std::string capture;
  std::string queue;  // Of the recorded statements that name none.
};

inline constexpr std::string_view kDefaultBackwardMode = "one-shot";

// Appends a backward pass; the gradient of tensor w is the new tensor d_w.
struct BackwardDraft {
  std::string loss;
  std::vector<std::string> wrt;
  std::string mode{kDefaultBackwardMode};  // A name of backward_registry().
};

// Dispatches are referred to by label, or by dispatch index in decimal; what has no index, and
// sync, by "@" and the number of the statement.
struct WitnessDraft {
  std::string moved;
  std::optional<std::pair<uint64_t, uint64_t>> slices;  // Half open.
  DisplacementKind kind = DisplacementKind::kBefore;
  std::string anchor;
};

struct ExpectDraft {
  std::string encoder;  // Empty: the program as it stands.
  bool is_clean = false;
  FindingKind kind = FindingKind::kReadAfterWrite;
  std::string first;   // Of kRedundant: a barrier, by label or by position among the barriers; a
                       // statement of sync, by label or "@3"; or where an edge comes from. Of
                       // kUseAfterFree: a lifetime statement, likewise. Of kGradient: a tensor.
  std::string second;  // Empty if the kind concerns one statement.
  std::vector<std::string> waiting;  // Of kDeadlock: statements, likewise.
};

using ItemDraft =
    std::variant<MemoryDraft, TensorDraft, OutputDraft, DispatchDraft, BarrierDraft, LifetimeDraft,
                 CaptureDraft, EndDraft, ReplayDraft, BackwardDraft, WitnessDraft, ExpectDraft,
                 QueueDraft, SemaphoreDraft, SyncDraft, HostAccessDraft>;

// What a capture can record.
using StatementDraft = std::variant<DispatchDraft, BarrierDraft, LifetimeDraft>;

struct CaptureBody {
  std::vector<StatementDraft> statements;
};

struct ProgramDraft {
  std::vector<ItemDraft> items;
};

// How many names, items and operands of dispatches there are, or may be.
struct ItemCounts {
  size_t name_count = 0;
  size_t memory_count = 0;
  size_t tensor_count = 0;
  size_t statement_count = 0;
  size_t dispatch_count = 0;
  size_t operand_count = 0;
};

// As far as items say so; names of kernels are few. Cost: linear.
ItemCounts counts_of(const ProgramDraft& draft);

// True iff the item says what is found in the program as it stands: a witness or an expectation.
// Of a program with other statements or bytes it means nothing.
bool is_evidence(const ItemDraft& item);

// Returns `draft` without such items. Cost: linear.
ProgramDraft without_evidence(ProgramDraft draft);

// The canonical draft: memories, tensors, queues, semaphores, outputs, statements, witness,
// expectations. Captures,
// replays and backward passes stand for their statements; outputs stand after the statements if
// there is a backward pass, whose gradients they may name. build(draft_of(p)) equals p.
// Cost: linear.
ProgramDraft draft_of(const Program& program);

// As draft_of(), with every statement as it is executed and every tensor: for passes that insert
// statements, place tensors or leave dispatches out.
ProgramDraft expanded_draft_of(const Program& program);

// Some of what a program executes.
struct ProgramPart {
  std::vector<StatementId> statements;  // Rising.
  std::vector<TensorId> outputs;
};

// As expanded_draft_of(), of the part and the memories and tensors that it refers to; without
// witness and expectations. Cost: linear in the part and in the memories and tensors of the
// program.
ProgramDraft draft_of(const Program& program, const ProgramPart& part);

// The statement as an item of the text. Requires: it is of `program`, and no transition: that is
// part of its barrier.
ItemDraft draft_of(const Program& program, const Statement& statement);

// The queue as drafts have it: nothing for the default one and for the host.
std::string queue_text_of(const Program& program, QueueIndex queue);

// In draft_items.cc: one item, or an operand. Requires: it is of `program`, and so are its accesses
// and attributes.
OperandDraft draft_of(const Program& program, const Access& access);
DispatchDraft draft_of(const Program& program, const Dispatch& dispatch, NameId label);
// Without label, queue and edges: of a dispatch that is no statement yet, too.
DispatchDraft unqueued_draft_of(const Program& program, const Dispatch& dispatch);
// Requires: it is of the host; above, that it is not.
HostAccessDraft host_draft_of(const Program& program, const Dispatch& dispatch, NameId label);
BarrierDraft draft_of(const Program& program, const Barrier& barrier, NameId label);
LifetimeDraft draft_of(const Program& program, const Lifetime& lifetime, NameId label);
SyncDraft draft_of(const Program& program, const SyncStep& step, NameId label);
WitnessDraft draft_of(const Program& program, const Displacement& displacement);
ExpectDraft draft_of(const Program& program, const Expectation& expectation);

}  // namespace interlock
