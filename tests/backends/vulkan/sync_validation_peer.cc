// The basic idea is to walk over the runs of bytes of each operand on which nothing changes, and to
// ask twice what hazard the operand has there: us, with every earlier access, and the layer, with
// those that it remembers. Who executes before whom and what is visible to whom is the simulator's
// answer in both cases.
#include "tests/backends/vulkan/sync_validation_peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "encoder/kernel/kernel_table.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "tests/backends/vulkan/lowered_program.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, kPeerLimitCount> kWords = {
    "write-after-write", "reads-and-writes", "atomics",      "most-recent",
    "ordered-reader",    "wide-binding",     "compute-copy", "several-phases"};

// The hazards of two dispatches.
using HazardPair = std::tuple<FindingKind, DispatchId, DispatchId>;

// What the layer takes an operand for: it looks for plain stores in the shader.
bool is_write_to_layer(const Access& access) { return access.writes_plainly(); }

// A hazard of one operand with one earlier operand, on the bytes of one run.
struct RunHazard {
  FindingKind kind = FindingKind::kReadAfterWrite;
  DispatchId first;
  const Access* first_access = nullptr;
  bool is_adjacent = false;  // No later access of the stage of `first` conflicts as `kind`.
};

// What the layer finds on one run of bytes.
struct LayerHazard {
  FindingKind kind = FindingKind::kReadAfterWrite;
  std::vector<DispatchId> firsts;
  bool is_suppressed = false;
};

// What the layer remembers of a run of bytes.
struct Remembered {
  DispatchId write;                      // The last one; none if there is none.
  std::vector<DispatchId> reads;         // All since then, latest first.
  std::vector<DispatchId> latest_reads;  // The latest of each stage.
};

class Forecaster {
 public:
  Forecaster(const ForecastLowering& lowered, PeerForecast& forecast)
      : program_(lowered.program),
        origins_(lowered.origins),
        order_(program_),
        forecast_(forecast) {}

  void run() {
    for (size_t d = 0; d < program_.dispatches.size(); ++d) {
      for (const Access& access : program_.accesses_of(DispatchId(d))) visit(DispatchId(d), access);
    }
  }

 private:
  Stage stage_of_dispatch(DispatchId id) const { return stage_of(program_.dispatch(id)); }

  bool holds(const Access& access, MemoryId memory, ByteRange run) const {
    return access.memory == memory && share_a_byte(access.range, run);
  }

  // The runs of bytes of `access` between the ends of earlier operands.
  std::vector<ByteRange> runs_of(DispatchId second, const Access& access) const {
    std::set<uint64_t> ends = {access.range.begin, access.range.end};
    const auto add = [&](MemoryId memory, ByteRange range) {
      if (memory != access.memory) return;
      for (const uint64_t end : {range.begin, range.end}) {
        if (access.range.begin < end && end < access.range.end) ends.insert(end);
      }
    };
    for (size_t d = 0; d < second.index; ++d) {
      for (const Access& earlier : program_.accesses_of(DispatchId(d))) {
        add(earlier.memory, earlier.range);
      }
    }
    // Visibility changes at the ends of what barriers cover.
    for (const Access& operand : program_.barrier_operands) add(operand.memory, operand.range);
    std::vector<ByteRange> runs;
    for (auto end = std::next(ends.begin()); end != ends.end(); ++end) {
      runs.push_back({*std::prev(end), *end});
    }
    return runs;
  }

  bool is_visible(DispatchId first, DispatchId second, StageAccess sort, MemoryId memory,
                  ByteRange run) const {
    return !order_.find_invisible(first, second, sort, memory, run).has_value();
  }

  // Our hazards of the operand on this run. There is one iff there is an adjacent one
  // (docs/theory.md, "Adjacent conflicts suffice").
  std::vector<RunHazard> hazards_on(DispatchId second, const Access& access, ByteRange run) const {
    std::vector<RunHazard> hazards;
    std::array<StageMask, 3> behind{};  // Stages that conflict after `first`, by kind.
    for (size_t d = second.index; d-- > 0;) {
      const DispatchId first(d);
      std::array<StageMask, 3> conflicts{};
      for (const Access& earlier : program_.accesses_of(first)) {
        if (!holds(earlier, access.memory, run)) continue;
        const ConflictKinds kinds = conflict_kinds(earlier, program_.dispatch(first).atomic_op,
                                                   access, program_.dispatch(second).atomic_op);
        for (const FindingKind kind : kHazardKinds) {
          if (!kinds.has(kind)) continue;
          const StageMask stage = bit_of(stage_of_dispatch(first));
          conflicts[static_cast<size_t>(kind)] |= stage;
          if (are_separated(kind, first, second, access, run)) continue;
          const bool is_adjacent = (behind[static_cast<size_t>(kind)] & stage) == 0;
          hazards.push_back({kind, first, &earlier, is_adjacent});
        }
      }
      for (size_t k = 0; k < behind.size(); ++k) behind[k] |= conflicts[k];
    }
    return hazards;
  }

