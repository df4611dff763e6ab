// The basic idea: what reaches a statement of a queue, or of the host, reaches all that stands
// after it there. So of each dispatch one statement for each of them is enough: the first one
// reached.
#include "simulator/report/stated_order.h"

#include <algorithm>

#include "encoder/program/stop.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/order/signal_statements.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

constexpr uint32_t kNotReached = UINT32_MAX;

// Queues by index, then the host.
class StatedReach {
 public:
  explicit StatedReach(const Program& program)
      : program_(program),
        host_(static_cast<uint32_t>(program.queue_count())),
        waits_(program.statements.size()),
        signals_(size_t{host_} + 1) {
    const auto signals = signal_statements_of(program);
    for (uint32_t i = 0; i < program.statements.size(); ++i) {
      const Statement& statement = program.statements[i];
      if (statement.kind != StatementKind::kSync) continue;
      const SyncStep& step = program.syncs[statement.index];
      const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
      if (!is_wait || step.partner == SyncStep::kNoPartner) continue;
      waits_[StatementId(signals[step.partner]).index].push_back(i);
    }
    for (uint32_t i = 0; i < waits_.size(); ++i) {
      if (!waits_[i].empty()) signals_[holder_of(i)].push_back(i);
    }
  }

  // By dispatch.
  std::vector<uint32_t> from(uint32_t statement) const {
    std::vector<uint32_t> reached(signals_.size(), kNotReached);
    std::vector<uint32_t> work{statement};
    const auto reach = [&](uint32_t holder, uint32_t at) {
      if (at >= reached[holder]) return;
      const uint32_t before = reached[holder];
      reached[holder] = at;
      const auto& all = signals_[holder];
      for (auto s = std::ranges::lower_bound(all, at); s != all.end() && *s < before; ++s) {
        work.insert(work.end(), waits_[*s].begin(), waits_[*s].end());
      }
    };
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      const uint32_t holder = holder_of(at);
      reach(holder, at);
      // The host issues all that stands after it.
      for (uint32_t other = 0; holder == host_ && other < host_; ++other) reach(other, at);
    }
    return reached;
  }

  uint32_t holder_of(uint32_t statement) const {
    const Statement& s = program_.statements[statement];
    return is_of_host(program_, s) ? host_ : s.queue;
  }

 private:
  const Program& program_;
  const uint32_t host_;
  std::vector<std::vector<uint32_t>> waits_;    // By statement: what waits for it.
  std::vector<std::vector<uint32_t>> signals_;  // By holder: those that are waited for.
};

bool is_legacy_in(const Program& program) {
  for (QueueIndex queue = 0; queue < program.queue_count(); ++queue) {
    if (program.kind_of(queue) == QueueKind::kLegacyDefault) return true;
  }
  return false;
}

}  // namespace

std::vector<std::pair<DispatchId, DispatchId>> pairs_stated_against_text(const Program& program,
                                                                         uint64_t& work_left) {
  std::vector<std::pair<DispatchId, DispatchId>> pairs;
  const size_t count = program.dispatches.size();
  const uint64_t work = count * (program.syncs.size() + program.queue_count() + count);
  if (is_legacy_in(program) || work > work_left) return pairs;
  work_left -= work;
  const StatedReach reach(program);
  std::vector<std::vector<uint32_t>> reached(count);
  std::vector<uint32_t> holders(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t statement = program.dispatches[i].statement.index;
    reached[i] = reach.from(statement);
    holders[i] = reach.holder_of(statement);
  }
  const auto leads = [&](size_t from, size_t to) {
    return reached[from][holders[to]] <= program.dispatches[to].statement.index;
  };
  const ByteSegments segments(program);
  for (size_t first = 0; first < count && !is_stopped(); ++first) {
    for (size_t second = first + 1; second < count; ++second) {
      if (!leads(second, first) || leads(first, second)) continue;
      const DispatchId one(first);
      const DispatchId other(second);
      if (have_conflict(program, segments, one, other)) pairs.emplace_back(one, other);
    }
  }
  return pairs;
}

}  // namespace interlock
