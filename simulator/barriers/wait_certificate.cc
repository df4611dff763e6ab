// The basic idea is to trust nothing but the operands: going through the dispatches, of each byte
// the latest uses say what comes before the next one, and how far each line has come before a
// dispatch says all that the data and the queues order. A pair is needed if its first dispatch
// comes right before the second one and before nothing else that does.
#include "simulator/barriers/wait_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "simulator/barriers/open_proof.h"
#include "simulator/barriers/place_certificate.h"

namespace interlock {
namespace {

// How a byte is used: plain reads do not conflict, nor do atomics of one operation.
struct Use {
  uint32_t dispatch;
  AccessMode mode;
  AtomicOp op;
};

bool are_apart(const Use& a, const Use& b) {
  if (a.mode <= AccessMode::kRead && b.mode <= AccessMode::kRead) return true;
  return a.mode == AccessMode::kAtomic && b.mode == AccessMode::kAtomic && a.op == b.op &&
         a.op != AtomicOp::kNone;
}

// The numbers that ends of operands had lately: programs come back to the same ones.
class LateNumbers {
 public:
  // Zero until it is given.
  size_t& of(size_t memory, uint64_t byte) {
    const uint64_t hash = (byte + memory * kMultiplier) * kMultiplier;
    Slot& slot = slots_[hash >> (64 - kSlotBits)];
    const bool is_same = slot.is_used && slot.memory == memory && slot.byte == byte;
    if (!is_same) slot = {true, memory, byte, 0};
    return slot.number;
  }
  void clear() { std::ranges::fill(slots_, Slot()); }

 private:
  static constexpr int kSlotBits = 10;
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;

  struct Slot {
    bool is_used = false;
    size_t memory = 0;
    uint64_t byte = 0;
    size_t number = 0;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(size_t{1} << kSlotBits);
};

// The bytes between two neighbouring ends of operands, by memory.
class Pieces {
 public:
  explicit Pieces(const Program& program)
      : ends_(program.memories.size()), first_(program.memories.size()) {
    for (const Access& access : program.accesses) {
      if (access.range.begin >= access.range.end) continue;
      for (const uint64_t end : {access.range.begin, access.range.end}) {
        size_t& times = late_.of(access.memory.index, end);
        if (times++ == 0) ends_[access.memory.index].push_back(end);
      }
    }
    late_.clear();
    for (size_t i = 0; i < ends_.size(); ++i) {
      std::ranges::sort(ends_[i]);
      ends_[i].erase(std::unique(ends_[i].begin(), ends_[i].end()), ends_[i].end());
      first_[i] = count_;
      count_ += ends_[i].size();
    }
  }

  size_t count() const { return count_; }

  // Its pieces, as numbers.
  std::pair<size_t, size_t> of(const Access& access) {
    const std::vector<uint64_t>& ends = ends_[access.memory.index];
    const auto at = [&](uint64_t byte) {
      size_t& next = late_.of(access.memory.index, byte);  // One more.
      if (next == 0) {
        next = 1 + first_[access.memory.index] +
               static_cast<size_t>(std::ranges::lower_bound(ends, byte) - ends.begin());
      }
      return next - 1;
    };
    if (access.range.begin >= access.range.end) return {0, 0};
    return {at(access.range.begin), at(access.range.end)};
  }

