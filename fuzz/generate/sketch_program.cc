// What a sketch becomes: a draft, or the program of that draft, which is made without it. Both have
// the same items in the same order.
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"
#include "fuzz/generate/program_sketch.h"

namespace interlock {
namespace {

constexpr size_t kWordsTypical = 16;

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

void write_shape(SketchShape shape, std::vector<uint64_t>& extents) {
  const uint64_t all[] = {shape.rows, shape.cols};
  extents.assign(all + (shape.rows == 0 ? 1 : 0), all + 2);
}

}  // namespace

// Names of a program that are no memory's, no tensor's and no label: of kernels, and of what
// attributes say. They are few, and come again.
class ProgramSketch::Words {
 public:
  // Requires: `names` outlives this, and has no such word yet.
  explicit Words(std::vector<std::string>& names) : names_(names) { words_.reserve(kWordsTypical); }

  struct Kernel {
    std::string_view text;
    NameId name;
    KernelId kernel;
  };
  // Requires: `text` outlives this.
  Kernel kernel(std::string_view text) {
    // The same text is most often at the same place.
    for (const Kernel& known : kernels_) {
      if (known.text.data() == text.data() && known.text.size() == text.size()) return known;
    }
    for (const Kernel& known : kernels_) {
      if (known.text == text) return known;
    }
    const KernelId kernel = is_opaque_kernel(text) ? mix_kernel() : find_kernel(text).value();
    return kernels_.emplace_back(Kernel{text, number_of(text), kernel});
  }

  // As a builder makes it of the same text, which says a number.
  Attribute attribute(std::string_view key, std::string_view value) {
    Attribute attribute;
    attribute.is_number = true;
    attribute.number = interlock::number_of(value).value();
    attribute.key = number_of(key);
    attribute.text = number_of(canonical_number(attribute.number));
    return attribute;
  }

 private:
  NameId number_of(std::string_view word) {
    for (const NameId known : words_) {
      if (names_[known.index] == word) return known;
    }
    names_.emplace_back(word);
    return words_.emplace_back(names_.size() - 1);
  }

  std::vector<std::string>& names_;
  std::vector<NameId> words_;
  std::vector<Kernel> kernels_;
};

std::vector<SketchTensorIndex> ProgramSketch::draw_outputs() {
  std::vector<SketchTensorIndex> outputs;
  if (!swarm_->has(Feature::kOutputs)) return outputs;
  outputs.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].is_alive && swarm_->draws(Feature::kOutputs, *choice_)) outputs.push_back(i);
  }
  if (!outputs.empty()) note(Feature::kOutputs);
  return outputs;
}

void ProgramSketch::write_memory(size_t index, MemoryDraft& draft) const {
  name_of_memory(index).write(draft.name);
  draft.size_bytes = memories_[index].size_bytes;
  draft.is_scratch = memories_[index].is_scratch;
}

void ProgramSketch::write_tensor(SketchTensorIndex index, TensorDraft& draft) const {
  const SketchTensor& tensor = tensors_[index];
  const SketchOrigin& origin = origins_[index];
  name_of_tensor(index).write(draft.name);
  draft.dtype = tensor.dtype;
  write_shape(tensor.shape, draft.shape);
  draft.placement = origin.placement;
  const bool is_placed = origin.placement == Placement::kPlaced;
  (is_placed ? name_of_memory(tensor.memory) : name_of_tensor(origin.base)).write(draft.base);
  draft.offset_bytes = origin.offset_bytes;
  draft.initial.kind = origin.initial_kind;
  draft.initial.seed = origin.initial_seed;
}

