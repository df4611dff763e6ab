// Program: the one type that flows through Interlock. Memories, tensors, and the statements that an
// encoder issued on them. A Program is valid by construction: only ProgramBuilder and the passes
// make one, and every index in it is in bounds.
//
// Storage is flat: accesses and attributes of all dispatches lie in two vectors, so that ten
// million dispatches fit in memory. To edit a program, edit its ProgramDraft (draft.h) and build
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/barrier.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/program/scope.h"
#include "encoder/program/sync_step.h"
#include "encoder/program/text_order.h"

namespace interlock {

enum class DType : uint8_t { kF32, kI32, kU8 };

// Bytes of one element.
uint64_t size_bytes_of(DType dtype);
std::string_view word_of(DType dtype);

// A device allocation: a flat range of bytes.
struct Memory {
  NameId name;
  uint64_t size_bytes = 0;
  bool is_scratch = false;   // Placed after reordering: judged in issue order.
  bool is_implicit = false;  // Of an unplaced tensor: named like it, and no operand can name it.
  bool is_unified = false;   // The host's accesses need no scopes (CUDA managed memory, Metal's).
  // Of memory that is not coherent with the host: the bytes that a flush moves at least, and that
  // host accesses count as (Vulkan 1.3, 11.2, nonCoherentAtomSize). 0: it is coherent.
  uint32_t atom_bytes = 0;
};

enum class InitialKind : uint8_t { kNone, kRandom, kZeros, kOnes, kIota, kValues };

struct InitialValue {
  InitialKind kind = InitialKind::kNone;
  uint64_t seed = 0;           // Of kRandom.
  std::vector<double> values;  // Of kValues: one for each element, exactly as its dtype holds it.

  bool operator==(const InitialValue&) const = default;
};

enum class Placement : uint8_t {
  kPlaced,    // `at memory+offset`
  kView,      // `view source+offset`: a window of the same logical value
  kDonation,  // `donates source`: a new logical value on the old one's bytes
  kUnplaced,  // nobody has chosen bytes yet: it has an implicit memory of exactly its size
};

// A logical value: dtype, shape, and a place in a memory. Two tensors may share bytes.
struct Tensor {
  NameId name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  Placement placement = Placement::kPlaced;
  TensorId source;  // What it views or donates.
  InitialValue initial;
  MemoryId memory;
  ByteRange range;  // In `memory`.
  TensorId root;    // Itself, or the root of what it views.
};

// In the order of the clauses.
enum class AccessMode : uint8_t {
  kIndirect,  // The arguments of an indirect dispatch, read in the stage `indirect`.
  kUniform,   // A read through another cache than kRead: scoped barriers tell the two apart.
  kRead,
  kWrite,
  kUpdate,
  kAtomic,
};
inline constexpr size_t kAccessModeCount = 6;

// The word of the clause: "indirect", "uniform", "reads", "writes", "updates", "atomics".
std::string_view clause_of(AccessMode mode);

enum class AtomicOp : uint8_t { kNone, kAdd, kMin, kMax, kAnd, kOr, kXor };
std::string_view word_of(AtomicOp op);

// One operand of a dispatch: what it declares, or what it touches without saying so.
struct Access {
  MemoryId memory;
  TensorId tensor;  // None when the operand names a memory.
  ByteRange range;  // In `memory`.
  AccessMode mode = AccessMode::kRead;
  bool is_sliced = false;      // Written NAME[a:b].
  bool is_undeclared = false;  // After `actual`: real to the device, unknown to encoders.
  // A strided operand is one access for each row, one after another; this is into Program::strides
  // for all of them. `range` is that of the row.
  uint32_t stride = kNotStrided;

  static constexpr uint32_t kNotStrided = UINT32_MAX;

  // What hazards are about: an update and an atomic have both sides.
  bool has_read_side() const { return mode != AccessMode::kWrite; }
  bool has_write_side() const { return !only_reads(); }
  bool only_reads() const { return mode <= AccessMode::kRead; }
  bool is_atomic() const { return mode == AccessMode::kAtomic; }

