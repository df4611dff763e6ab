// The rules of dispatches: kernel, order, operands and attributes.
#include <algorithm>
#include <limits>

#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {

bool ProgramBuilder::append(const DispatchDraft& item) {
  assign(words_, item);
  return append(words_);
}

bool ProgramBuilder::append(const DispatchWords& item) {
  if (!check_statement(item.label)) return false;
  const size_t name_count = program_.names.size();
  Dispatch dispatch;
  dispatch.statement = StatementId(program_.statements.size());
  dispatch.first_access = static_cast<uint32_t>(program_.accesses.size());
  dispatch.first_attribute = static_cast<uint32_t>(program_.attributes.size());
  const size_t stride_count = program_.strides.size();
  QueueIndex queue = kDefaultQueue;
  if (!append_dispatch(item, dispatch) || !find_queue(item.queue, queue) ||
      !find_edges(item, queue)) {
    program_.accesses.resize(dispatch.first_access);
    program_.attributes.resize(dispatch.first_attribute);
    drop_strides_from(stride_count);
    names_.forget_from(program_.names, name_count);
    const std::string name = in_quotes(item.label.empty() ? item.kernel : item.label);
    error_message_ += open_capture_ ? fmt::format("\n  - While recording {} in capture {}.", name,
                                                  in_quotes(program_.name(open_capture_->name)))
                                    : fmt::format("\n  - While adding {} as dispatch {}.", name,
                                                  counted_dispatch_count());
    return false;
  }
  use(program_.accesses_of(dispatch));
  if (open_capture_) {
    DispatchDraft recorded = draft_as_recorded(item, dispatch);
    program_.accesses.resize(dispatch.first_access);
    program_.attributes.resize(dispatch.first_attribute);
    drop_strides_from(stride_count);
    has_unqueued_edges_ |= recorded.queue.empty() && !recorded.after.empty();
    record(std::move(recorded));
    return true;
  }
  program_.has_program_order = item.order.has_value();
  if (item.order) claim_order(*item.order);
  append_statement(StatementKind::kDispatch, program_.dispatches.size(), item.label, queue);
  program_.dispatches.push_back(dispatch);
  if (!item.after.empty())
    program_.edges.insert(program_.edges.end(), edges_.begin(), edges_.end());
  return true;
}

// Requires: it is of a capture, and stands nowhere else yet.
DispatchDraft ProgramBuilder::draft_as_recorded(const DispatchWords& item,
                                                const Dispatch& dispatch) {
  DispatchDraft recorded = unqueued_draft_of(program_, dispatch);
  recorded.label = item.label;
  recorded.after.assign(item.after.begin(), item.after.end());
  recorded.is_programmatic = item.is_programmatic;
  recorded.queue = item.queue;
  return recorded;
}

// Sets edges_.
bool ProgramBuilder::find_edges(const DispatchWords& item, QueueIndex queue) {
  edges_.clear();
  const bool names_queue = queue != kDefaultQueue || !item.after.empty();
  if (names_queue && names_after(item)) {
    return fail(
        ItemPart::kQueue,
        "the dispatch has an operand named 'after', which begins edges where a queue is named.");
  }
  if (item.after.empty()) {
    return !item.is_programmatic ||
           fail(ItemPart::kItem, "the dispatch is programmatic and comes after no other.");
  }
  if (!is_settled_by_replay(item.queue) && program_.kind_of(queue) != QueueKind::kGraph) {
    return fail(ItemPart::kQueue,
                "queue {} is {}, and edges order the operations of graph queues alone.",
                in_quotes(program_.name_of(queue)), word_of(program_.kind_of(queue)));
  }
  if (is_settled_by_replay(item.queue)) {
    const NameMeaning meaning = meaning_of(kEdgesWord);
    if (meaning.tensor.is_some() || meaning.memory.is_some()) {
      return fail(ItemPart::kItem,
                  "something is named 'after', so that a dispatch with edges names its queue.");
    }
  }
  if (item.after.size() > limits_.edge_count_per_dispatch) {
    return fail({ItemPart::kAfter, limits_.edge_count_per_dispatch},
                "the dispatch comes after {} others, more than the limit of {}.", item.after.size(),
                limits_.edge_count_per_dispatch);
  }
  const DispatchId to(program_.dispatches.size());
  for (size_t i = 0; i < item.after.size(); ++i) {
    const ItemPlace place(ItemPart::kAfter, i);
    DispatchId from;
    const std::string_view reference = item.after[i];
    if (reference == kProgrammaticWord) {
      return fail(place,
                  "'programmatic' is a word of this clause; name the dispatch by its number.");
    }
    const bool is_found =
        open_capture_ ? check_recorded_edge(reference, place) : find_edge(reference, place, from);
    if (!is_found) return false;
    edges_.push_back({to, from, item.is_programmatic});
    const auto before = item.after.begin() + static_cast<std::ptrdiff_t>(i);
    const bool is_twice = open_capture_ ? std::find(item.after.begin(), before, reference) != before
                                        : std::ranges::count(edges_, from, &Edge::from) > 1;
    if (!is_twice) continue;
    return fail(place, "dispatch {} stands twice after 'after'; once is enough.",
                in_quotes(reference));
  }
  return true;
}

