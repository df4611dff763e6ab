#include "encoder/text/plain_declarations.h"

#include <optional>

#include "encoder/program/words.h"
#include "encoder/text/plain_cursor.h"

namespace interlock {
namespace {

// The line ends here, but for a comment.
bool take_end(PlainCursor& cursor) {
  cursor.skip_spaces();
  return cursor.is_at_end() && cursor.has_plain_comment();
}

bool take_name(PlainCursor& cursor, std::string& name) {
  std::string_view word;
  if (!cursor.take_name(word)) return false;
  name = word;
  return true;
}

// "f32[16,64]"
bool take_type(PlainCursor& cursor, TensorDraft& tensor) {
  const auto dtype = position_in<DType>(kDTypeWords, cursor.take_run());
  if (!dtype || !cursor.take('[')) return false;
  tensor.dtype = *dtype;
  do {
    if (!cursor.take_number(tensor.shape.emplace_back())) return false;
  } while (cursor.take(','));
  return cursor.take(']');
}

// "at arena+8192", or nothing.
bool take_placement(PlainCursor& cursor, TensorDraft& tensor) {
  tensor.placement = Placement::kUnplaced;
  if (cursor.is_at_end() || cursor.is_at('=')) return true;
  const auto placement = position_in<Placement>(kPlacementWords, cursor.take_run());
  if (!placement || !cursor.skip_spaces() || !take_name(cursor, tensor.base)) return false;
  tensor.placement = *placement;
  return *placement == Placement::kDonation ||
         (cursor.take('+') && cursor.take_number(tensor.offset_bytes));
}

// "= random(7)", or nothing.
bool take_initial_value(PlainCursor& cursor, InitialValue& initial) {
  cursor.skip_spaces();
  if (!cursor.take("= ")) return true;
  const std::string_view word = cursor.take_run();
  const auto kind = position_in<InitialKind>(kInitialWords, word);
  if (!kind || word.empty() || *kind == InitialKind::kValues) return false;
  initial.kind = *kind;
  return *kind != InitialKind::kRandom ||
         (cursor.take('(') && cursor.take_number(initial.seed) && cursor.take(')'));
}

}  // namespace

bool read_plain_memory(std::string_view line, MemoryDraft& memory) {
  PlainCursor cursor(line);
  if (!cursor.take("memory ") || !take_name(cursor, memory.name) || !cursor.take(' ') ||
      !cursor.take_number(memory.size_bytes)) {
    return false;
  }
  memory.is_scratch = cursor.take(" scratch");
  return take_end(cursor);
}

bool read_plain_tensor(std::string_view line, TensorDraft& tensor) {
  PlainCursor cursor(line);
  if (!cursor.take("tensor ") || !take_name(cursor, tensor.name) || !cursor.take(' ')) return false;
  tensor.shape.clear();
  tensor.base.clear();
  tensor.offset_bytes = 0;
  tensor.initial.kind = InitialKind::kNone;
  tensor.initial.seed = 0;
  if (!take_type(cursor, tensor)) return false;
  // What stands after the extents, or after the offset, is apart from them.
  const bool is_spaced = cursor.skip_spaces();
  return (is_spaced || cursor.is_at_end()) && take_placement(cursor, tensor) &&
         take_initial_value(cursor, tensor.initial) && take_end(cursor);
}

}  // namespace interlock
