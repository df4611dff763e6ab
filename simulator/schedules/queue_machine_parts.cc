// Of QueueMachine, the parts of operations: by stages and, where memory is split, by pieces.
#include <algorithm>
#include <iterator>

#include "encoder/kernel/kernel_table.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

void QueueMachine::add_parts(DispatchId dispatch) {
  const Dispatch& of = program_.dispatch(dispatch);
  const auto accesses = program_.accesses_of(of);
  const Ticket first = static_cast<Ticket>(things_.size());
  first_parts_.push_back(first);
  const auto add = [&](const OperationPart& part) {
    Thing thing;
    thing.queue = program_.queue_of(of);
    thing.statement = of.statement;
    thing.part = part;
    add_thing(thing);
  };
  const auto add_stage = [&](Stage stage) {
    const auto first_piece = static_cast<uint32_t>(pieces_.size());
    if (options_.splits_memory && stage != Stage::kHost) {
      for (uint32_t k = 0; k < accesses.size(); ++k) {
        if (stage_of(of, accesses[k]) == stage) add_pieces(dispatch, k, stage);
      }
    }
    if (has_host_parts_ && stage == Stage::kHost) {
      add_host_pieces(dispatch);
    }
    const auto end = static_cast<uint32_t>(pieces_.size());
    for (uint32_t k = first_piece; k < end; ++k) add({dispatch, stage, PartRole::kFetch, k});
    add({dispatch, stage});
    const Ticket run = static_cast<Ticket>(things_.size() - 1);
    for (Ticket earlier = first; earlier < run; ++earlier) {
      // The fetches of the same stage, and what an earlier stage does.
      hold(run, earlier);
    }
    for (uint32_t k = first_piece; k < end; ++k) {
      if (!is_write(pieces_[k].sort)) continue;
      add({dispatch, stage, PartRole::kCommit, k});
      hold(static_cast<Ticket>(things_.size() - 1), run);
    }
    if (has_host_parts_ && stage == Stage::kHost) hold_after_own(dispatch);
  };
  const bool is_indirect = std::ranges::any_of(
      accesses, [](const Access& access) { return access.mode == AccessMode::kIndirect; });
  if (is_indirect) add_stage(Stage::kIndirect);
  add_stage(stage_of(of));
}

void QueueMachine::cut_at(std::set<uint64_t>& cuts, ByteRange whole, ByteRange range) {
  for (const uint64_t at : {range.begin, range.end}) {
    if (whole.begin < at && at < whole.end) cuts.insert(at);
  }
}

// Its ends, and where operands of dependencies begin and end within it.
std::set<uint64_t> QueueMachine::cuts_by_operands(MemoryId memory, ByteRange bytes) const {
  std::set<uint64_t> cuts = {bytes.begin, bytes.end};
  for (const Access& operand : program_.barrier_operands) {
    if (operand.memory == memory) cut_at(cuts, bytes, operand.range);
  }
  return cuts;
}

void QueueMachine::add_pieces_between(const std::set<uint64_t>& cuts, const AccessPiece& whole) {
  for (auto begin = cuts.begin(), end = std::next(begin); end != cuts.end(); ++begin, ++end) {
    AccessPiece& piece = pieces_.emplace_back(whole);
    piece.bytes = {*begin, *end};
  }
}

void QueueMachine::add_pieces(DispatchId dispatch, uint32_t access, Stage stage) {
  const Access& of = program_.accesses_of(dispatch)[access];
  if (of.range.is_empty()) return;
  const std::set<uint64_t> cuts = cuts_by_operands(of.memory, of.range);
  for (const auto& sort : {read_sort_of(stage, of), write_sort_of(stage, of)}) {
    if (sort) add_pieces_between(cuts, {dispatch, access, of.range, *sort});
  }
}

}  // namespace interlock
