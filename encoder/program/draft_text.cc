// Campaigns print millions of operands: no format strings are read again for each.
#include "encoder/program/draft_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace interlock {

void append_range(std::string& text, uint64_t begin, uint64_t end) {
  const fmt::format_int first(begin);
  const fmt::format_int second(end);
  text += '[';
  text.append(first.data(), first.size());
  text += ':';
  text.append(second.data(), second.size());
  text += ']';
}

void append_operand(std::string& text, const OperandDraft& operand) {
  text += operand.name;
  if (!operand.slice) return;
  append_range(text, operand.slice->begin, operand.slice->end);
  if (!operand.stride) return;
  text.pop_back();
  text += fmt::format(" rows {} pitch {} width {}]", operand.stride->row_count,
                      operand.stride->pitch_bytes, operand.stride->width_bytes);
}

std::string text_of(const OperandDraft& operand) {
  std::string text;
  append_operand(text, operand);
  return text;
}

std::string text_of(const LifetimeDraft& lifetime) {
  std::string text(word_of(lifetime.kind));
  text += ' ' + lifetime.name;
  if (lifetime.kind == LifetimeKind::kAdopt) text += " = " + lifetime.source;
  return text;
}

std::string text_of(const WitnessDraft& witness) {
  constexpr std::string_view kRelations[] = {" before ", " after ", " commits after ",
                                             " fetches before "};
  std::string text = witness.moved;
  if (witness.slices) append_range(text, witness.slices->first, witness.slices->second);
  text += kRelations[static_cast<size_t>(witness.kind)];
  text += witness.anchor;
  if (witness.kind == DisplacementKind::kFetchesBefore) text += " commits";
  return text;
}

}  // namespace interlock
