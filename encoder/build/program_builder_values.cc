// The rules of memories, tensors and outputs.
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "encoder/build/program_builder.h"
#include "encoder/program/element_text.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

// "f32[16,64]"
std::string type_text(const TensorDraft& item) {
  return fmt::format("{}[{}]", word_of(item.dtype), fmt::join(item.shape, ","));
}

// "at arena+8192", "donates g"
std::string placement_text(const TensorDraft& item) {
  if (item.placement == Placement::kUnplaced) return "in a memory of its own";
  const std::string_view word = word_in(kPlacementWords, item.placement);
  return item.placement == Placement::kDonation
             ? fmt::format("{} {}", word, item.base)
             : fmt::format("{} {}+{}", word, item.base, item.offset_bytes);
}

}  // namespace

// Says in the error where the tensor was to be placed.
bool ProgramBuilder::add_context(const TensorDraft& item) {
  error_message_ += fmt::format("\n  - While placing {}, {} {}.", in_quotes(item.name),
                                type_text(item), placement_text(item));
  return false;
}

bool ProgramBuilder::check_room_for_memory() {
  return check_count(program_.memories.size() + 1, "memories", limits_.memory_count);
}

bool ProgramBuilder::append(const MemoryDraft& item) {
  if (!check_declaration("a memory") || !check_name(ItemPart::kName, "memory", item.name) ||
      !check_not_after(item.name)) {
    return false;
  }
  const NameTable::Mention mention = mention_of(item.name);
  const NameMeaning meaning = names_.meaning_of(mention);
  if (meaning.memory.is_some()) {
    return fail(ItemPart::kName, "memory {} is declared twice; names of memories must differ.",
                in_quotes(item.name));
  }
  if (item.size_bytes == 0) {
    return fail(ItemPart::kSize, "memory {} has 0 bytes; it needs at least 1.",
                in_quotes(item.name));
  }
  if (item.size_bytes > limits_.memory_bytes) {
    return fail(ItemPart::kSize, "memory {} has {} bytes, more than the limit of {}.",
                in_quotes(item.name), item.size_bytes, limits_.memory_bytes);
  }
  if (!check_coherence(item) || !check_room_for_memory()) return false;
  const NameId name = names_.add(program_.names, item.name, mention);
  names_.meaning(name).memory = MemoryId(program_.memories.size());
  has_late_memory_ |= !program_.memories.empty() && program_.memories.back().is_implicit;
  Memory& memory = program_.memories.emplace_back(Memory{name, item.size_bytes, item.is_scratch});
  memory.is_unified = item.is_unified;
  memory.atom_bytes = item.atom_bytes;
  is_raw_operand_.push_back(false);
  return true;
}

// Canonical text has the declaration before what is recorded.
bool ProgramBuilder::check_not_after(std::string_view name) {
  return !has_unqueued_edges_ || name != kEdgesWord ||
         fail(ItemPart::kName,
              "'after' begins edges that are recorded before this line, and names nothing else.");
}

bool ProgramBuilder::check_coherence(const MemoryDraft& item) {
  if (item.atom_bytes == 0) return true;
  if (item.is_unified) {
    return fail(ItemPart::kSize, "memory {} is unified, and so coherent; it has no atoms.",
                in_quotes(item.name));
  }
  return (std::has_single_bit(item.atom_bytes) && item.atom_bytes <= limits_.atom_bytes) ||
         fail(ItemPart::kSize,
              "memory {} has atoms of {} bytes; expected a power of two of at most {}.",
              in_quotes(item.name), item.atom_bytes, limits_.atom_bytes);
}

bool ProgramBuilder::append(const TensorDraft& item) {
  if (!check_declaration("a tensor") || !check_name(ItemPart::kName, "tensor", item.name) ||
      !check_not_after(item.name)) {
    return false;
  }
  const NameTable::Mention mention = mention_of(item.name);
  const NameMeaning meaning = names_.meaning_of(mention);
  if (meaning.tensor.is_some()) {
    return fail(ItemPart::kName, "tensor {} is declared twice; names of tensors must differ.",
                in_quotes(item.name));
  }
  // Operands look up tensors first. In canonical text, where declarations come first, the operands
  // that mean the memory would mean the tensor.
  if (meaning.memory.is_some() && is_raw_operand_[meaning.memory.index]) {
    return fail(
        ItemPart::kName,
        "tensor {} has the name of a memory that an earlier dispatch has as an operand; rename one of them.",
        in_quotes(item.name));
  }
  Tensor tensor;
  if (!check_count(program_.tensors.size() + 1, "tensors", limits_.tensor_count) ||
      !place(item, tensor) || !check_initial_value(item, tensor))
    return false;
  const TensorId id(program_.tensors.size());
  const TensorId base = tensor.source.is_some() ? base_of_[tensor.source.index] : id;
  base_of_.push_back(base);
  is_in_use_.push_back(false);
  has_initial_.push_back(false);
  adopted_from_.push_back(TensorId());
  if (tensor.initial.kind != InitialKind::kNone) {
    has_initial_[base.index] = true;
    initial_ranges_.emplace(std::pair(tensor.memory, tensor.range.begin), id);
  }
  tensor.name = names_.add(program_.names, item.name, mention);
  names_.meaning(tensor.name).tensor = id;
  initial_value_count_ += tensor.initial.values.size();
  if (tensor.placement == Placement::kUnplaced) {
    Memory memory{tensor.name, tensor.range.end};
    memory.is_implicit = true;
    program_.memories.push_back(memory);
    is_raw_operand_.push_back(false);
  }
  program_.tensors.push_back(std::move(tensor));
  is_output_.push_back(false);
  return true;
}

