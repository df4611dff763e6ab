// Redundancy beside scoped barriers where there is no hazard: what no conflict and no destroy
// needs.
#include <utility>
#include <vector>

#include "simulator/barriers/needed_sync.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_words.h"

namespace interlock {
namespace {

class Collector {
 public:
  Collector(const Program& program, const NeededSync& needed, const DestroyNeeds& destroys)
      : program_(program), needed_(needed), destroys_(destroys) {}

  BarrierRedundancy run() {
    uint32_t slot = 0;
    for (const Statement& statement : program_.statements) {
      if (statement.kind == StatementKind::kDispatch) ++slot;
      if (statement.kind == StatementKind::kBarrier) add(BarrierId(statement.index), slot);
    }
    return std::move(result_);
  }

 private:
  void add(BarrierId id, uint32_t slot) {
    const StageMask destroyed = destroys_.stages_of(id);
    const bool is_idle = slot == 0 || slot == program_.dispatches.size();
    const uint32_t first = needed_.first_piece[id.index];
    if (destroyed == 0 && !needed_.is_needed[first]) {
      const RedundancyReason reason = slot == 0 ? RedundancyReason::kNothingBefore
                                      : is_idle ? RedundancyReason::kNothingBehind
                                                : RedundancyReason::kNoDifference;
      if (is_open() && !is_idle) {
        ++result_.unjudged_count;
      } else {
        result_.redundant.push_back({id, reason, {}, slot});
      }
      return;
    }
    words_.clear();
    append_words(program_, program_.barriers[id.index].statement, words_);
    goes_.assign(words_.size(), false);
    for (size_t i = 0; i < words_.size(); ++i) {
      SyncPiece word = words_[i];
      const bool has_outer = word.within != SyncPiece::kNone;
      // A word of what can go is no advice.
      goes_[i] = has_outer && goes_[word.within];
      const StageMask left = source_stages_without(program_, program_.barriers[id.index], word);
      const bool is_for_destroy = (destroyed & ~left) != 0;
      if (goes_[i] || needed_.is_needed[first + 1 + i] || is_for_destroy) continue;
      goes_[i] = true;
      if (is_open()) {
        ++result_.unjudged_word_count;
        continue;
      }
      word.within = has_outer ? first + 1 + word.within : first;
      result_.words.push_back(word);
    }
  }

  bool is_open() const { return !needed_.is_complete; }

  const Program& program_;
  const NeededSync& needed_;
  const DestroyNeeds& destroys_;
  std::vector<SyncPiece> words_;
  std::vector<bool> goes_;  // By word: with another, or by itself; or nobody knows.
  BarrierRedundancy result_;
};

}  // namespace

BarrierRedundancy find_redundant_of_clean(const Program& program, const HappensBefore& order,
                                          const ByteSegments& segments, uint64_t work_limit,
                                          const DestroyNeeds& destroys) {
  if (!destroys.is_complete) work_limit = 0;  // Then nobody knows what else is needed.
  const NeededSync needed = find_needed_sync(program, order.scopes(), segments, work_limit);
  return Collector(program, needed, destroys).run();
}

}  // namespace interlock
