// What a sketch becomes: a draft, or the program of that draft, which is built without it. Both
// have the same items in the same order; a draft owns what it says, and the items that a program is
// built of are words that lie here.
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/build/dispatch_words.h"
#include "encoder/build/program_builder.h"
#include "fuzz/generate/program_sketch.h"

namespace interlock {
namespace {

// "t12".
class ShortName {
 public:
  ShortName(char letter, size_t number) {
    text_[0] = letter;
    const auto end = std::to_chars(text_.data() + 1, text_.data() + text_.size(), number).ptr;
    size_ = static_cast<size_t>(end - text_.data());
  }

  std::string_view text() const { return {text_.data(), size_}; }
  void write(std::string& name) const {
    if (name.size() != size_) name.resize(size_);
    std::memcpy(name.data(), text_.data(), size_);
  }

 private:
  std::array<char, 24> text_;
  size_t size_;
};

ShortName name_of_memory(size_t memory) { return {'m', memory}; }
ShortName name_of_tensor(SketchTensorIndex tensor) { return {'t', tensor}; }
ShortName label_of(size_t dispatch) { return {'d', dispatch}; }

}  // namespace

OutputDraft ProgramSketch::draw_outputs() {
  OutputDraft output;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].is_alive && swarm_->draws(Feature::kOutputs, *choice_)) {
      name_of_tensor(i).write(output.tensors.emplace_back());
    }
  }
  if (!output.tensors.empty()) note(Feature::kOutputs);
  return output;
}

void ProgramSketch::write_memory(size_t index, MemoryDraft& draft) const {
  name_of_memory(index).write(draft.name);
  draft.size_bytes = memories_[index].size_bytes;
  draft.is_scratch = memories_[index].is_scratch;
}

void ProgramSketch::write_tensor(SketchTensorIndex index, TensorDraft& draft) const {
  const SketchTensor& tensor = tensors_[index];
  const SketchOrigin& origin = origins_[index];
  const uint64_t extents[] = {tensor.shape.rows, tensor.shape.cols};
  name_of_tensor(index).write(draft.name);
  draft.dtype = tensor.dtype;
  draft.shape.assign(extents + (tensor.shape.rows == 0 ? 1 : 0), extents + 2);
  draft.placement = origin.placement;
  const bool is_placed = origin.placement == Placement::kPlaced;
  (is_placed ? name_of_memory(tensor.memory) : name_of_tensor(origin.base)).write(draft.base);
  draft.offset_bytes = origin.offset_bytes;
  draft.initial.kind = origin.initial_kind;
  draft.initial.seed = origin.initial_seed;
}

// Items are filled in where they stay.
ProgramDraft ProgramSketch::finish() {
  OutputDraft output = draw_outputs();
  ProgramDraft draft;
  draft.items.reserve(memories_.size() + tensors_.size() + statements_.size() + 1);
  const auto add = [&draft]<typename Item>(std::in_place_type_t<Item> type) -> Item& {
    return std::get<Item>(draft.items.emplace_back(type));
  };
  for (size_t i = 0; i < memories_.size(); ++i)
    write_memory(i, add(std::in_place_type<MemoryDraft>));
  for (size_t i = 0; i < tensors_.size(); ++i)
    write_tensor(i, add(std::in_place_type<TensorDraft>));
  if (!output.tensors.empty()) draft.items.emplace_back(std::move(output));
  size_t label = 0;
  size_t next_operand = 0;
  for (Statement& statement : statements_) {
    if (!statement.is_dispatch) {
      add(std::in_place_type<BarrierDraft>).kind = statement.barrier;
      continue;
    }
    auto& dispatch = add(std::in_place_type<DispatchDraft>);
    label_of(label++).write(dispatch.label);
    dispatch.kernel = std::move(statement.kernel);
    dispatch.is_partial = statement.is_partial;
    dispatch.attributes = std::move(statement.attributes);
    dispatch.operands.reserve(statement.operands_end - next_operand);
    for (; next_operand < statement.operands_end; ++next_operand) {
      const SketchOperand& o = operands_[next_operand];
      OperandDraft& operand = dispatch.operands.emplace_back();
      operand.mode = o.mode;
      (o.tensor ? name_of_tensor(*o.tensor) : name_of_memory(o.memory)).write(operand.name);
      if (!o.tensor) operand.slice = o.range;
    }
  }
  return draft;
}

Result<Program> ProgramSketch::build() {
  const OutputDraft output = draw_outputs();
  ProgramBuilder builder = new_builder();
  builder.reserve_for({.name_count = memories_.size() + tensors_.size() + 2 * dispatch_count_,
                       .memory_count = memories_.size(),
                       .tensor_count = tensors_.size(),
                       .statement_count = statements_.size(),
                       .dispatch_count = dispatch_count_,
                       .operand_count = operands_.size()});
  // The number of a name in the program is its position here: declarations come first.
  std::vector<ShortName> names;
  names.reserve(memories_.size() + tensors_.size());
  MemoryDraft memory;
  for (size_t i = 0; i < memories_.size(); ++i) {
    names.push_back(name_of_memory(i));
    write_memory(i, memory);
    if (auto added = builder.add(memory); !added) return added.error();
  }
  TensorDraft tensor;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    names.push_back(name_of_tensor(i));
    write_tensor(i, tensor);
    if (auto added = builder.add(tensor); !added) return added.error();
  }
  if (!output.tensors.empty()) {
    if (auto added = builder.add(output); !added) return added.error();
  }
  size_t label = 0;
  size_t next_operand = 0;
  DispatchWords words;
  for (const Statement& statement : statements_) {
    if (!statement.is_dispatch) {
      if (auto added = builder.add(BarrierDraft{"", statement.barrier}); !added) {
        return added.error();
      }
      continue;
    }
    const ShortName name = label_of(label++);
    words.label = name.text();
    words.kernel = statement.kernel;
    words.is_partial = statement.is_partial;
    words.attributes.assign(statement.attributes.begin(), statement.attributes.end());
    words.operands.clear();
    for (; next_operand < statement.operands_end; ++next_operand) {
      const SketchOperand& o = operands_[next_operand];
      const NameId likely(o.tensor ? memories_.size() + *o.tensor : o.memory);
      words.operands.push_back({.name = names[likely.index].text(),
                                .slice = o.range,
                                .mode = o.mode,
                                .is_sliced = !o.tensor,
                                .likely = likely});
    }
    if (auto added = builder.add(words); !added) return added.error();
  }
  return builder.finish();
}

}  // namespace interlock
