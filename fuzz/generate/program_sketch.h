// ProgramSketch: a program as the generator grows it. Knows which tensors are alive and which bytes
// an output may take, so that what it emits builds and breaks no alias contract.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/range.h"
#include "encoder/program/result.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/swarm.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// A matrix, or a vector if rows is 0.
struct SketchShape {
  uint64_t rows = 0;
  uint64_t cols = 1;

  uint64_t size_bytes(DType dtype) const {
    return (rows == 0 ? 1 : rows) * cols * size_bytes_of(dtype);
  }
  bool operator==(const SketchShape&) const = default;
};

struct SketchTensor {
  DType dtype = DType::kF32;
  SketchShape shape;
  uint32_t memory = 0;
  ByteRange range;
  bool is_view = false;
  bool is_input = false;  // Has an initial value; perhaps overwritten since.
  bool is_alive = true;
};

// Indices into the tensors of a sketch.
using SketchTensorIndex = size_t;

// How a tensor is declared, beside its type and its bytes.
struct SketchOrigin {
  Placement placement = Placement::kPlaced;
  SketchTensorIndex base = 0;  // Of kView and kDonation.
  uint64_t offset_bytes = 0;   // Of kPlaced and kView.
  InitialKind initial_kind = InitialKind::kNone;
  uint64_t initial_seed = 0;
};

// Copied all the time: it has no name, which emit() looks up.
struct SketchOperand {
  AccessMode mode = AccessMode::kRead;
  uint32_t memory = 0;
  ByteRange range;
  std::optional<SketchTensorIndex> tensor;  // None: a slice of the memory.
};

// Positions of operands, in the order in which they are drawn from. Made for every output, so it
// lies on no heap.
class OperandPositions {
 public:
  OperandPositions() = default;
  OperandPositions(std::initializer_list<size_t> positions) {
    for (const size_t position : positions) push_back(position);
  }

  void push_back(size_t position) {
    INTERLOCK_CHECK(count_ < positions_.size());
    positions_[count_++] = position;
  }
  void clear() { count_ = 0; }

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  size_t operator[](size_t i) const { return positions_[i]; }
  bool contains(size_t position) const {
    for (size_t i = 0; i < count_; ++i) {
      if (positions_[i] == position) return true;
    }
    return false;
  }

 private:
  std::array<size_t, 16> positions_;
  size_t count_ = 0;
};

class ProgramSketch {
 public:
  ProgramSketch(Choice& choice, const Swarm& swarm, const GeneratorOptions& options,
                FeatureCounts* counts);

  // A tensor of this shape that holds a value: an existing one, a view of one, or a new input.
  SketchTensorIndex pick_input(SketchShape shape, DType dtype = DType::kF32);
  // Any live tensor, of any dtype and shape; a new input if there is none.
  SketchTensorIndex pick_any_input();

  // A tensor that a dispatch with these operands may write. `in_place` are the positions of the
  // operands whose exact range the output may take.
  SketchTensorIndex pick_output(SketchShape shape, DType dtype,
                                const std::vector<SketchOperand>& operands,
                                const OperandPositions& in_place);
  // A new value on the bytes of `source`, which dies.
  // Requires: `shape` is no larger than `source`, which is no view.
  SketchTensorIndex donate(SketchTensorIndex source, SketchShape shape, DType dtype);
  SketchTensorIndex make_fresh(SketchShape shape, DType dtype, bool has_value);

  // A range of a memory: anywhere, or just beside or barely within one used before.
  SketchOperand pick_range(AccessMode mode, uint64_t alignment_bytes);

  SketchOperand operand(AccessMode mode, SketchTensorIndex tensor) const;

  // Adds a read of a tensor of this shape that holds a value, or a write of one that a dispatch
  // with these operands may write.
  void read(std::vector<SketchOperand>& operands, SketchShape shape, DType dtype = DType::kF32);
  void write(std::vector<SketchOperand>& operands, SketchShape shape,
             const OperandPositions& in_place = {});