 private:
  std::vector<std::vector<uint64_t>> ends_;
  std::vector<size_t> first_;
  LateNumbers late_;
  size_t count_ = 0;
};

// Sets that are joined (R. E. Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm",
// Journal of the ACM 22(2), 1975).
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  // Whether they were apart.
  bool join(size_t a, size_t b) {
    a = root(a);
    b = root(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  size_t root(size_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  std::vector<size_t> parent_;
};

class CertificateReader : OpenProof {
 public:
  CertificateReader(const Program& program, const WaitCertificate& certificate, uint64_t step_limit)
      : OpenProof(step_limit),
        program_(program),
        certificate_(certificate),
        pieces_(program),
        uses_(pieces_.count()) {}

  WaitProof run() {
    if (!read_lines() || !read_pairs() || !follow_conflicts()) return proof();
    if (!certificate_.is_of_edges && !read_own()) return proof();
    join_places();
    return proof();
  }

 private:
  // Of queues the lines are these.
  bool read_lines() {
    const size_t count = program_.dispatches.size();
    if (certificate_.line_of.size() != count) return fail("Not every dispatch has its line.");
    std::vector<uint32_t> queue_of_line;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t line = certificate_.line_of[i];
      const bool has_line = line != WaitCertificate::kNoLine;
      if (has_line == is_of_host(i)) {
        return fail(fmt::format("Dispatch {} is the host's and has a line, or has none.", i));
      }
      if (!has_line) {
        position_.push_back(0);
        continue;
      }
      if (line > lines_.size()) return fail("The lines are not counted as they begin.");
      const QueueIndex queue = program_.queue_of(program_.dispatches[i]);
      if (line == lines_.size()) {
        lines_.emplace_back();
        queue_of_line.push_back(queue);
      }
      if (!certificate_.is_of_edges && queue_of_line[line] != queue) {
        return fail(fmt::format("Dispatch {} is on another queue than its line.", i));
      }
      position_.push_back(static_cast<uint32_t>(lines_[line].size()));
      lines_[line].push_back(static_cast<uint32_t>(i));
    }
    std::ranges::sort(queue_of_line);
    const bool is_twice = std::ranges::adjacent_find(queue_of_line) != queue_of_line.end();
    if (is_twice && !certificate_.is_of_edges) return fail("Two lines are of one queue.");
    return cut_short_if(count * lines_.size() > kWaitClocksMax);
  }

  bool read_pairs() {
    const auto key = [](const NeededWait& wait) {
      return std::tuple(wait.second.index, wait.first.index);
    };
    const NeededWait* last = nullptr;
    for (const NeededWait& wait : certificate_.waits) {
      if (wait.second.index >= program_.dispatches.size() || !(wait.first < wait.second)) {
        return fail(wait, "is no pair of dispatches in order");
      }
      if (is_of_host(wait.first.index) || is_of_host(wait.second.index)) {
        return fail(wait, "is of what the host does");
      }
      if (certificate_.is_of_all_queues && wait.need == WaitNeed::kOwn) {
        return fail(wait, "can be passed on by a queue without a dispatch");
      }
      if (last != nullptr && key(*last) >= key(wait)) return fail(wait, "stands in no order");
      if (certificate_.is_of_edges) {
        if (wait.need != WaitNeed::kOwn) return fail(wait, "is of a graph, and can be passed on");
      } else if (line_of(wait.first.index) == line_of(wait.second.index)) {
        return fail(wait, "is of one queue");
      }
      last = &wait;
    }
    return true;
  }

  // How far lines have come before each dispatch, and whether the pairs have nothing between.
  bool follow_conflicts() {
    before_.assign(program_.dispatches.size() * lines_.size(), 0);
    latest_.assign(lines_.size(), 0);
    auto wait = certificate_.waits.begin();
    for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
      if (is_of_host(i)) continue;  // It passes nothing on.
      if (!find_latest(i)) return false;
      if (!join_latest(i)) return false;
      for (; wait != certificate_.waits.end() && wait->second.index == i; ++wait) {
        if (!has_nothing_between(*wait)) return false;
      }
      for (const uint32_t line : reached_) latest_[line] = 0;
      if (!add_uses(i)) return false;
    }
    return true;
  }

  // By line, one more than the place of the latest dispatch right before this one.
  bool find_latest(uint32_t dispatch) {
    reached_.clear();
    for (const Access& access : program_.accesses_of(DispatchId(size_t{dispatch}))) {
      const Use use = {dispatch, access.mode, program_.dispatches[dispatch].atomic_op};
      const auto [begin, end] = pieces_.of(access);
      for (size_t piece = begin; piece < end; ++piece) {
        if (!spend(uses_[piece].size() + 1)) return false;
        for (const Use& earlier : uses_[piece]) {
          if (!are_apart(earlier, use)) reach(earlier.dispatch);
        }
      }
    }
    const uint32_t position = position_[dispatch];
    if (!certificate_.is_of_edges && position > 0) reach(lines_[line_of(dispatch)][position - 1]);
    return true;
  }

  void reach(uint32_t dispatch) {
    uint32_t& latest = latest_[line_of(dispatch)];
    if (latest == 0) reached_.push_back(line_of(dispatch));
    latest = std::max(latest, position_[dispatch] + 1);
  }

  bool join_latest(uint32_t dispatch) {
    uint32_t* const row = row_of(dispatch);
    for (const uint32_t line : reached_) {
      const uint32_t* const theirs = row_of(lines_[line][latest_[line] - 1]);
      for (size_t k = 0; k < lines_.size(); ++k) row[k] = std::max(row[k], theirs[k]);
      row[line] = std::max(row[line], latest_[line]);
    }
    const uint32_t line = line_of(dispatch);
    if (row[line] == position_[dispatch]) return spend(lines_.size() * reached_.size());
    return fail(
        fmt::format("Dispatch {} does not come after the one before it on its path.", dispatch));
  }

  // Requires: latest_ is that of the second dispatch.
  bool has_nothing_between(const NeededWait& wait) {
    const uint32_t line = line_of(wait.first.index);
    const uint32_t position = position_[wait.first.index];
    if (latest_[line] != position + 1) return fail(wait, "does not conflict, or not as the latest");
    for (const uint32_t other : reached_) {
      const uint32_t before = lines_[other][latest_[other] - 1];
      if (before != wait.first.index && row_of(before)[line] > position) {
        return fail(wait, "has another dispatch between");
      }
    }
    return true;
  }

  // What a plain write comes after, all that comes after it comes after, too.
  bool add_uses(uint32_t dispatch) {
    for (const Access& access : program_.accesses_of(DispatchId(size_t{dispatch}))) {
      const Use use = {dispatch, access.mode, program_.dispatches[dispatch].atomic_op};
      const auto [begin, end] = pieces_.of(access);
      for (size_t piece = begin; piece < end; ++piece) {
        std::vector<Use>& uses = uses_[piece];
        if (!spend(uses.size() + 1)) return false;
        if (access.writes_plainly()) uses.clear();
        const auto same = std::ranges::find_if(uses, [&](const Use& earlier) {
          return line_of(earlier.dispatch) == line_of(dispatch) && earlier.mode == use.mode &&
                 earlier.op == use.op;
        });
        if (same == uses.end()) {
          uses.push_back(use);
        } else {
          *same = use;
        }
      }
    }
    return true;
  }

  // No third queue has a place that comes after all that follows the first dispatch, and before
  // all that precedes the second one: nobody passes it on.
  bool read_own() {
    for (const NeededWait& wait : certificate_.waits) {
      if (wait.need != WaitNeed::kOwn) continue;
      const uint32_t first_line = line_of(wait.first.index);
      for (uint32_t line = 0; line < lines_.size(); ++line) {
        if (line == first_line || line == line_of(wait.second.index)) continue;
        const auto follows = std::ranges::partition_point(lines_[line], [&](uint32_t dispatch) {
          return row_of(dispatch)[first_line] <= position_[wait.first.index];
        });
        const auto place = static_cast<uint32_t>(follows - lines_[line].begin());
        if (row_of(wait.second.index)[line] == place) return fail(wait, "can be passed on");
      }
      if (!spend(lines_.size())) return false;
    }
    return true;
  }

  // A place is between two dispatches of a line, or at one of its ends.
  void join_places() {
    std::vector<size_t> first_place(lines_.size() + 1, 0);
    for (size_t i = 0; i < lines_.size(); ++i) {
      first_place[i + 1] = first_place[i] + lines_[i].size() + 1;
    }
    Groups groups(first_place.back());
    const auto join = [&](const NeededWait& wait) {
      return groups.join(first_place[line_of(wait.first.index)] + position_[wait.first.index] + 1,
                         first_place[line_of(wait.second.index)] + position_[wait.second.index]);
    };
    for (const NeededWait& wait : certificate_.waits) {
      if (wait.need == WaitNeed::kOwn) join(wait);
    }
    for (const NeededWait& wait : certificate_.waits) {
      if (wait.need == WaitNeed::kJoin && !join(wait)) {
        fail(wait, "joins places that are joined");
        return;
      }
    }
  }

  bool is_of_host(size_t dispatch) const {
    return program_.queue_of(program_.dispatches[dispatch]) == kNoQueue;
  }
  uint32_t line_of(uint32_t dispatch) const { return certificate_.line_of[dispatch]; }
  uint32_t* row_of(uint32_t dispatch) { return before_.data() + dispatch * lines_.size(); }

  const Program& program_;
  const WaitCertificate& certificate_;
  Pieces pieces_;
  std::vector<std::vector<Use>> uses_;        // By piece, of each line and sort the latest.
  std::vector<std::vector<uint32_t>> lines_;  // Their dispatches.
  std::vector<uint32_t> position_;            // By dispatch: in its line.
  std::vector<uint32_t> before_;   // By dispatch, by line: how many of these come before it.
  std::vector<uint32_t> latest_;   // By line, of the dispatch at hand.
  std::vector<uint32_t> reached_;  // The lines for which that is not 0.
};

}  // namespace

uint64_t WaitCertificate::fewest() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      waits, [](const NeededWait& wait) { return wait.need != WaitNeed::kApart; }));
}

WaitProof prove(const Program& program, const WaitCertificate& certificate, uint64_t step_limit) {
  if (certificate.is_by_places) return prove_by_places(program, certificate, step_limit);
  return CertificateReader(program, certificate, step_limit).run();
}

}  // namespace interlock
