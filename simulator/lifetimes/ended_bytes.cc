#include "simulator/lifetimes/ended_bytes.h"

#include <utility>

#include "simulator/lifetimes/owner_walk.h"
#include "simulator/order/host_moves.h"

namespace interlock {
namespace {

class EndedCollector final : public ReadObserver {
 public:
  void see_read(AccessRef reader, TensorId /*root*/, MemoryId memory,
                const ValueRun& run) override {
    if (!run.value.is_ended() || !reader.dispatch.is_some()) return;
    ended.push_back({reader.dispatch, memory, run.bytes});
  }

  std::vector<EndedBytes> ended;
};

}  // namespace

std::vector<EndedBytes> find_ended_values(const Program& program) {
  if (program.lifetimes.empty()) return {};
  constexpr uint64_t kWorkLimit = 5'000'000;
  EndedCollector collector;
  OwnerWalk walk(program, nullptr, kWorkLimit, collector);
  if (!walk.run(false)) return {};
  const bool is_all = walk.for_each_at_end([&](MemoryId memory, const ValueRun& run) {
    if (run.value.is_ended()) collector.ended.push_back({DispatchId(), memory, run.bytes});
  });
  if (!is_all) return {};
  return std::move(collector.ended);
}

std::vector<EndedBytes> find_ended_bytes(const Program& program) {
  std::vector<EndedBytes> ended = find_ended_values(program);
  // What the host has lost, and nobody has written since.
  const HostMoves moves(program);
  for (const HostMoves::Lost& lost : moves.lost()) {
    if (lost.until == HostMoves::kNever) ended.push_back({DispatchId(), lost.memory, lost.bytes});
  }
  return ended;
}

}  // namespace interlock