bool ProgramBuilder::find_edge(std::string_view reference, ItemPlace place, DispatchId& from) {
  if (!find_statement(place, StatementKind::kDispatch, std::string(reference), from.index)) {
    return false;
  }
  const QueueIndex queue = program_.queue_of(program_.dispatch(from));
  if (queue != kNoQueue && program_.kind_of(queue) == QueueKind::kGraph) return true;
  return fail(place, "{} is no operation of a graph queue; edges are among those.",
              program_.description_of(from));
}

// In a capture, edges are among what it records, by label.
bool ProgramBuilder::check_recorded_edge(std::string_view reference, ItemPlace place) {
  const auto found = open_capture_->dispatches.find(reference);
  if (found == open_capture_->dispatches.end()) {
    return fail(place, "capture {} records no dispatch {} before this line.",
                in_quotes(program_.name(open_capture_->name)), in_quotes(reference));
  }
  const auto& source = std::get<DispatchDraft>(open_capture_->body.statements[found->second]);
  QueueIndex queue = kDefaultQueue;
  if (is_settled_by_replay(source.queue)) return true;
  return find_queue(source.queue, queue) &&
         (program_.kind_of(queue) == QueueKind::kGraph ||
          fail(place, "{} is no operation of a graph queue; edges are among those.",
               in_quotes(reference)));
}

// May leave operands, attributes and names behind when it fails.
bool ProgramBuilder::append_dispatch(const DispatchWords& item, Dispatch& dispatch) {
  const NameTable::Mention mention = mention_of(item.kernel);
  dispatch.kernel = names_.meaning_of(mention).kernel;
  const bool is_named_opaque = is_opaque_kernel(item.kernel);
  if (!dispatch.kernel.is_some() && !find_kernel_of(item, is_named_opaque, dispatch.kernel)) {
    return false;
  }
  if (!check_order(item)) return false;
  dispatch.kernel_name = names_.add(program_.names, item.kernel, mention);
  names_.meaning(dispatch.kernel_name).kernel = dispatch.kernel;
  dispatch.order = item.order.value_or(program_.dispatches.size());
  dispatch.is_partial = item.is_partial;
  dispatch.is_approximate = item.is_approximate;
  dispatch.stage = item.stage;
  const size_t stride_count = program_.strides.size();
  const bool is_opaque = dispatch.kernel == mix_kernel() && is_named_opaque;
  if (!append_operands(item) || !check_stage(item, is_opaque)) return false;
  dispatch.access_count = static_cast<uint32_t>(program_.accesses.size()) - dispatch.first_access;
  if (!append_attributes(item, dispatch) || !check_line_length(item)) return false;
  if (is_opaque) return true;
  if (program_.strides.size() > stride_count && !takes_rows(kernel_entry(dispatch.kernel))) {
    return fail(ItemPart::kKernel,
                "kernel {} has operands without rows; those of copy, of fill and of opaque "
                "dispatches may have rows.",
                in_quotes(item.kernel));
  }
  if (!item.operands.empty() && item.operands.back().is_undeclared) {
    return fail(
        {ItemPart::kOperand, item.operands.size() - 1},
        "kernel {} touches what the kernel table says; only opaque dispatches have 'actual' operands.",
        in_quotes(item.kernel));
  }
  const auto params = bind_kernel(program_, dispatch, limits_);
  if (!params) return fail(ItemPart::kKernel, "{}", params.error().message);
  const uint64_t slice_count = slice_count_of(dispatch.kernel, *params);
  INTERLOCK_CHECK(slice_count <= std::numeric_limits<uint32_t>::max());
  dispatch.slice_count = static_cast<uint32_t>(slice_count);
  return true;
}