bool ProgramBuilder::place(const TensorDraft& item, Tensor& tensor) {
  uint64_t size_bytes = 0;
  if (!find_size(item, size_bytes)) return false;
  tensor.dtype = item.dtype;
  tensor.shape = item.shape;
  tensor.placement = item.placement;
  tensor.initial = item.initial;
  tensor.root = TensorId(program_.tensors.size());
  if (item.placement == Placement::kUnplaced) return place_nowhere(item, size_bytes, tensor);
  const bool is_placed = item.placement == Placement::kPlaced
                             ? place_in_memory(item, size_bytes, tensor)
                             : place_in_tensor(item, size_bytes, tensor);
  if (!is_placed) return false;
  const uint64_t alignment = size_bytes_of(item.dtype);
  if (tensor.range.begin % alignment == 0) return true;
  fail(
      ItemPart::kOffset,
      "tensor {} starts at byte {} of memory {}, which is not a multiple of {}, the bytes of an element ({}).",
      in_quotes(item.name), tensor.range.begin,
      in_quotes(program_.name(program_.memory(tensor.memory).name)), alignment,
      word_of(item.dtype));
  return add_context(item);
}

bool ProgramBuilder::find_size(const TensorDraft& item, uint64_t& size_bytes) {
  if (item.shape.empty()) {
    return fail(ItemPart::kSize, "tensor {} has no extents; a single element is {}[1].",
                in_quotes(item.name), word_of(item.dtype));
  }
  if (item.shape.size() > limits_.tensor_rank) {
    return fail(ItemPart::kSize, "tensor {} has {} extents, more than the limit of {}.",
                in_quotes(item.name), item.shape.size(), limits_.tensor_rank);
  }
  size_bytes = size_bytes_of(item.dtype);
  for (const uint64_t extent : item.shape) {
    if (extent == 0) {
      return fail(ItemPart::kSize, "tensor {} has an extent of 0 in {}; extents are at least 1.",
                  in_quotes(item.name), type_text(item));
    }
    if (__builtin_mul_overflow(size_bytes, extent, &size_bytes)) {
      return fail(ItemPart::kSize, "tensor {} with {} has more bytes than fit in 64 bits.",
                  in_quotes(item.name), type_text(item));
    }
  }
  return true;
}

// Takes the number of the memory that is made once the tensor stands.
bool ProgramBuilder::place_nowhere(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor) {
  if (size_bytes > limits_.memory_bytes) {
    return fail(ItemPart::kSize, "tensor {} has {} bytes, more than the limit of {} for a memory.",
                in_quotes(item.name), size_bytes, limits_.memory_bytes);
  }
  if (!check_room_for_memory()) return false;
  tensor.memory = MemoryId(program_.memories.size());
  tensor.range = {0, size_bytes};
  return true;
}

bool ProgramBuilder::place_in_memory(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor) {
  const MemoryId base = meaning_of(item.base).memory;
  if (!base.is_some()) {
    return fail(ItemPart::kBase, "no memory {} is declared before tensor {}.{}",
                in_quotes(item.base), in_quotes(item.name),
                advice_for(item.base, &NameMeaning::memory));
  }
  const Memory& memory = program_.memory(base);
  uint64_t end = 0;
  if (__builtin_add_overflow(item.offset_bytes, size_bytes, &end) || end > memory.size_bytes) {
    const std::string last = end < size_bytes ? "beyond 64 bits" : fmt::format("at byte {}", end);
    fail(ItemPart::kOffset, "tensor {} ends {}, past the end of memory {} ({} bytes).",
         in_quotes(item.name), last, in_quotes(item.base), memory.size_bytes);
    return add_context(item);
  }
  tensor.memory = base;
  tensor.range = {item.offset_bytes, end};
  return true;
}

