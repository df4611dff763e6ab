// The basic idea: an orientation of all pairs that has no cycle together with what must come before
// what extends to an order of all parts; the machine carries out the one nearest to the reference.
#include "simulator/schedules/queue_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/queue_steps.h"

namespace interlock {
namespace {

QueueMachine traced_machine(const Program& program) {
  return QueueMachine(program, {.splits_memory = true});
}

// Some bytes that a part finds or changes.
struct PartUse {
  const Access* access;
  ByteRange bytes;
  bool writes;
};

// What of each part others can find, or change.
class PartUses {
 public:
  PartUses(const Program& program, const QueueMachine& machine,
           std::span<const OperationPart> parts)
      : program_(program), machine_(machine), parts_(parts) {
    for (const AccessPiece& piece : machine.pieces()) {
      is_split_.insert({piece.dispatch, piece.access});
    }
    for (const OperationPart& part : parts) uses_.push_back(uses_of(part));
    for (const std::vector<PartUse>& uses : uses_) {
      for (const PartUse& use : uses) {
        if (!use.writes) continue;
        segments_[{use.access->memory, use.bytes.begin}];
        segments_[{use.access->memory, use.bytes.end}];
      }
    }
  }

  // Of those that were added, the ones that conflict with `part`.
  std::set<uint32_t> conflicts_of(uint32_t part) {
    std::set<uint32_t> found;
    const auto ask = [&](const std::vector<uint32_t>& others) {
      for (const uint32_t other : others) {
        if (!found.contains(other) && conflict(other, part)) found.insert(other);
      }
    };
    for (const PartUse& use : uses_[part]) {
      for_each_segment(use, [&](const Segment& segment) {
        ask(segment.writing);
        if (use.writes) ask(segment.finding);
      });
    }
    if (is_of_dropped(part)) ask(of_piece_[parts_[part].piece]);
    return found;
  }

  void add(uint32_t part) {
    for (const PartUse& use : uses_[part]) {
      for_each_segment(use, [&](Segment& segment) {
        (use.writes ? segment.writing : segment.finding).push_back(part);
      });
    }
    if (is_of_dropped(part)) of_piece_[parts_[part].piece].push_back(part);
  }

 private:
  // From one end of what is written to the next.
  using SegmentBegin = std::pair<MemoryId, uint64_t>;
  struct Segment {
    std::vector<uint32_t> finding;  // Parts; so below.
    std::vector<uint32_t> writing;
  };

  template <typename Action>
  void for_each_segment(const PartUse& use, const Action& act_on) {
    const MemoryId memory = use.access->memory;
    auto at = segments_.upper_bound({memory, use.bytes.begin});
    if (at != segments_.begin()) --at;
    for (; at != segments_.end() && at->first < SegmentBegin(memory, use.bytes.end); ++at) {
      if (at->first.first == memory) act_on(at->second);
    }
  }

  bool is_of_dropped(uint32_t part) const {
    return parts_[part].role == PartRole::kCommit || parts_[part].role == PartRole::kDrop;
  }

  // Of positions among the parts.
  bool conflict(size_t a, size_t b) const {
    const DispatchId one = parts_[a].dispatch;
    const DispatchId other = parts_[b].dispatch;
    if (one == other) return is_drop_of(parts_[a], parts_[b]) || is_drop_of(parts_[b], parts_[a]);
    if (is_found_anyway(a, b) || is_found_anyway(b, a)) return false;
    const bool is_same_atomic =
        program_.dispatch(one).atomic_op == program_.dispatch(other).atomic_op;
    return std::ranges::any_of(uses_[a], [&](const PartUse& use) {
      return std::ranges::any_of(uses_[b], [&](const PartUse& with) {
        if (!use.writes && !with.writes) return false;
        if (use.access->memory != with.access->memory) return false;
        if (is_same_atomic && use.access->is_atomic() && with.access->is_atomic()) return false;
        return share_a_byte(use.bytes, with.bytes);
      });
    });
  }

