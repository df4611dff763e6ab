// The rules of operands: of dispatches, barriers, events and statements of the host.
#include <limits>

#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {

bool ProgramBuilder::append_operand(const OperandWords& operand, size_t position,
                                    std::vector<Access>& accesses) {
  return resolve(operand, position, accesses.emplace_back()) &&
         (operand.stride == nullptr ||
          append_rows(operand, ItemPlace(ItemPart::kOperand, position), accesses));
}

void ProgramBuilder::drop_strides_from(size_t stride_count) {
  for (; program_.strides.size() > stride_count; program_.strides.pop_back()) {
    expansion_count_ -= program_.strides.back().row_count;
  }
}

// Makes the last access, which is the slice, the first row.
bool ProgramBuilder::append_rows(const OperandWords& operand, ItemPlace place,
                                 std::vector<Access>& accesses) {
  const StrideDraft& rows = *operand.stride;
  const std::string name = in_quotes(operand.name);
  if (!operand.is_sliced || rows.row_count == 0 || rows.width_bytes == 0) {
    return fail(place, "the operand {} has no rows, or rows of 0 bytes; expected at least 1.",
                name);
  }
  if (rows.width_bytes > rows.pitch_bytes) {
    return fail(place, "the rows of {} are {} bytes wide, more than their pitch of {}.", name,
                rows.width_bytes, rows.pitch_bytes);
  }
  const uint64_t size_bytes = operand.slice.size_bytes();
  const bool fits = rows.width_bytes <= size_bytes &&
                    rows.row_count - 1 <= (size_bytes - rows.width_bytes) / rows.pitch_bytes;
  if (!fits) {
    return fail(place, "{} rows of {}, {} bytes apart, end past the range [{}:{}].", rows.row_count,
                name, rows.pitch_bytes, operand.slice.begin, operand.slice.end);
  }
  constexpr uint64_t kAccessesMax = std::numeric_limits<uint32_t>::max();
  const bool has_room = expansion_count_ <= limits_.expansion_count &&
                        rows.row_count <= limits_.expansion_count - expansion_count_;
  if (!has_room) {
    return fail(
        place,
        "the rows of {} are {}, and with what rows, replays and backward passes add so far more than the limit of {}.",
        name, rows.row_count, limits_.expansion_count);
  }
  if (!check_count(accesses.size() + rows.row_count, "operands", kAccessesMax)) {
    return false;
  }
  expansion_count_ += rows.row_count;
  Access row = accesses.back();
  accesses.pop_back();
  row.stride = static_cast<uint32_t>(program_.strides.size());
  program_.strides.push_back(
      {operand.slice, static_cast<uint32_t>(rows.row_count), rows.pitch_bytes, rows.width_bytes});
  const uint64_t begin = row.range.begin;
  for (uint64_t k = 0; k < rows.row_count; ++k) {
    row.range.begin = begin + k * rows.pitch_bytes;
    row.range.end = row.range.begin + rows.width_bytes;
    accesses.push_back(row);
  }
  return true;
}

// Where there are few memories and tensors, they are named again and again: each name is first
// compared with the last one of its length that ended as it does.
NameId ProgramBuilder::find_operand(const OperandWords& operand) {
  const size_t name_count = program_.memories.size() + program_.tensors.size();
  if (operand.likely.is_some() || name_count > last_operand_names_.size() || operand.name.empty()) {
    return names_.find(program_.names, operand.name, operand.likely);
  }
  const size_t place = operand.name.size() + static_cast<uint8_t>(operand.name.back());
  NameId& last = last_operand_names_[place % last_operand_names_.size()];
  return last = names_.find(program_.names, operand.name, last);
}

bool ProgramBuilder::resolve(const OperandWords& operand, size_t position, Access& access) {
  const ItemPlace place(ItemPart::kOperand, position);
  access.mode = operand.mode;
  access.is_undeclared = operand.is_undeclared;
  access.is_sliced = operand.is_sliced;
  const NameId name = find_operand(operand);
  const NameMeaning meaning = name.is_some() ? names_.meaning(name) : NameMeaning{};
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

}  // namespace interlock