  // Both false of an atomic, of which several may be at the same bytes at once.
  bool reads_plainly() const { return only_reads() || mode == AccessMode::kUpdate; }
  bool writes_plainly() const { return mode == AccessMode::kWrite || mode == AccessMode::kUpdate; }
};

// `NAME[a:b rows R pitch P width W]`: row k is [a + k P, a + k P + W), relative to NAME.
struct Stride {
  ByteRange bounds;  // a and b: the rows lie within, and it says no more.
  uint32_t row_count = 0;
  uint64_t pitch_bytes = 0;
  uint64_t width_bytes = 0;
};

// `key=value` of a dispatch. The text is canonical; `number` is its value if `is_number`.
struct Attribute {
  NameId key;
  NameId text;
  double number = 0;
  bool is_number = false;
};

// Who executes a dispatch: a queue, or the host in a statement of its own.
enum class HostAccess : uint8_t { kNone, kReads, kWrites };

struct Dispatch {
  StatementId statement;
  NameId kernel_name;
  KernelId kernel;           // Opaque dispatches have the kernel `mix`.
  uint32_t slice_count = 1;  // As the kernel table splits it.
  uint64_t order = 0;        // Program order: `order=N`, else the dispatch index (program_order.h).
  uint32_t first_access = 0;
  uint32_t access_count = 0;
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
  AtomicOp atomic_op = AtomicOp::kNone;
  Stage stage = Stage::kCompute;  // Of an opaque one: where it executes. See stage_of().
  bool is_partial = false;        // Its writes may leave bytes as they were.
  bool is_approximate = false;    // Its operands bound what it touches.
  HostAccess host = HostAccess::kNone;
  // What a barrier does to the operands of one of its dependencies is a dispatch of its own, the
  // next after it: into Program::dependencies.
  uint32_t transition = kNoTransition;

  static constexpr uint32_t kNoTransition = UINT32_MAX;

  bool is_transition() const { return transition != kNoTransition; }
  // Whether the text counts it: it does neither what the host does nor what barriers do.
  bool is_counted() const { return host == HostAccess::kNone && !is_transition(); }
};

// What `host writes x = random(3)` writes.
struct HostValue {
  DispatchId dispatch;
  InitialValue value;
};

enum class LifetimeKind : uint8_t {
  kFree,     // Ends the value for later statements, and orders nothing.
  kDestroy,  // As kFree; all accesses of its bytes must be ordered before it.
  kPin,      // Until the last unpin, a free or a reset of the value waits.
  kUnpin,
  kReset,  // Frees every byte of a memory.
  kAdopt,  // The bytes of `source` now hold the value `tensor`, which has no others.
};

// The word of the statement: "free", "destroy", "pin", "unpin", "reset", "adopt".
std::string_view word_of(LifetimeKind kind);

// A statement about values: it executes nothing and orders nothing.
struct Lifetime {
  StatementId statement;
  LifetimeKind kind = LifetimeKind::kFree;
  TensorId tensor;  // None for kReset; else no view.
  TensorId source;  // Of kAdopt.
  MemoryId memory;  // What is reset, or what the tensor lies in.
};

enum class StatementKind : uint8_t { kDispatch, kBarrier, kLifetime, kSync };

// "a dispatch", "a barrier", "a lifetime statement", "a sync statement": what a label stands on.
std::string_view noun_of(StatementKind kind);

struct Statement {
  StatementKind kind = StatementKind::kDispatch;
  // Its queue; none if it is of the host. A lifetime statement that names no queue is of the host.
  QueueIndex queue = kDefaultQueue;
  uint32_t index = 0;  // Into dispatches, barriers, lifetimes or syncs, by kind.
  NameId label;        // None if it has none.
};

struct CaptureBody;  // draft.h: statements by name, as they are recorded.

// Recorded statements, which replays execute. Their addresses are those of the recording.
struct Capture {
  NameId name;
  std::shared_ptr<const CaptureBody> body;
  StatementId next;         // What follows it; it has no statements itself. So below.
  uint32_t text_index = 0;  // Among the captures, replays and backward passes, as written.
};

// `replay c` stands for statements [first, first + statement_count).
struct Replay {
  CaptureId capture;
  uint32_t number = 0;  // 1 for the first replay of its capture: labels end in "@1".
  QueueIndex queue = kDefaultQueue;
  StatementId first;
  uint32_t statement_count = 0;
  uint32_t text_index = 0;
  bool is_launch = false;  // Of a graph on a serial queue: Queue::launched_on.
};

// `backward loss wrt w b` stands for statements [first, first + statement_count) on tensors
// [first_tensor, first_tensor + tensor_count), among them the gradients.
struct Backward {
  TensorId loss;
  std::vector<TensorId> wrt;
  std::vector<TensorId> gradients;  // By `wrt`.
  NameId mode;
  StatementId first;
  uint32_t statement_count = 0;
  TensorId first_tensor;
  uint32_t tensor_count = 0;
  uint32_t text_index = 0;
};

enum class DisplacementKind : uint8_t {
  kBefore,        // `witness A before B`
  kAfter,         // `witness A after B`
  kCommitsAfter,  // `witness A commits after B`: A's writes become visible after B.
  // `witness A fetches before B commits`: A reads what memory held before the writes of B.
  kFetchesBefore,
};

// One step away from issue order. A schedule is a list of them, applied in turn (schedule.h).
struct Displacement {
  DispatchId moved;
  DispatchId anchor;
  DisplacementKind kind = DisplacementKind::kBefore;
  bool has_slices = false;  // Only slices [first_slice, first_slice + slice_count) of `moved`.
  uint32_t first_slice = 0;
  uint32_t slice_count = 0;