  bool are_separated(FindingKind kind, DispatchId first, DispatchId second, const Access& access,
                     ByteRange run) const {
    const Stage stage = stage_of_dispatch(second);
    switch (kind) {
      case FindingKind::kReadAfterWrite:
        return is_visible(first, second, *read_sort_of(stage, access), access.memory, run);
      case FindingKind::kWriteAfterRead:
        return order_.executes_before(first, second);
      default:
        return is_visible(first, second, *write_sort_of(stage, access), access.memory, run);
    }
  }

  // What the layer may remember of the run, one or two things: it takes the operands of a dispatch
  // in an order of its own, so that a read may remain after the write of the same dispatch.
  std::vector<Remembered> remembered_on(DispatchId second, MemoryId memory, ByteRange run) const {
    Remembered remembered;
    StageMask stages_read = 0;
    const auto add_read = [&](DispatchId id) {
      remembered.reads.push_back(id);
      const StageMask stage = bit_of(stage_of_dispatch(id));
      if ((stages_read & stage) == 0) remembered.latest_reads.push_back(id);
      stages_read |= stage;
    };
    for (size_t d = second.index; d-- > 0;) {
      const DispatchId id(d);
      bool reads = false;
      for (const Access& access : program_.accesses_of(id)) {
        if (!holds(access, memory, run)) continue;
        if (is_write_to_layer(access)) {
          remembered.write = id;
        } else {
          reads = true;
        }
      }
      if (!remembered.write.is_some()) {
        if (reads) add_read(id);
        continue;
      }
      std::vector<Remembered> variants = {remembered};
      if (reads && stage_of_dispatch(id) == Stage::kCompute) {
        add_read(id);
        variants.push_back(remembered);
      }
      return variants;
    }
    return {remembered};
  }

  bool is_behind_a_reader(const Remembered& remembered, DispatchId second) const {
    return std::any_of(remembered.reads.begin(), remembered.reads.end(),
                       [&](DispatchId read) { return order_.executes_before(read, second); });
  }

  std::optional<LayerHazard> layer_hazard_on(const Remembered& remembered, DispatchId second,
                                             const Access& access, ByteRange run) const {
    const Stage stage = stage_of_dispatch(second);
    const DispatchId write = remembered.write;
    if (!is_write_to_layer(access)) {
      if (!write.is_some() || is_behind_a_reader(remembered, second) ||
          is_visible(write, second, *read_sort_of(stage, access), access.memory, run)) {
        return std::nullopt;
      }
      return LayerHazard{FindingKind::kReadAfterWrite, {write}};
    }
    if (!remembered.latest_reads.empty()) {
      LayerHazard hazard{FindingKind::kWriteAfterRead, {}};
      for (const DispatchId read : remembered.latest_reads) {
        if (!order_.executes_before(read, second)) hazard.firsts.push_back(read);
      }
      return hazard.firsts.empty() ? std::nullopt : std::optional(hazard);
    }
    if (!write.is_some() ||
        is_visible(write, second, *write_sort_of(stage, access), access.memory, run)) {
      return std::nullopt;
    }
    const bool are_shaders =
        stage == Stage::kCompute && stage_of_dispatch(write) == Stage::kCompute;
    return LayerHazard{FindingKind::kWriteAfterWrite, {write}, are_shaders};
  }

  // Why the layer does not report this hazard, as it remembers `remembered` and finds `found`; none
  // if it does, or reports another one of this run.
  std::optional<PeerLimit> limit_of(const RunHazard& hazard, const Remembered& remembered,
                                    const Access& access,
                                    const std::optional<LayerHazard>& found) const {
    if (found && !found->is_suppressed) return std::nullopt;
    if (access.is_atomic() || hazard.first_access->is_atomic()) return PeerLimit::kAtomics;
    const bool is_first_remembered = hazard.first == remembered.write;
    const bool has_own_reader = std::find(remembered.reads.begin(), remembered.reads.end(),
                                          remembered.write) != remembered.reads.end();
    if (is_first_remembered && has_own_reader) return PeerLimit::kReadsAndWrites;
    if (is_write_to_layer(access) && is_first_remembered && remembered.reads.empty()) {
      const bool are_plain =
          access.mode == AccessMode::kWrite && hazard.first_access->mode == AccessMode::kWrite;
      return are_plain ? PeerLimit::kWriteAfterWrite : PeerLimit::kReadsAndWrites;
    }
    if (!is_write_to_layer(access) && is_first_remembered) return PeerLimit::kOrderedReader;
    return PeerLimit::kMostRecent;
  }

