#include "tests/simulator/judges/part_execution.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "encoder/program/hash.h"
#include "simulator/order/host_moves.h"

namespace interlock {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) { return scrambled(a * 31 + scrambled(b + 1)); }

// Atomics of one operation commute, and no others: each adds on a scale of its own.
uint64_t with_atomic(AtomicOp op, uint64_t value, uint64_t term) {
  const uint64_t key = scrambled(static_cast<uint64_t>(op) + 77);
  return ((value ^ key) + term) ^ key;
}

class PartInterpreter {
 public:
  PartInterpreter(const Program& program, const QueueMachine& machine)
      : program_(program), machine_(machine), digests_(program.dispatches.size()) {
    for (size_t m = 0; m < program.memories.size(); ++m) {
      auto& bytes = memory_.emplace_back();
      for (uint64_t i = 0; i < program.memories[m].size_bytes; ++i) {
        bytes.push_back(mixed(m + 1, i));
      }
    }
  }

  void take(const OperationPart& part) {
    if (part.stage == Stage::kHost) return take_host(part);
    if (part.role == PartRole::kRun) return run(part.dispatch);
    const AccessPiece& piece = machine_.pieces()[part.piece];
    const Access& access = program_.accesses_of(part.dispatch)[piece.access];
    for (uint64_t i = piece.bytes.begin; i < piece.bytes.end; ++i) {
      uint64_t& byte = memory_[access.memory.index][i];
      if (part.role == PartRole::kFetch) {
        fetched_[{part.piece, i}] = byte;
      } else {
        commit(part.dispatch, piece.access, i, fetched_[{part.piece, i}]);
      }
    }
  }

  // What the host has lost, and nobody has written since, holds nothing that counts.
  std::vector<uint64_t> seen() {
    std::vector<uint64_t> values;
    const HostMoves moves(program_);
    for (const HostMoves::Lost& lost : moves.lost()) {
      if (lost.until != HostMoves::kNever) continue;
      for (uint64_t i = lost.bytes.begin; i < lost.bytes.end; ++i) {
        memory_[lost.memory.index][i] = 0;
      }
    }
    for (const TensorId output : program_.outputs) {
      const Tensor& tensor = program_.tensor(output);
      for (uint64_t i = tensor.range.begin; i < tensor.range.end; ++i) {
        values.push_back(memory_[tensor.memory.index][i]);
      }
    }
    if (program_.outputs.empty()) {
      for (const auto& bytes : memory_) values.insert(values.end(), bytes.begin(), bytes.end());
    }
    for (const auto& [dispatch, digest] : host_reads_) values.push_back(digest);
    return values;
  }

 private:
  // Pieces are numbered by dispatch and access, so that they always come in the same order.
  void run(DispatchId dispatch) {
    uint64_t digest = scrambled(dispatch.index + 1);
    for (const auto& [key, value] : fetched_) {
      const AccessPiece& piece = machine_.pieces()[key.first];
      if (piece.dispatch != dispatch) continue;
      const Access& access = program_.accesses_of(dispatch)[piece.access];
      const bool is_read = access.reads_plainly() && !is_write_sort(piece.sort);
      if (is_read) digest = mixed(digest, value);
    }
    digests_[dispatch.index] = digest;
  }

  static bool is_write_sort(StageAccess sort) { return sort == write_sort_of(stage_of(sort)); }