  // True iff a dispatch with `operands` may also write `range`.
  static bool can_write(const std::vector<SketchOperand>& operands,
                        const OperandPositions& in_place, uint32_t memory, ByteRange range);

  // Attributes: key, value. `kernel` is the name of one of the table, or lasts as long as this.
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  void emit(std::string_view kernel, const std::vector<SketchOperand>& operands,
            Attributes attributes = {}, bool is_partial = false);
  void emit_barrier(BarrierKind kind);

  // While quiet, dispatches read inputs only and write to fresh bytes only: nothing conflicts, so
  // an epoch grows until a tracker of limited size overflows.
  void set_quiet(bool is_quiet) { is_quiet_ = is_quiet; }
  void note(Feature feature);

  const SketchTensor& tensor(SketchTensorIndex index) const { return tensors_[index]; }
  uint32_t dispatch_count() const { return dispatch_count_; }
  Choice& choice() { return *choice_; }
  const Swarm& swarm() const { return *swarm_; }

  // Memories, tensors, outputs, statements. What remains is no sketch. In sketch_program.cc, as the
  // next one.
  ProgramDraft finish();

  // The program of that draft, at less cost. Requires: no barriers.
  // Errors: as build() of the draft, of a kernel and its operands; nothing else can be wrong.
  Result<Program> build();

 private:
  class Words;

  struct Memory {
    uint64_t size_bytes = 0;
    uint64_t used_bytes = 0;  // Everything below is taken.
    bool is_scratch = false;
  };

  // Drafts have names, which are costly to move: finish() makes them.
  struct Statement {
    bool is_dispatch = false;
    BarrierKind barrier = BarrierKind::kFull;
    // Of a dispatch. Its operands begin in operands_ where those of the one before end.
    std::string_view kernel;
    size_t operands_end = 0;
    Attributes attributes;
    bool is_partial = false;
  };

  SketchTensorIndex add_tensor(const SketchOrigin& origin, const SketchTensor& tensor);
  uint32_t add_memory(uint64_t size_bytes, bool is_scratch);
  // Sets candidates_ to the tensors that a dispatch may read now and that fit.
  template <typename Fits>
  void find_readable(Fits fits);
  std::optional<SketchTensorIndex> make_view(SketchShape shape, DType dtype);
  std::optional<SketchTensorIndex> reuse_slot(SketchShape shape, DType dtype,
                                              const std::vector<SketchOperand>& operands);
  std::optional<SketchTensorIndex> take_in_place(SketchShape shape, DType dtype,
                                                 const std::vector<SketchOperand>& operands,
                                                 const OperandPositions& in_place);
  void kill_overlapping(uint32_t memory, ByteRange range);
  // Whether a dispatch may read the tensor now.
  bool is_readable(const SketchTensor& tensor) const {
    return tensor.is_alive && (!is_quiet_ || tensor.is_input);
  }
  uint32_t memory_with_room(uint64_t size_bytes);
  std::vector<SketchTensorIndex> draw_outputs();
  void append_tensor(SketchTensorIndex index, Program& program) const;
  std::optional<Error> append_dispatch(const Statement& statement, Words& words,
                                       Program& program) const;
  void write_memory(size_t index, MemoryDraft& draft) const;
  void write_tensor(SketchTensorIndex index, TensorDraft& draft) const;
  SketchTensorIndex pick_index(size_t count);

  Choice* choice_;
  const Swarm* swarm_;
  GeneratorOptions options_;
  FeatureCounts* counts_;
  std::vector<Memory> memories_;
  std::vector<SketchTensor> tensors_;
  std::vector<SketchOrigin> origins_;  // By tensor.
  std::vector<Statement> statements_;
  std::vector<SketchOperand> operands_;        // Of all dispatches so far.
  std::vector<SketchTensorIndex> candidates_;  // Of one search; kept for its storage.
  uint32_t dispatch_count_ = 0;
  uint64_t next_seed_ = 1;
  bool is_quiet_ = false;
};

}  // namespace interlock
