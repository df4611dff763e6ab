// DispatchWords: a dispatch as DispatchDraft has it, in words that lie elsewhere: in a line of
// text, or in a draft. Most lines of most texts are dispatches, and copies of their words would
// cost more than all else that is done with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/program/scope.h"

namespace interlock {

struct OperandWords {
  std::string_view name;
  ByteRange slice;  // If `is_sliced`.
  AccessMode mode = AccessMode::kRead;
  bool is_sliced = false;
  bool is_undeclared = false;
  const StrideDraft* stride = nullptr;  // Null: there is none.
  NameId likely;  // What the name may be. It saves a search where it is that, and says nothing.

  bool operator==(const OperandWords&) const = default;
};

struct DispatchWords {
  std::string_view label;
  std::string_view kernel;
  Stage stage = Stage::kCompute;
  std::optional<uint64_t> order;
  std::vector<OperandWords> operands;
  bool is_partial = false;
  bool is_approximate = false;
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::vector<std::string_view> after;
  bool is_programmatic = false;
  std::string_view queue;

  bool operator==(const DispatchWords&) const = default;
};

// Requires: `draft` outlives it.
OperandWords words_of(const OperandDraft& draft);

// Makes `words` those of `draft`, in the room that it has. Requires: `draft` outlives them.
void assign(DispatchWords& words, const DispatchDraft& draft);

}  // namespace interlock