  // The host finds what it wrote, in memory or not; what it has dropped never gets there.
  void take_host(const OperationPart& part) {
    const DispatchId dispatch = part.dispatch;
    const auto accesses = program_.accesses_of(dispatch);
    if (part.role != PartRole::kRun) {
      const AccessPiece& piece = machine_.pieces()[part.piece];
      const MemoryId memory = accesses[piece.access].memory;
      for (uint64_t i = piece.bytes.begin; i < piece.bytes.end; ++i) {
        auto& cached = cached_[{memory.index, i}];
        if (part.role == PartRole::kFetch) {
          fetched_[{part.piece, i}] =
              cached.empty() ? memory_[memory.index][i] : cached.back().second;
          continue;
        }
        if (part.role == PartRole::kCommit && !dropped_.contains(part.piece)) {
          if (piece.is_beside) {
            memory_[memory.index][i] = fetched_[{part.piece, i}];
          } else {
            commit(dispatch, piece.access, i, 0);
          }
        }
        std::erase_if(cached, [&](const auto& write) { return write.first == dispatch; });
      }
      if (part.role == PartRole::kDrop) dropped_.insert(part.piece);
      return;
    }
    const auto is_split = [&](uint32_t access) {
      return std::ranges::any_of(machine_.pieces(), [&](const AccessPiece& piece) {
        return piece.dispatch == dispatch && piece.access == access;
      });
    };
    run(dispatch);
    uint64_t& digest = digests_[dispatch.index];
    for (uint32_t a = 0; a < accesses.size(); ++a) {
      for (uint64_t i = accesses[a].range.begin; i < accesses[a].range.end; ++i) {
        if (!accesses[a].reads_plainly() || is_split(a)) continue;
        digest = mixed(digest, memory_[accesses[a].memory.index][i]);
      }
    }
    for (uint32_t a = 0; a < accesses.size(); ++a) {
      if (!accesses[a].writes_plainly()) continue;
      for (uint64_t i = accesses[a].range.begin; i < accesses[a].range.end; ++i) {
        if (!is_split(a)) {
          commit(dispatch, a, i, 0);
          continue;
        }
        const uint64_t written = mixed(mixed(digest, a), i - accesses[a].range.begin);
        cached_[{accesses[a].memory.index, i}].push_back({dispatch, written});
      }
    }
    if (program_.dispatch(dispatch).host == HostAccess::kReads) host_reads_[dispatch] = digest;
  }

  // What a barrier that discards leaves.
  static constexpr uint64_t kLost = 0xd5;

  uint64_t read_by(DispatchId id, uint32_t access_index, uint64_t at) const {
    for (const auto& [key, value] : fetched_) {
      const AccessPiece& piece = machine_.pieces()[key.first];
      const bool is_it = piece.dispatch == id && piece.access == access_index && key.second == at;
      if (is_it && !is_write_sort(piece.sort)) return value;
    }
    return 0;
  }

  void commit(DispatchId id, uint32_t access_index, uint64_t at, uint64_t old) {
    const Dispatch& dispatch = program_.dispatch(id);
    const Access& access = program_.accesses_of(id)[access_index];
    uint64_t& byte = memory_[access.memory.index][at];
    const uint64_t written =
        mixed(mixed(digests_[id.index], access_index), at - access.range.begin);
    if (dispatch.is_transition()) {
      byte = access.reads_plainly() ? read_by(id, access_index, at) : kLost;
    } else if (access.is_atomic()) {
      byte = with_atomic(dispatch.atomic_op, byte, written);
    } else {
      byte = dispatch.is_partial ? mixed(written, old) : written;
    }
  }

  const Program& program_;
  const QueueMachine& machine_;
  std::vector<std::vector<uint64_t>> memory_;
  std::vector<uint64_t> digests_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> fetched_;  // By piece and byte.
  std::map<DispatchId, uint64_t> host_reads_;
  // By memory and byte: what the host wrote and has not committed, the latest last.
  std::map<std::pair<uint32_t, uint64_t>, std::vector<std::pair<DispatchId, uint64_t>>> cached_;
  std::set<uint32_t> dropped_;  // By piece.
};

QueueMachine machine_of(const Program& program) {
  return QueueMachine(program, {.splits_memory = true});
}

}  // namespace

std::vector<uint64_t> execute_parts(const Program& program, const QueueMachine& machine,
                                    const std::vector<OperationPart>& parts) {
  PartInterpreter interpreter(program, machine);
  for (const OperationPart& part : parts) interpreter.take(part);
  return interpreter.seen();
}

DivergenceVerdict find_divergence(const Program& program, uint64_t limit) {
  const QueueMachine machine = machine_of(program);
  const PartOrder order = find_part_order(program, true);
  const std::vector<uint64_t> reference = execute_parts(program, machine, order.parts);
  std::vector<OperationPart> chosen;
  uint64_t count = 0;
  bool diverges = false;
  const std::function<void(uint64_t)> extend = [&](uint64_t done) {
    if (diverges || count > limit) return;
    if (chosen.size() == order.parts.size()) {
      ++count;
      diverges = execute_parts(program, machine, chosen) != reference;
      return;
    }
    for (size_t i = 0; i < order.parts.size(); ++i) {
      const uint64_t bit = uint64_t{1} << i;
      if ((done & bit) != 0 || (order.earlier[i] & ~done) != 0) continue;
      chosen.push_back(order.parts[i]);
      extend(done | bit);
      chosen.pop_back();
    }
  };
  extend(0);
  if (diverges) return DivergenceVerdict::kSometimes;
  return count > limit ? DivergenceVerdict::kTooMany : DivergenceVerdict::kNever;
}

}  // namespace interlock