  bool operator==(const Displacement&) const = default;
};

// `expect clean` (no kind), `expect KIND FIRST [SECOND]` or `expect redundant SYNC`, of an edge its
// two ends, for the program as it stands or for one encoder.
struct Expectation {
  NameId encoder;  // None: the program as it stands.
  bool is_clean = false;
  FindingKind kind = FindingKind::kReadAfterWrite;
  DispatchId first;
  DispatchId second;    // None for kinds that concern one dispatch.
  BarrierId barrier;    // Of kRedundant, which has dispatches only of an edge: its two ends. May be
                        // past the last one if `encoder` is some: it counts the barriers that the
                        // encoder places.
  LifetimeId lifetime;  // Of kUseAfterFree: what ends the value; `first` is then the reader.
  TensorId tensor;      // Of kGradient: what the gradient is by. No dispatches.
  SyncId sync;          // Of kRedundant, instead of a barrier.
  std::vector<StatementId> waiting;  // Of kDeadlock: the cycle, first of the text first.
};

struct Program {
  std::vector<std::string> names;
  std::vector<Memory> memories;  // Those that are declared, then the implicit ones.
  std::vector<Tensor> tensors;
  std::vector<TensorId> outputs;      // Empty: every memory is live at the end.
  std::vector<Queue> queues;          // The default queue first; empty if no other is declared.
  std::vector<Semaphore> semaphores;  // In the order of their first mention.
  std::vector<Statement> statements;
  std::vector<Dispatch> dispatches;  // Issue order; what the host reads and writes, too.
  std::vector<Barrier> barriers;
  std::vector<Lifetime> lifetimes;
  std::vector<Dependency> dependencies;  // Of scoped barriers.
  // Of dependencies and of host flushes and invalidates. Their mode means nothing.
  std::vector<Access> barrier_operands;
  std::vector<Access> accesses;
  std::vector<Attribute> attributes;
  std::vector<SyncStep> syncs;
  std::vector<SignalPart> signal_parts;
  std::vector<Edge> edges;                  // By `to`, rising.
  std::vector<Stride> strides;              // Of strided operands.
  std::vector<DispatchId> host_dispatches;  // Those of the host, rising.
  // Those that the text does not count: of the host and of barriers; rising.
  std::vector<DispatchId> uncounted_dispatches;
  std::vector<HostValue> host_values;  // By dispatch, rising.
  // How the text says some of the statements in short. They are all in `statements`, so that only
  // what prints programs needs to know; a pass that changes statements leaves these three empty.
  std::vector<Capture> captures;
  std::vector<Replay> replays;
  std::vector<Backward> backwards;
  std::vector<Displacement> witness;
  std::vector<Expectation> expectations;
  bool has_program_order = false;  // `order=` stands on the dispatches.
  // Where what has no label stood in the text; null if all statements stand where they did.
  std::shared_ptr<const TextOrder> text_order;