// Items are filled in where they stay.
ProgramDraft ProgramSketch::finish() {
  const std::vector<SketchTensorIndex> outputs = draw_outputs();
  ProgramDraft draft;
  draft.items.reserve(memories_.size() + tensors_.size() + statements_.size() + 1);
  const auto add = [&draft]<typename Item>(std::in_place_type_t<Item> type) -> Item& {
    return std::get<Item>(draft.items.emplace_back(type));
  };
  for (size_t i = 0; i < memories_.size(); ++i)
    write_memory(i, add(std::in_place_type<MemoryDraft>));
  for (size_t i = 0; i < tensors_.size(); ++i)
    write_tensor(i, add(std::in_place_type<TensorDraft>));
  if (!outputs.empty()) {
    auto& output = add(std::in_place_type<OutputDraft>);
    for (const SketchTensorIndex i : outputs) {
      name_of_tensor(i).write(output.tensors.emplace_back());
    }
  }
  size_t label = 0;
  size_t next_operand = 0;
  for (Statement& statement : statements_) {
    if (!statement.is_dispatch) {
      add(std::in_place_type<BarrierDraft>).kind = statement.barrier;
      continue;
    }
    auto& dispatch = add(std::in_place_type<DispatchDraft>);
    label_of(label++).write(dispatch.label);
    dispatch.kernel = statement.kernel;
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

// The rules of ProgramBuilder hold by the way a sketch grows, and where they are not asked this
// takes a third of the time. Kernels are bound all the same, as that says how many slices there
// are.
Result<Program> ProgramSketch::build() {
  const std::vector<SketchTensorIndex> outputs = draw_outputs();
  Program program;
  program.names.reserve(memories_.size() + tensors_.size() + 2 * dispatch_count_ + kWordsTypical);
  program.memories.reserve(memories_.size());
  for (size_t i = 0; i < memories_.size(); ++i) {
    program.names.emplace_back(name_of_memory(i).text());
    program.memories.push_back({NameId(i), memories_[i].size_bytes, memories_[i].is_scratch});
  }
  program.tensors.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    program.names.emplace_back(name_of_tensor(i).text());
    append_tensor(i, program);
  }
  program.outputs.reserve(outputs.size());
  for (const SketchTensorIndex output : outputs) program.outputs.emplace_back(output);
  program.statements.reserve(dispatch_count_);
  program.dispatches.reserve(dispatch_count_);
  program.accesses.reserve(operands_.size());
  Words words(program.names);
  for (const Statement& statement : statements_) {
    if (auto fault = append_dispatch(statement, words, program)) return *std::move(fault);
  }
  return program;
}

void ProgramSketch::append_tensor(SketchTensorIndex index, Program& program) const {
  const SketchTensor& sketched = tensors_[index];
  const SketchOrigin& origin = origins_[index];
  INTERLOCK_CHECK(sketched.range.end <= memories_[sketched.memory].size_bytes);
  Tensor& tensor = program.tensors.emplace_back();
  tensor.name = NameId(memories_.size() + index);
  tensor.dtype = sketched.dtype;
  write_shape(sketched.shape, tensor.shape);
  tensor.placement = origin.placement;
  tensor.initial.kind = origin.initial_kind;
  tensor.initial.seed = origin.initial_seed;
  tensor.memory = MemoryId(sketched.memory);
  tensor.range = sketched.range;
  tensor.root = TensorId(index);
  if (origin.placement == Placement::kPlaced) return;
  tensor.source = TensorId(origin.base);
  if (origin.placement == Placement::kView) tensor.root = program.tensor(tensor.source).root;
}

std::optional<Error> ProgramSketch::append_dispatch(const Statement& statement, Words& words,
                                                    Program& program) const {
  INTERLOCK_CHECK(statement.is_dispatch);
  const size_t number = program.dispatches.size();
  Dispatch& dispatch = program.dispatches.emplace_back();
  const Words::Kernel kernel = words.kernel(statement.kernel);
  dispatch.statement = StatementId(number);
  dispatch.kernel_name = kernel.name;
  dispatch.kernel = kernel.kernel;
  dispatch.order = number;
  dispatch.is_partial = statement.is_partial;
  dispatch.first_access = static_cast<uint32_t>(program.accesses.size());
  dispatch.access_count = static_cast<uint32_t>(statement.operands_end) - dispatch.first_access;
  for (size_t i = dispatch.first_access; i < statement.operands_end; ++i) {
    const SketchOperand& operand = operands_[i];
    INTERLOCK_CHECK(operand.range.end <= memories_[operand.memory].size_bytes);
    Access& access = program.accesses.emplace_back();
    access.memory = MemoryId(operand.memory);
    if (operand.tensor) access.tensor = TensorId(*operand.tensor);
    access.range = operand.range;
    access.mode = operand.mode;
    access.is_sliced = !operand.tensor;
  }
  dispatch.first_attribute = static_cast<uint32_t>(program.attributes.size());
  for (const auto& [key, value] : statement.attributes) {
    if (key == kAtomicKey) {
      dispatch.atomic_op = *position_in<AtomicOp>(kAtomicOpWords, value);
    } else {
      program.attributes.push_back(words.attribute(key, value));
      ++dispatch.attribute_count;
    }
  }
  const auto params = bind_kernel(program, dispatch);
  if (!params) return params.error();
  dispatch.slice_count = static_cast<uint32_t>(slice_count_of(kernel.kernel, *params));
  program.names.emplace_back(label_of(number).text());
  program.statements.push_back({.kind = StatementKind::kDispatch,
                                .index = static_cast<uint32_t>(number),
                                .label = NameId(program.names.size() - 1)});
  return std::nullopt;
}

}  // namespace interlock