  // What the host accesses comes after its earlier writes, and finds those whether they have been
  // committed or not.
  bool is_found_anyway(size_t commit, size_t fetch) const {
    return parts_[commit].stage == Stage::kHost && parts_[fetch].stage == Stage::kHost &&
           parts_[commit].role == PartRole::kCommit && parts_[fetch].role == PartRole::kFetch &&
           parts_[commit].dispatch < parts_[fetch].dispatch;
  }

  // A commit does nothing once the host has invalidated its bytes.
  static bool is_drop_of(const OperationPart& drop, const OperationPart& commit) {
    return drop.role == PartRole::kDrop && commit.role == PartRole::kCommit &&
           drop.piece == commit.piece;
  }

  // What of the host is not split happens at once, in its run; atomics find what they change as
  // they commit.
  std::vector<PartUse> uses_of(const OperationPart& part) const {
    const auto accesses = program_.accesses_of(part.dispatch);
    std::vector<PartUse> uses;
    if (part.role == PartRole::kRun && part.stage == Stage::kHost) {
      for (uint32_t k = 0; k < accesses.size(); ++k) {
        if (is_split_.contains({part.dispatch, k})) continue;
        uses.push_back({&accesses[k], accesses[k].range, accesses[k].writes_plainly()});
      }
    } else if (part.role == PartRole::kFetch || part.role == PartRole::kCommit) {
      const AccessPiece& piece = machine_.pieces()[part.piece];
      const Access& access = accesses[piece.access];
      const bool commits = part.role == PartRole::kCommit;
      if (commits || !access.is_atomic()) uses.push_back({&access, piece.bytes, commits});
    }
    return uses;
  }

