// The rules of what the host reads and writes: dispatches of the stage `host`, which no queue
// executes.
#include <cmath>

#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/element_text.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {

bool ProgramBuilder::append(const HostAccessDraft& item) {
  if (!check_not_recording("a statement of the host") || !check_statement(item.label)) return false;
  const size_t stride_count = program_.strides.size();
  Dispatch dispatch;
  dispatch.statement = StatementId(program_.statements.size());
  dispatch.first_access = static_cast<uint32_t>(program_.accesses.size());
  dispatch.first_attribute = static_cast<uint32_t>(program_.attributes.size());
  dispatch.host = item.access;
  dispatch.is_approximate = item.is_approximate;
  dispatch.order = program_.dispatches.size();
  if (!append_host_access(item)) {
    program_.accesses.resize(dispatch.first_access);
    drop_strides_from(stride_count);
    return false;
  }
  const bool writes = item.access == HostAccess::kWrites;
  dispatch.access_count = static_cast<uint32_t>(program_.accesses.size()) - dispatch.first_access;
  dispatch.kernel = mix_kernel();
  dispatch.kernel_name = intern(writes ? "host writes" : "host reads");  // No kernel's name.
  use(program_.accesses_of(dispatch));
  const DispatchId id(program_.dispatches.size());
  program_.host_dispatches.push_back(id);
  program_.uncounted_dispatches.push_back(id);
  if (item.value.kind != InitialKind::kNone) {
    HostValue& value = program_.host_values.emplace_back(HostValue{id, item.value});
    const bool is_f32 = dtype_of_value(program_.accesses.back()) == DType::kF32;
    if (is_f32) {
      for (double& number : value.value.values) number = static_cast<float>(number);
    }
    initial_value_count_ += item.value.values.size();
  }
  append_statement(StatementKind::kDispatch, id.index, item.label, kNoQueue);
  program_.dispatches.push_back(dispatch);
  return true;
}

// May leave operands behind when it fails.
bool ProgramBuilder::append_host_access(const HostAccessDraft& item) {
  const bool writes = item.access == HostAccess::kWrites;
  if (item.access == HostAccess::kNone || item.operands.empty()) {
    return fail(ItemPart::kItem, "the host reads or writes nothing here; expected an operand.");
  }
  if (item.operands.size() > limits_.access_count_per_dispatch) {
    return fail({ItemPart::kOperand, limits_.access_count_per_dispatch},
                "the statement has {} operands, more than the limit of {}.", item.operands.size(),
                limits_.access_count_per_dispatch);
  }
  uint64_t length = item.label.size() + 64;
  for (size_t i = 0; i < item.operands.size(); ++i) {
    OperandWords words = words_of(item.operands[i]);
    words.mode = writes ? AccessMode::kWrite : AccessMode::kRead;
    words.is_undeclared = false;
    if (!append_operand(words, i, program_.accesses)) return false;
    length += text_bytes_max(item.operands[i]);
  }
  constexpr uint64_t kValueBytesMax = 26;
  length += item.value.values.size() * kValueBytesMax;
  return check_host_value(item) && check_line_length("the statement needs up to", length);
}

// What is written are elements: of the tensor, or f32 in a memory.
DType ProgramBuilder::dtype_of_value(const Access& access) const {
  return access.tensor.is_some() ? program_.tensor(access.tensor).dtype : DType::kF32;
}

bool ProgramBuilder::check_host_value(const HostAccessDraft& item) {
  const InitialValue& value = item.value;
  if (value.kind == InitialKind::kNone) return true;
  if (item.is_approximate) {
    return fail(ItemPart::kInitial,
                "a value stands here, and which bytes the host writes is only bounded.");
  }
  if (item.access != HostAccess::kWrites || item.operands.size() != 1 || item.operands[0].stride) {
    return fail(ItemPart::kInitial,
                "a value stands here; it is written to one operand without rows.");
  }
  const Access& access = program_.accesses.back();
  const DType dtype = dtype_of_value(access);
  const uint64_t start = access.tensor.is_some() ? program_.tensor(access.tensor).range.begin : 0;
  const uint64_t element_bytes = size_bytes_of(dtype);
  const uint64_t size_bytes = access.range.size_bytes();
  if ((access.range.begin - start) % element_bytes != 0 || size_bytes % element_bytes != 0) {
    return fail({ItemPart::kOperand, 0}, "the operand {} is no whole number of elements of {}.",
                in_quotes(item.operands[0].name), word_of(dtype));
  }
  if (value.kind == InitialKind::kRandom && dtype != DType::kF32) {
    return fail(ItemPart::kInitial, "the operand {} has {} elements; random values are f32.",
                in_quotes(item.operands[0].name), word_of(dtype));
  }
  if (value.kind != InitialKind::kValues) return true;
  if (value.values.size() != size_bytes / element_bytes) {
    return fail(ItemPart::kInitial,
                "the operand {} has {} elements and {} values; each element needs one.",
                in_quotes(item.operands[0].name), size_bytes / element_bytes, value.values.size());
  }
  if (value.values.size() > limits_.initial_value_count) {
    return fail(ItemPart::kInitial, "the host writes {} values, more than the limit of {}.",
                value.values.size(), limits_.initial_value_count);
  }
  for (const double number : value.values) {
    const bool fits = dtype == DType::kF32 ? std::isfinite(static_cast<float>(number))
                                           : is_element(dtype, number);
    if (fits) continue;
    return fail(ItemPart::kInitial, "the value {} is none that an element of type {} holds.",
                number, word_of(dtype));
  }
  return true;
}

}  // namespace interlock