// Whether it may execute where it says, and do there what it says.
bool ProgramBuilder::check_stage(const DispatchWords& item, bool is_opaque) {
  if (!is_opaque) {
    if (item.is_approximate) {
      return fail(ItemPart::kKernel,
                  "kernel {} touches what the kernel table says; only opaque dispatches are "
                  "'approximate'.",
                  in_quotes(item.kernel));
    }
    return item.stage == Stage::kCompute ||
           fail(ItemPart::kKernel,
                "kernel {} is in the kernel table and executes in its own stage; only opaque "
                "dispatches are 'in' another one.",
                in_quotes(item.kernel));
  }
  if (item.stage == Stage::kCompute || item.stage == Stage::kGraphics) return true;
  if (item.stage != Stage::kCopy) {
    return fail(ItemPart::kKernel, "no dispatch executes in the stage {}.",
                in_quotes(text_of(item.stage)));
  }
  for (size_t i = 0; i < item.operands.size(); ++i) {
    const AccessMode mode = item.operands[i].mode;
    const bool is_none_of_copies = mode == AccessMode::kUniform || mode == AccessMode::kIndirect ||
                                   mode == AccessMode::kAtomic;
    if (!is_none_of_copies) continue;
    return fail({ItemPart::kOperand, i},
                "{} is an operand of '{}', which dispatches in the stage 'copy' do not have.",
                in_quotes(item.operands[i].name), clause_of(mode));
  }
  return true;
}

bool ProgramBuilder::find_kernel_of(const DispatchWords& item, bool is_opaque, KernelId& kernel) {
  if (!check_name(ItemPart::kKernel, "kernel", item.kernel)) return false;
  const auto found = is_opaque ? mix_kernel() : find_kernel(item.kernel);
  if (found) {
    kernel = *found;
    return true;
  }
  NearestName nearest(item.kernel);
  for (const KernelEntry& entry : kernel_table()) nearest.offer(entry.name);
  std::string advice = nearest.advice();
  if (advice.empty()) {
    advice = " A kernel that is not in the table starts with an upper-case letter and is opaque.";
  }
  return fail(ItemPart::kKernel, "the kernel table has no {}.{}", in_quotes(item.kernel), advice);
}

bool ProgramBuilder::check_order(const DispatchWords& item) {
  if (item.order && (open_capture_ || group_count_ > 0)) {
    return fail(
        ItemPart::kOrder,
        "'order=' and captures or backward passes exclude each other; what these stand for has no order of its own.");
  }
  const bool is_first = counted_dispatch_count() == 0;
  if (!is_first && item.order.has_value() != program_.has_program_order) {
    return item.order
               ? fail(
                     ItemPart::kOrder,
                     "this dispatch has 'order=' and earlier ones do not; it stands on all dispatches or on none.")
               : fail(
                     ItemPart::kItem,
                     "this dispatch has no 'order=' and earlier ones have it; it stands on all dispatches or on none.");
  }
  if (!item.order) return true;
  const auto next = order_runs_.upper_bound(*item.order);
  if (next == order_runs_.begin() || std::prev(next)->second < *item.order) return true;
  return fail(ItemPart::kOrder, "order={} stands on two dispatches; the numbers must differ.",
              *item.order);
}

void ProgramBuilder::claim_order(uint64_t order) {
  uint64_t last = order;
  auto next = order_runs_.upper_bound(order);
  if (next != order_runs_.end() && next->first - 1 == order) {
    last = next->second;
    next = order_runs_.erase(next);
  }
  if (next != order_runs_.begin() && std::prev(next)->second + 1 == order) {
    std::prev(next)->second = last;
  } else {
    order_runs_.emplace_hint(next, order, last);
  }
}

bool ProgramBuilder::append_operands(const DispatchWords& item) {
  constexpr size_t kAccessesMax = std::numeric_limits<uint32_t>::max();
  if (item.operands.size() > limits_.access_count_per_dispatch) {
    return fail({ItemPart::kOperand, limits_.access_count_per_dispatch},
                "the dispatch has {} operands, more than the limit of {}.", item.operands.size(),
                limits_.access_count_per_dispatch);
  }
  const uint64_t operand_count = program_.accesses.size() + item.operands.size();
  if (!check_count(operand_count, "operands", kAccessesMax)) return false;
  for (size_t i = 0; i < item.operands.size(); ++i) {
    if (i > 0 && stands_before(item.operands[i], item.operands[i - 1])) {
      return fail(
          {ItemPart::kOperand, i},
          "operand {} of '{}' stands after '{}'; the order is indirect, uniform, reads, writes, updates, atomics, then the same after 'actual'.",
          in_quotes(item.operands[i].name), clause_of(item.operands[i].mode),
          clause_of(item.operands[i - 1].mode));
    }
    if (!append_operand(item.operands[i], i, program_.accesses)) return false;
  }
  return true;
}

