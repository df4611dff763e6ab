// The rules of dispatches: kernel, order, operands and attributes.
#include <algorithm>
#include <limits>

#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

constexpr std::string_view kAtomicKey = "atomic";

}  // namespace

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
  if (!append_dispatch(item, dispatch)) {
    program_.accesses.resize(dispatch.first_access);
    program_.attributes.resize(dispatch.first_attribute);
    names_.forget_from(program_.names, name_count);
    const std::string name = in_quotes(item.label.empty() ? item.kernel : item.label);
    error_message_ += open_capture_ ? fmt::format("\n  - While recording {} in capture {}.", name,
                                                  in_quotes(program_.name(open_capture_->name)))
                                    : fmt::format("\n  - While adding {} as dispatch {}.", name,
                                                  program_.dispatches.size());
    return false;
  }
  use(program_.accesses_of(dispatch));
  if (open_capture_) {
    DispatchDraft recorded = draft_of(program_, dispatch, NameId());
    recorded.label = item.label;
    program_.accesses.resize(dispatch.first_access);
    program_.attributes.resize(dispatch.first_attribute);
    record(std::move(recorded));
    return true;
  }
  program_.has_program_order = item.order.has_value();
  if (item.order) claim_order(*item.order);
  append_statement(StatementKind::kDispatch, program_.dispatches.size(), item.label);
  program_.dispatches.push_back(dispatch);
  return true;
}

// May leave operands, attributes and names behind when it fails.
bool ProgramBuilder::append_dispatch(const DispatchWords& item, Dispatch& dispatch) {
  const NameTable::Mention mention = mention_of(item.kernel);
  dispatch.kernel = names_.meaning_of(mention).kernel;
  if (!dispatch.kernel.is_some() && !find_kernel_of(item, dispatch.kernel)) return false;
  if (!check_order(item)) return false;
  dispatch.kernel_name = names_.add(program_.names, item.kernel, mention);
  names_.meaning(dispatch.kernel_name).kernel = dispatch.kernel;
  dispatch.order = item.order.value_or(program_.dispatches.size());
  dispatch.is_partial = item.is_partial;
  if (!append_operands(item)) return false;
  dispatch.access_count = static_cast<uint32_t>(item.operands.size());
  if (!append_attributes(item, dispatch) || !check_line_length(item)) return false;
  if (is_opaque(program_, dispatch)) return true;
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

bool ProgramBuilder::find_kernel_of(const DispatchWords& item, KernelId& kernel) {
  if (!check_name(ItemPart::kKernel, "kernel", item.kernel)) return false;
  const auto found = is_opaque_kernel(item.kernel) ? mix_kernel() : find_kernel(item.kernel);
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
  if (!program_.dispatches.empty() && item.order.has_value() != program_.has_program_order) {
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
          "operand {} of '{}' stands after '{}'; the order is uniform, reads, writes, updates, atomics, then the same after 'actual'.",
          in_quotes(item.operands[i].name), clause_of(item.operands[i].mode),
          clause_of(item.operands[i - 1].mode));
    }
    if (!resolve(item.operands[i], i, program_.accesses.emplace_back())) return false;
  }
  return true;
}

bool ProgramBuilder::resolve(const OperandWords& operand, size_t position, Access& access) {
  const ItemPlace place(ItemPart::kOperand, position);
  access.mode = operand.mode;
  access.is_undeclared = operand.is_undeclared;
  access.is_sliced = operand.is_sliced;
  const NameMeaning meaning = meaning_of(operand.name);
  if (meaning.tensor.is_some()) {
    access.tensor = meaning.tensor;
    access.memory = program_.tensor(access.tensor).memory;
    access.range = program_.tensor(access.tensor).range;
  } else if (meaning.memory.is_some()) {
    access.memory = meaning.memory;
    access.range = {0, program_.memory(access.memory).size_bytes};
  } else {
    return fail(place, "no tensor or memory {} is declared before this line.{}",
                in_quotes(operand.name),
                advice_for(operand.name, &NameMeaning::tensor, &NameMeaning::memory));
  }
  if (!operand.is_sliced) return true;
  const auto [begin, end] = operand.slice;
  if (begin > end) {
    return fail(place, "the range [{}:{}] of {} ends before it starts.", begin, end,
                in_quotes(operand.name));
  }
  if (end > access.range.size_bytes()) {
    return fail(place, "the range [{}:{}] ends past the end of {} ({} bytes).", begin, end,
                in_quotes(operand.name), access.range.size_bytes());
  }
  access.range = {access.range.begin + begin, access.range.begin + end};
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
  }
  for (const auto& [key, value] : item.attributes) {
    length += key.size() + std::max<uint64_t>(value.size(), kNumberBytesMax) + 2;
  }
  return check_line_length("the dispatch needs up to", length);
}

}  // namespace interlock
