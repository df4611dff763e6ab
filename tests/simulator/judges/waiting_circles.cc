// The basic idea: who waits for whom is a matrix, and its powers say how long the shortest circle
// through each queue is.
#include "tests/simulator/judges/waiting_circles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simulator/chains/chain_dependencies.h"
#include "simulator/chains/counter_run.h"

namespace interlock {
namespace {

// Queues by index, then the host.
class WaitingCircles {
 public:
  explicit WaitingCircles(const Program& program)
      : program_(program),
        host_(program.queue_count()),
        has_run_(program.statements.size(), false),
        first_(host_ + 1, kNone),
        waits_(host_ + 1, std::vector<bool>(host_ + 1, false)) {
    for (const StatementId id : run_by_counters(program)) has_run_[id.index] = true;
    for (size_t t = has_run_.size(); t-- > 0;) {
      if (!has_run_[t]) first_[holder_of(t)] = t;
    }
    for (size_t holder = 0; holder <= host_; ++holder) {
      if (first_[holder] == kNone) continue;
      for (size_t other = 0; other <= host_; ++other) waits_[holder][other] = waits(holder, other);
    }
  }

  std::optional<std::string> find_wrong(const std::vector<BlockedStatement>& circle) const {
    for (size_t i = 0; i < circle.size(); ++i) {
      const size_t holder = holder_of(circle[i].statement.index);
      const size_t next = holder_of(circle[(i + 1) % circle.size()].statement.index);
      if (first_[holder] != circle[i].statement.index)
        return "A step is not the first of its queue.";
      const size_t awaited = circle[i].waits_for.index;
      if (has_run_[awaited]) return "A step waits for what has run.";
      if (holder_of(awaited) != next) return "A step waits for another queue than the next step's.";
      if (!waits_[holder][next]) return "A step does not wait for the next one.";
      if (circle[i].is_a_wait != is_submitted(first_[holder])) {
        return "A step is called a wait, and is not submitted, or the other way round.";
      }
    }
    const std::vector<size_t> lengths = circle_lengths();
    const size_t shortest = *std::ranges::min_element(lengths);
    if (circle.size() != shortest) {
      return fmt::format("The circle has {} steps, and the shortest has {}.", circle.size(),
                         shortest);
    }
    size_t begin = kNone;
    for (size_t holder = 0; holder <= host_; ++holder) {
      if (lengths[holder] == shortest) begin = std::min(begin, first_[holder]);
    }
    if (circle[0].statement.index == begin) return std::nullopt;
    return "A circle that is as short begins earlier in the text.";
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  bool is_of_host(size_t t) const {
    const Statement& statement = program_.statements[t];
    return statement.queue == kNoQueue ||
           (statement.kind == StatementKind::kSync &&
            program_.syncs[statement.index].kind == SyncKind::kSubmit);
  }
  size_t holder_of(size_t t) const {
    return is_of_host(t) ? host_ : size_t{program_.statements[t].queue};
  }
  bool is_submitted(size_t t) const {
    if (is_of_host(t)) return true;
    const size_t submission = submission_of(program_, t);
    for (size_t s = 0; s <= submission; ++s) {
      if (is_of_host(s) && !has_run_[s]) return false;
    }
    return true;
  }

  bool waits(size_t holder, size_t other) const {
    if (!is_submitted(first_[holder])) return other == host_;
    std::vector<bool> granted = has_run_;
    for (size_t t = 0; t < granted.size(); ++t) {
      if (holder_of(t) != other && t != first_[holder]) granted[t] = true;
    }
    return !may_run_by_counters(program_, granted, StatementId(first_[holder]));
  }

  // Of the shortest circle through each.
  std::vector<size_t> circle_lengths() const {
    std::vector<size_t> lengths(host_ + 1, kNone);
    std::vector<std::vector<bool>> reach = waits_;  // In so many steps.
    for (size_t length = 1; length <= host_ + 1; ++length) {
      std::vector<std::vector<bool>> next(host_ + 1, std::vector<bool>(host_ + 1, false));
      for (size_t i = 0; i <= host_; ++i) {
        if (reach[i][i]) lengths[i] = std::min(lengths[i], length);
        for (size_t k = 0; k <= host_; ++k) {
          for (size_t via = 0; via <= host_; ++via) {
            if (reach[i][via] && waits_[via][k]) next[i][k] = true;
          }
        }
      }
      reach = next;
    }
    return lengths;
  }

  const Program& program_;
  const size_t host_;
  std::vector<bool> has_run_;
  std::vector<size_t> first_;             // By holder: what has not run and stands first.
  std::vector<std::vector<bool>> waits_;  // [holder][other]
};

}  // namespace

std::optional<std::string> find_wrong_circle(const Program& program,
                                             const std::vector<BlockedStatement>& circle) {
  return WaitingCircles(program).find_wrong(circle);
}

}  // namespace interlock