  const Program& program_;
  const QueueMachine& machine_;
  const std::span<const OperationPart> parts_;
  std::set<std::pair<DispatchId, uint32_t>> is_split_;
  std::vector<std::vector<PartUse>> uses_;  // By part.
  std::map<SegmentBegin, Segment> segments_;
  std::map<uint32_t, std::vector<uint32_t>> of_piece_;  // What commits and drops it.
};

// All parts in the order in which the machine carries them out if nothing is deferred.
std::vector<OperationPart> reference_parts(const Program& program) {
  QueueMachine machine = traced_machine(program);
  std::vector<OperationPart> parts;
  while (!machine.enabled().empty() && !is_stopped()) {
    parts.push_back(*machine.enabled().begin());
    machine.run(parts.back());
  }
  return parts;
}

// The first of `parts` that is not `withheld`.
std::optional<OperationPart> first_but(const std::set<OperationPart>& parts,
                                       const OperationPart& withheld) {
  const auto first =
      std::ranges::find_if(parts, [&](const OperationPart& part) { return part != withheld; });
  return first == parts.end() ? std::nullopt : std::optional(*first);
}

// Which of `all` run while that part does not.
std::vector<bool> run_without(const Program& program, const OperationPart& withheld,
                              std::span<const OperationPart> all) {
  QueueMachine machine = traced_machine(program);
  while (!is_stopped()) {
    std::optional<OperationPart> next = first_but(machine.enabled(), withheld);
    if (!next) next = first_but(machine.early(), withheld);
    if (!next) break;
    machine.run(*next);
  }
  std::vector<bool> has_run;
  has_run.reserve(all.size());
  for (const OperationPart& part : all) has_run.push_back(machine.is_over(part));
  return has_run;
}

// Of the parts from the first on, as many as kConflictingPartsMax allows.
std::vector<UnitPair> find_conflicts(PartUses uses, size_t part_count, bool& is_truncated) {
  std::vector<UnitPair> conflicts;
  std::set<uint32_t> conflicting;
  for (uint32_t second = 0; second < part_count && !is_stopped(); ++second) {
    for (const uint32_t first : uses.conflicts_of(second)) {
      conflicting.insert({first, second});
      is_truncated = conflicting.size() > kConflictingPartsMax;
      if (is_truncated) return conflicts;
      conflicts.push_back({first, second});
    }
    uses.add(second);
  }
  return conflicts;
}

std::vector<uint32_t> parts_in(const std::vector<UnitPair>& pairs) {
  std::set<uint32_t> members;
  for (const UnitPair& pair : pairs) members.insert({pair.first, pair.second});
  return {members.begin(), members.end()};
}

}  // namespace

QueueUnits find_queue_units(const Program& program) {
  QueueUnits units;
  const QueueMachine machine = traced_machine(program);
  const std::vector<OperationPart> all = reference_parts(program);
  std::vector<UnitPair> conflicts =
      find_conflicts(PartUses(program, machine, all), all.size(), units.is_truncated);
  std::map<uint32_t, std::vector<bool>> without;  // By position in `all`.
  for (const uint32_t at : parts_in(conflicts)) {
    if (is_stopped()) return units;
    without.emplace(at, run_without(program, all[at], all));
  }
  const auto precedes = [&](uint32_t first, uint32_t second) { return !without.at(first)[second]; };
  std::erase_if(conflicts, [&](const UnitPair& pair) { return precedes(pair.first, pair.second); });
  const std::vector<uint32_t> positions = parts_in(conflicts);
  const auto unit_of = [&](uint32_t at) {
    return static_cast<uint32_t>(std::ranges::lower_bound(positions, at) - positions.begin());
  };
  for (const uint32_t at : positions) units.parts.push_back(all[at]);
  for (const UnitPair& pair : conflicts) {
    units.pairs.push_back({unit_of(pair.first), unit_of(pair.second)});
  }
  units.before = BitMatrix(positions.size());
  for (uint32_t u = 0; u < positions.size(); ++u) {
    for (uint32_t v = 0; v < positions.size(); ++v) {
      if (u != v && precedes(positions[v], positions[u])) units.before.set(u, v);
    }
  }
  return units;
}

QueueTraces::QueueTraces(const Program& program, const StrategyOptions& options)
    : program_(program),
      units_(find_queue_units(program)),
      groups_(trace_groups(
          units_.pairs,
          [this](uint32_t first, uint32_t second) { return units_.precedes(first, second); })),
      counts_(count_turns(groups_, options.combines_groups)),
      turns_(groups_, options.combines_groups) {}

bool QueueTraces::next(Schedule& schedule) {
  while (turns_.advance()) {
    if (make(schedule) || is_stopped()) return true;
    ++refused_count_;
  }
  return false;
}

// Always the first part that may run and that its trace lets go. What the host's cache fetches
// early does so where something waits for it.
bool QueueTraces::make(Schedule& schedule) const {
  std::map<OperationPart, std::vector<OperationPart>> before;  // Of units.
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<uint32_t>& members = groups_[g].units;
    for (uint32_t u = 0; u < members.size(); ++u) {
      std::vector<OperationPart>& earlier = before[units_.parts[members[u]]];
      const uint64_t* const bits = turns_.at_hand()[g]->units_before(u);
      for (uint32_t v = 0; v < members.size(); ++v) {
        if ((bits[v / 64] >> (v % 64) & 1) != 0) earlier.push_back(units_.parts[members[v]]);
      }
    }
  }
  QueueMachine machine = traced_machine(program_);
  std::vector<OperationPart> parts;
  const auto may_go = [&](const OperationPart& part) {
    const auto found = before.find(part);
    return found == before.end() ||
           std::ranges::all_of(found->second,
                               [&](const OperationPart& other) { return machine.is_over(other); });
  };
  const auto take_from = [&](const std::set<OperationPart>& from, bool only_units) {
    const auto next = std::ranges::find_if(from, [&](const OperationPart& part) {
      return (!only_units || before.contains(part)) && may_go(part);
    });
    if (next == from.end()) return false;
    parts.push_back(*next);
    machine.run(parts.back());
    return true;
  };
  while (take_from(machine.enabled(), false) || take_from(machine.early(), true)) {
    if (is_stopped()) return false;
  }
  if (!machine.is_done()) return false;
  schedule = steps_of(program_, machine, parts);
  return true;
}

std::string QueueTraces::name() const {
  constexpr std::string_view kWords[] = {"fetches", "runs", "commits", "is invalidated"};
  return turns_.name([&](uint32_t unit) {
    const OperationPart& part = units_.parts[unit];
    return fmt::format("{} {}", program_.reference_of(part.dispatch),
                       kWords[static_cast<size_t>(part.role)]);
  });
}

}  // namespace interlock