  std::string_view name(NameId id) const { return names[id.index]; }
  const Memory& memory(MemoryId id) const { return memories[id.index]; }
  const Tensor& tensor(TensorId id) const { return tensors[id.index]; }
  const Dispatch& dispatch(DispatchId id) const { return dispatches[id.index]; }

  std::span<const Access> accesses_of(const Dispatch& d) const {
    return std::span(accesses).subspan(d.first_access, d.access_count);
  }
  std::span<const Access> accesses_of(DispatchId id) const { return accesses_of(dispatch(id)); }
  // All but the undeclared ones, which come last.
  std::span<const Access> declared_accesses_of(const Dispatch& d) const {
    uint32_t count = d.access_count;
    while (count > 0 && accesses[d.first_access + count - 1].is_undeclared) --count;
    return std::span(accesses).subspan(d.first_access, count);
  }
  std::span<const Access> declared_accesses_of(DispatchId id) const {
    return declared_accesses_of(dispatch(id));
  }

  std::span<const Attribute> attributes_of(const Dispatch& d) const {
    return std::span(attributes).subspan(d.first_attribute, d.attribute_count);
  }

  std::span<const Dependency> dependencies_of(const Barrier& barrier) const {
    return std::span(dependencies).subspan(barrier.first_dependency, barrier.dependency_count);
  }
  // Of an event's set; none of other steps. So the next two.
  std::span<const Dependency> dependencies_of(const SyncStep& step) const;
  std::span<const Access> operands_of(const SyncStep& step) const;
  std::span<const SignalPart> parts_of(const SyncStep& step) const;
  std::span<const Access> operands_of(const Dependency& dependency) const {
    return std::span(barrier_operands).subspan(dependency.first_operand, dependency.operand_count);
  }

  // "q0", "copies". Requires: some queue. Cost of these three: constant.
  std::string_view name_of(QueueIndex queue) const;
  QueueKind kind_of(QueueIndex queue) const;
  QueueIndex queue_of(const Dispatch& dispatch) const {
    return statements[dispatch.statement.index].queue;
  }
  size_t queue_count() const { return queues.empty() ? 1 : queues.size(); }
  // Itself; of what replays launch, the serial queue of which that is one statement.
  QueueIndex launching_queue_of(QueueIndex queue) const;

  // The edges that lead to it; none if it is of no graph queue. Cost: logarithmic.
  std::span<const Edge> edges_to(DispatchId id) const;

  // What the host writes there; null if that is not said. Cost: logarithmic.
  const InitialValue* host_value_of(DispatchId id) const;

  // The number of a dispatch in the text: what the host reads and writes does not count, nor what
  // barriers do. Requires: it is counted. Cost of both: logarithmic.
  uint32_t number_of(DispatchId id) const;
  // The other way; none if there are not so many.
  DispatchId dispatch_of_number(uint64_t number) const;

  // None if there is no tensor of this name. Cost: linear in the tensors.
  TensorId find_tensor(std::string_view wanted) const;

  // True iff it has a lifetime statement of this kind. Cost: linear in the lifetime statements.
  bool has_any(LifetimeKind kind) const;

  // The label if it has one, else its number in decimal: how text refers to a dispatch. One that is
  // not counted is then "@3", by statement; what a barrier does besides, "@3@2", "@3@3", ….
  std::string reference_of(DispatchId id) const;

  // The label if it has one, else its position among the barriers in decimal.
  std::string reference_of(BarrierId id) const;

  // The label if it has one, else its position among the lifetime statements in decimal.
  std::string reference_of(LifetimeId id) const;

  // The label if it has one, else "@3", by its number as a statement.
  std::string reference_of(SyncId id) const;

  // As that of a dispatch, where it is one, else as that of sync.
  std::string reference_of(StatementId id) const;

  // "free x", "adopt a = x": the statement without its label.
  std::string text_of(const Lifetime& lifetime) const;

  // "vjp (dispatch 1)": how messages refer to a dispatch; the kernel name stands in for a label.
  std::string description_of(DispatchId id) const;

  // "adopt a = x (lifetime statement 0)".
  std::string description_of(LifetimeId id) const;

  // The operand as text: "x", "pool[64:128]".
  std::string text_of(const Access& access) const;
};

}  // namespace interlock