  void visit(DispatchId second, const Access& access) {
    PeerOperand operand{origins_[second.index], {}, false};
    std::array<bool, kPeerLimitCount> limits{};
    bool goes_on = true;          // The search of the layer may get here.
    bool may_have_ended = false;  // Or it has ended at a hazard that is not reported.
    for (const ByteRange run : runs_of(second, access)) {
      if (!goes_on && !may_have_ended) break;
      const std::vector<RunHazard> hazards = hazards_on(second, access, run);
      bool may_go_on = false;
      bool may_end = false;
      for (const Remembered& remembered : remembered_on(second, access.memory, run)) {
        const auto found = layer_hazard_on(remembered, second, access, run);
        for (const RunHazard& hazard : hazards) {
          if (!hazard.is_adjacent) continue;
          const auto limit = limit_of(hazard, remembered, access, found);
          if (limit) limits[static_cast<size_t>(*limit)] = true;
        }
        may_go_on = may_go_on || !found;
        may_end = may_end || (found && found->is_suppressed);
        if (goes_on && found && !found->is_suppressed)
          add_messages(*found, second, hazards, operand);
      }
      may_have_ended = may_have_ended || (goes_on && may_end);
      goes_on = goes_on && may_go_on;
    }
    operand.may_be_silent = goes_on || may_have_ended;
    if (!operand.messages.empty()) forecast_.operands.push_back(operand);
    if (!operand.may_be_silent) return;
    for (size_t i = 0; i < kPeerLimitCount; ++i) {
      forecast_.limits[i] = forecast_.limits[i] || limits[i];
    }
  }

  void add_messages(const LayerHazard& found, DispatchId second,
                    const std::vector<RunHazard>& hazards, PeerOperand& operand) {
    for (const DispatchId first : found.firsts) {
      const PeerMessage message{found.kind, origins_[first.index]};
      auto& messages = operand.messages;
      if (std::find(messages.begin(), messages.end(), message) == messages.end()) {
        messages.push_back(message);
      }
      const bool is_ours =
          std::any_of(hazards.begin(), hazards.end(), [&](const RunHazard& hazard) {
            return hazard.kind == found.kind && hazard.first == first;
          });
      if (is_ours) continue;
      forecast_.contradictions.push_back(
          fmt::format("{} {} {} would be reported and is no hazard", word_of(found.kind),
                      program_.description_of(first), program_.description_of(second)));
    }
  }

  const Program& program_;
  const std::vector<DispatchId>& origins_;
  const HappensBefore order_;
  PeerForecast& forecast_;
};

// The hazards of the program as lowered, in terms of the program itself.
std::set<HazardPair> hazards_lowered(const Program& program, const DeviceLimits& limits,
                                     const LoweringDifferences& differences) {
  const ForecastLowering lowered = lowered_program(program, limits, differences);
  std::set<HazardPair> pairs;
  for (const Hazard& hazard :
       find_all_hazards(lowered.program, HappensBefore(lowered.program)).hazards) {
    pairs.emplace(hazard.kind, lowered.origins[hazard.first.dispatch.index],
                  lowered.origins[hazard.second.dispatch.index]);
  }
  return pairs;
}

void add_lowering_limits(const Program& program, const DeviceLimits& limits,
                         PeerForecast& forecast) {
  std::set<HazardPair> as_it_stands;
  for (const Hazard& hazard : find_all_hazards(program, HappensBefore(program)).hazards) {
    as_it_stands.emplace(hazard.kind, hazard.first.dispatch, hazard.second.dispatch);
  }
  if (hazards_lowered(program, limits, {}) != as_it_stands) {
    forecast.contradictions.push_back("the program, said in raw ranges, has other hazards");
  }
  // One after another: what is a shader has bindings, and these are wide.
  std::set<HazardPair> pairs = as_it_stands;
  const auto add = [&](PeerLimit limit, const LoweringDifferences& differences) {
    std::set<HazardPair> lowered = hazards_lowered(program, limits, differences);
    forecast.limits[static_cast<size_t>(limit)] = lowered != pairs;
    pairs = std::move(lowered);
  };
  add(PeerLimit::kComputeCopy, {.compute_copies = true});
  add(PeerLimit::kWideBinding, {.wide_bindings = true, .compute_copies = true});
  add(PeerLimit::kSeveralPhases,
      {.wide_bindings = true, .compute_copies = true, .several_phases = true});
}

}  // namespace

std::string_view word_of(PeerLimit limit) { return kWords[static_cast<size_t>(limit)]; }

bool PeerForecast::has_limit() const {
  return std::find(limits.begin(), limits.end(), true) != limits.end();
}

PeerForecast forecast_sync_validation(const Program& program, const DeviceLimits& limits) {
  PeerForecast forecast;
  forecast.has_hazard = !find_hazards(program, HappensBefore(program)).hazards.empty();
  add_lowering_limits(program, limits, forecast);
  const ForecastLowering lowered = lowered_program(program, limits, {true, true, true});
  Forecaster(lowered, forecast).run();
  return forecast;
}

}  // namespace interlock
