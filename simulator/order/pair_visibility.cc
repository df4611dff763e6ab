// Whether one write is visible to one later access, from the definition. The basic idea is to carry
// the reach of the written bytes from command to command, in pieces that end where operands do, and
// to drop a piece as soon as it is visible.
#include "encoder/program/check.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

namespace {

struct Piece {
  ByteRange bytes;
  Reach before;  // The command that is being applied.
  Reach after;
};

// Requires: pieces are sorted and disjoint, as they stay.
void split_at(std::vector<Piece>& pieces, uint64_t offset) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (offset <= pieces[i].bytes.begin || pieces[i].bytes.end <= offset) continue;
    Piece right = pieces[i];
    right.bytes.begin = offset;
    pieces[i].bytes.end = offset;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1, right);
    return;
  }
}

void add(Reach& reach, Reach more) {
  reach.available |= more.available;
  reach.visible |= more.visible;
}

// Starts the next command: drops what `sort` sees, and joins what has become alike.
void finish_command(std::vector<Piece>& pieces, StageAccess sort) {
  size_t count = 0;
  for (const Piece& piece : pieces) {
    if ((piece.after.visible & bit_of(sort)) != 0) continue;
    Piece* const last = count > 0 ? &pieces[count - 1] : nullptr;
    if (last != nullptr && last->bytes.end == piece.bytes.begin && last->after == piece.after) {
      last->bytes.end = piece.bytes.end;
      continue;
    }
    pieces[count++] = {piece.bytes, piece.after, piece.after};
  }
  pieces.resize(count);
}

}  // namespace

std::optional<ByteRange> ScopedOrder::find_invisible(DispatchId first, DispatchId second,
                                                     StageAccess sort, MemoryId memory,
                                                     ByteRange bytes, uint64_t* step_count) const {
  INTERLOCK_CHECK(first < second);
  const Stage stage = stage_of(first);
  if (bytes.is_empty() || first.index < invisible_begin(stage, sort, second)) return std::nullopt;
  // What is visible has been ordered too.
  if (operands_.empty() || !executes_before(first, second)) return bytes;
  const StageAccess written_as = write_sort_of(stage);
  std::vector<Piece> pieces = {{bytes, {}, {}}};
  uint64_t steps = 0;
  const uint32_t end = commands_before(second);
  for (uint32_t command = commands_before(first); command < end && !pieces.empty(); ++command) {
    for (const ScopedDependency& dependency : dependencies_of(command)) {
      for (const ScopedOperand& operand : operands_of(dependency)) {
        steps += pieces.size();
        if (operand.memory != memory || !share_a_byte(operand.range, bytes)) continue;
        split_at(pieces, operand.range.begin);
        split_at(pieces, operand.range.end);
        for (Piece& piece : pieces) {
          if (!operand.range.contains(piece.bytes)) continue;
          add(piece.after, dependency.added_to(piece.before, written_as, true));
        }
      }
      const bool covers_all = dependency.operand_count == 0;
      for (Piece& piece : pieces) {
        add(piece.after, dependency.added_to(piece.before, written_as, covers_all));
      }
      steps += 1 + pieces.size();
    }
    finish_command(pieces, sort);
  }
  if (step_count != nullptr) *step_count += steps;
  if (pieces.empty()) return std::nullopt;
  ByteRange run = pieces.front().bytes;
  for (const Piece& piece : pieces) {
    if (piece.bytes.begin == run.end) run.end = piece.bytes.end;
  }
  return run;
}

}  // namespace interlock
