#include "encoder/build/dispatch_words.h"

namespace interlock {

OperandWords words_of(const OperandDraft& draft) {
  return {.name = draft.name,
          .slice = draft.slice.value_or(ByteRange{}),
          .mode = draft.mode,
          .is_sliced = draft.slice.has_value(),
          .is_undeclared = draft.is_undeclared,
          .stride = draft.stride ? &*draft.stride : nullptr};
}

void assign(DispatchWords& words, const DispatchDraft& draft) {
  words.label = draft.label;
  words.kernel = draft.kernel;
  words.stage = draft.stage;
  words.order = draft.order;
  words.operands.clear();
  for (const OperandDraft& operand : draft.operands) words.operands.push_back(words_of(operand));
  words.is_partial = draft.is_partial;
  words.is_approximate = draft.is_approximate;
  words.attributes.clear();
  for (const auto& [key, value] : draft.attributes) words.attributes.emplace_back(key, value);
  words.after.assign(draft.after.begin(), draft.after.end());
  words.is_programmatic = draft.is_programmatic;
  words.queue = draft.queue;
}

}  // namespace interlock