bool ProgramBuilder::append_attributes(const DispatchWords& item, Dispatch& dispatch) {
  if (item.attributes.size() > limits_.attribute_count_per_dispatch) {
    return fail({ItemPart::kAttribute, limits_.attribute_count_per_dispatch},
                "the dispatch has {} attributes, more than the limit of {}.",
                item.attributes.size(), limits_.attribute_count_per_dispatch);
  }
  for (size_t i = 0; i < item.attributes.size(); ++i) {
    if (!check_attribute_key(item, i) || !append_attribute(item, i, dispatch)) return false;
  }
  if (has_atomics(item) && dispatch.atomic_op == AtomicOp::kNone) {
    return fail(
        {ItemPart::kOperand, item.operands.size() - 1},
        "the dispatch has atomics and does not say which; expected atomic=OP, where OP is add, min, max, and, or or xor.");
  }
  if (!has_atomics(item) && dispatch.atomic_op != AtomicOp::kNone) {
    return fail(ItemPart::kItem,
                "the dispatch has the attribute 'atomic' and no operand of 'atomics'.");
  }
  return true;
}

bool ProgramBuilder::check_attribute_key(const DispatchWords& item, size_t position) {
  const std::string_view key = item.attributes[position].first;
  const ItemPlace place(ItemPart::kAttribute, position);
  if (!check_name(place, "attribute", key)) return false;
  for (size_t i = 0; i < position; ++i) {
    if (item.attributes[i].first != key) continue;
    return fail(place, "attribute {} stands twice; at most once is allowed.", in_quotes(key));
  }
  return true;
}

bool ProgramBuilder::append_attribute(const DispatchWords& item, size_t position,
                                      Dispatch& dispatch) {
  const ItemPlace place(ItemPart::kAttribute, position);
  const auto& [key, value] = item.attributes[position];
  if (key == kAtomicKey) {
    const auto op = position_in<AtomicOp>(kAtomicOpWords, value);
    if (!op || *op == AtomicOp::kNone) {
      return fail(place, "{} is not an atomic operation; expected add, min, max, and, or or xor.",
                  in_quotes(value));
    }
    dispatch.atomic_op = *op;
    return true;
  }
  if (value.size() > limits_.name_bytes) {
    return fail(place, "the value {} of attribute {} has {} bytes, more than the limit of {}.",
                in_quotes(value), in_quotes(key), value.size(), limits_.name_bytes);
  }
  // Words such as "inf" and "nan" would pass for numbers.
  const auto number = is_word(value) ? std::nullopt : number_of(value);
  if (!number && !is_word(value)) {
    return fail(place, "the value {} of attribute {} is neither a word nor a finite 64-bit number.",
                in_quotes(value), in_quotes(key));
  }
  Attribute attribute;
  attribute.key = intern(key);
  attribute.is_number = number.has_value();
  attribute.number = number.value_or(0);
  attribute.text = intern(number ? canonical_number(*number) : value);
  program_.attributes.push_back(attribute);
  ++dispatch.attribute_count;
  return true;
}

bool ProgramBuilder::check_line_length(const DispatchWords& item) {
  constexpr uint64_t kNumberBytesMax = 24;
  uint64_t length =
      label_room_bytes() + item.label.size() + item.kernel.size() + 4 * kNumberBytesMax;
  for (const OperandWords& operand : item.operands) {
    length += operand.name.size() + (operand.is_sliced ? 2 * kNumberBytesMax : 1);
    if (operand.stride != nullptr) length += 4 * kNumberBytesMax;
  }
  for (const std::string_view reference : item.after) {
    length += 1 + reference.size() + label_room_bytes();
  }
  length += queue_bytes_max(item.queue);
  for (const auto& [key, value] : item.attributes) {
    length += key.size() + std::max<uint64_t>(value.size(), kNumberBytesMax) + 2;
  }
  return check_line_length("the dispatch needs up to", length);
}

}  // namespace interlock
