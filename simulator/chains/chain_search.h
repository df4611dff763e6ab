// ChainSearch: what is ordered and visible in a program with several queues, by an explicit search
// of chains of dependencies.
//
// The idea: write down every dependency with its two ends, say which chains into which, and walk.
// It is as slow as that sounds, knows neither clocks nor reference orders, and shares nothing with
// simulator/order: that is what it is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/chains/chain_dependencies.h"

namespace interlock {

class ChainSearch {
 public:
  // Requires: `program` was parsed, its statements are in the order of the text, and it outlives
  // this. Cost: squared in the dependencies, of which serial queues have one for each statement,
  // and legacy-default ones two for each statement and queue.
  explicit ChainSearch(const Program& program);

  // A chain leads from what `first` does in this stage to what `second` does in that one.
  // Cost: linear in the pairs that chain.
  bool executes_before(DispatchId first, Stage first_stage, DispatchId second,
                       Stage second_stage) const;

  // What `first` does in this stage is over where `at`, a lifetime statement, takes place: in its
  // queue, whatever the stage, or in the order of the host. Cost: as above.
  bool is_over_at(DispatchId first, Stage first_stage, StatementId at) const;

  // Where one byte that a dispatch writes has got to.
  struct Spread {
    DispatchId write;
    MemoryId memory;
    uint64_t byte = 0;
    std::vector<bool> is_available;  // By dependency: it makes the byte available, or passes on.
    std::vector<bool> is_in_host_domain;  // By dependency: so it is, there and on what follows.
  };

  // Cost: as executes_before().
  Spread spread_of(DispatchId write, MemoryId memory, uint64_t byte) const;

  // That byte is visible to accesses of sort `sort` by `reader`. Cost: linear in the dependencies
  // and the statements.
  bool is_visible(const Spread& spread, DispatchId reader, StageAccess sort) const;

  // The host invalidated that byte before it flushed what it wrote, and nobody has overwritten it
  // since, in the run of semaphores that count: it holds nothing that is defined. Cost: linear.
  bool is_lost(DispatchId write, MemoryId memory, uint64_t byte, DispatchId reader) const;

  // The bytes that the access counts as: whole atoms where the host touches memory that is not
  // coherent (Vulkan 1.3, 11.2).
  ByteRange bytes_of(DispatchId dispatch, const Access& access) const;

 private:
  void find_chains();
  // By dependency: a chain leads to it from there.
  std::vector<bool> reached_from(DispatchId first, Stage first_stage) const;

  bool includes(const ChainEnd& end, DispatchId dispatch, Stage stage, bool is_source) const;
  bool chains(const ChainEnd& destination, const ChainEnd& source) const;
  AccessMask accesses_at(const ChainEnd& end, MemoryId memory) const;
  bool covers(const ChainDependency& dependency, MemoryId memory, uint64_t byte) const;
  QueueIndex queue_of(DispatchId dispatch) const;
  int64_t position_of(DispatchId dispatch) const;
  int64_t first_move(SyncKind kind, MemoryId memory, uint64_t byte, int64_t after) const;
  bool moves(const SyncStep& step, MemoryId memory, uint64_t byte) const;

  const Program& program_;
  std::vector<ChainDependency> dependencies_;
  std::vector<std::vector<size_t>> next_;  // By dependency: those that it chains into.
  std::vector<StatementId> run_;           // By semaphores that count.
};

}  // namespace interlock