bool ProgramBuilder::place_in_tensor(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor) {
  const bool is_view = item.placement == Placement::kView;
  const TensorId base = meaning_of(item.base).tensor;
  if (!base.is_some()) {
    return fail(ItemPart::kBase, "no tensor {} is declared before {}, which {} it.{}",
                in_quotes(item.base), in_quotes(item.name), is_view ? "views" : "donates",
                advice_for(item.base, &NameMeaning::tensor));
  }
  const Tensor& source = program_.tensor(base);
  const uint64_t offset_bytes = is_view ? item.offset_bytes : 0;
  const uint64_t source_bytes = source.range.size_bytes();
  if (offset_bytes > source_bytes || size_bytes > source_bytes - offset_bytes) {
    if (is_view) {
      fail(ItemPart::kOffset, "view {} of {} bytes at byte {} ends past the end of {} ({} bytes).",
           in_quotes(item.name), size_bytes, offset_bytes, in_quotes(item.base), source_bytes);
    } else {
      fail(ItemPart::kBase, "tensor {} has {} bytes, more than {} ({} bytes), which it donates.",
           in_quotes(item.name), size_bytes, in_quotes(item.base), source_bytes);
    }
    return add_context(item);
  }
  tensor.source = base;
  tensor.memory = source.memory;
  tensor.range.begin = source.range.begin + offset_bytes;
  tensor.range.end = tensor.range.begin + size_bytes;
  if (is_view) tensor.root = source.root;
  return true;
}

bool ProgramBuilder::check_initial_value(const TensorDraft& item, const Tensor& tensor) {
  if (item.initial.kind == InitialKind::kNone) return true;
  if (item.placement == Placement::kView) {
    return fail(
        ItemPart::kInitial,
        "view {} has an initial value; a view shows the value of {}, so the initial value belongs there.",
        in_quotes(item.name), in_quotes(program_.name(program_.tensor(tensor.root).name)));
  }
  if (tensor.source.is_some() && adopted_from_[base_of_[tensor.source.index].index].is_some()) {
    return fail(
        ItemPart::kInitial,
        "tensor {} has an initial value, and its bytes are adopted ones, which hold what was written there.",
        in_quotes(item.name));
  }
  if (item.initial.kind == InitialKind::kRandom && item.dtype != DType::kF32) {
    return fail(ItemPart::kInitial, "tensor {} has {} elements; random initial values are f32.",
                in_quotes(item.name), word_of(item.dtype));
  }
  if (!check_values(item, tensor)) return false;
  // The kept ranges are disjoint, so only the last one that starts before our end can overlap.
  auto next = initial_ranges_.lower_bound({tensor.memory, tensor.range.end});
  if (next == initial_ranges_.begin()) return true;
  const auto& [key, other_id] = *--next;
  const Tensor& other = program_.tensor(other_id);
  if (key.first != tensor.memory || !share_a_byte(other.range, tensor.range)) return true;
  const ByteRange overlap = intersection(other.range, tensor.range);
  return fail(ItemPart::kInitial,
              "tensors {} and {} both have an initial value for {}[{}:{}]; at most one may.",
              in_quotes(program_.name(other.name)), in_quotes(item.name),
              program_.name(program_.memory(tensor.memory).name), overlap.begin, overlap.end);
}

// Of `values(…)`: as many as there are elements, each one that an element can hold.
bool ProgramBuilder::check_values(const TensorDraft& item, const Tensor& tensor) {
  if (item.initial.kind != InitialKind::kValues) return true;
  const std::vector<double>& values = item.initial.values;
  const uint64_t element_count = tensor.range.size_bytes() / size_bytes_of(item.dtype);
  if (values.size() != element_count) {
    fail(ItemPart::kInitial, "tensor {} has {} elements and {} values; each element needs one.",
         in_quotes(item.name), element_count, values.size());
    return add_context(item);
  }
  if (values.size() > limits_.initial_value_count) {
    return fail(ItemPart::kInitial,
                "tensor {} has {} values written out, more than the limit of {}.",
                in_quotes(item.name), values.size(), limits_.initial_value_count);
  }
  const auto bad = std::find_if_not(values.begin(), values.end(),
                                    [&](double value) { return is_element(item.dtype, value); });
  if (bad != values.end()) {
    return fail(ItemPart::kInitial,
                "tensor {} has the value {}, which no element of type {} holds.",
                in_quotes(item.name), *bad, word_of(item.dtype));
  }
  return true;
}

bool ProgramBuilder::append(const OutputDraft& item) {
  if (!check_not_recording("an output")) return false;
  std::vector<TensorId> outputs;
  for (size_t i = 0; i < item.tensors.size(); ++i) {
    const ItemPlace place(ItemPart::kOperand, i);
    const std::string& name = item.tensors[i];
    TensorId tensor;
    const bool is_new = find_tensor(place, name, "this output", tensor) &&
                        (!is_output_[tensor.index] ||
                         fail(place, "tensor {} is an output already.", in_quotes(name)));
    if (!is_new) {
      for (const TensorId id : outputs) is_output_[id.index] = false;
      return false;
    }
    is_output_[tensor.index] = true;
    outputs.push_back(tensor);
  }
  if (outputs.empty()) {
    return fail(ItemPart::kItem, "the output statement names no tensor; expected at least one.");
  }
  program_.outputs.insert(program_.outputs.end(), outputs.begin(), outputs.end());
  return true;
}

}  // namespace interlock
