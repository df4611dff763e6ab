// The basic idea is to carry the reach of one byte of the first access through the barriers between
// the two, and to keep, of each way in which a dependency nearly helps, the first that does: it
// stands in one barrier with the one that it would have to follow, its operands miss the byte, its
// source or its destination lacks the access. The one that comes closest is named.
#include "simulator/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "simulator/report/operand_text.h"

namespace interlock {

namespace {

constexpr uint32_t kCommandsMax = 1000;
constexpr size_t kOperandsNamed = 3;

// The dependency as written: "'compute.write -> compute.read x'".
std::string text_of_dependency(const Program& program, const Barrier& barrier, size_t position) {
  if (barrier.kind == BarrierKind::kFull) return "'barrier'";
  if (barrier.kind == BarrierKind::kExecution) return "'barrier execution'";
  const Dependency& dependency = program.dependencies_of(barrier)[position];
  const std::span<const Access> operands = program.operands_of(dependency);
  std::string text =
      fmt::format("'{} -> {}", text_of(dependency.source), text_of(dependency.destination));
  for (size_t i = 0; i < std::min(operands.size(), kOperandsNamed); ++i) {
    text += " " + program.text_of(operands[i]);
  }
  return text + (operands.size() > kOperandsNamed ? " …'" : "'");
}

// Bytes as an operand of a barrier: the operand itself where it is all of it.
std::string text_of_operand(const Program& program, const Access& access, ByteRange bytes) {
  if (access.range == bytes) return program.text_of(access);
  return text_of_bytes(program, access.memory, bytes);
}

// What the walk looks for, and what it has found so far.
class NearMisses {
 public:
  NearMisses(const Program& program, const ScopedOrder& order, const Hazard& hazard,
             const HazardExtent& extent)
      : program_(program),
        order_(order),
        hazard_(hazard),
        extent_(extent),
        first_stage_(order.stage_of(hazard.first.dispatch)),
        second_stage_(order.stage_of(hazard.second.dispatch)),
        access_(program.accesses_of(hazard.second.dispatch)[hazard.second.access]),
        written_as_(write_sort_of(first_stage_)),
        seen_as_(hazard.kind == FindingKind::kReadAfterWrite ? *read_sort_of(second_stage_, access_)
                                                             : write_sort_of(second_stage_)) {}

  MissingDependency explain();

 private:
  void visit_for_order(uint32_t command);
  void visit_for_visibility(uint32_t command);
  bool covers(const ScopedDependency& dependency) const {
    const ByteRange byte = {hazard_.overlap.begin, hazard_.overlap.begin + 1};
    return order_.touches(dependency, {access_.memory, byte});
  }
  bool leads_out(const ScopedDependency& dependency) const {
    return (dependency.from & (bit_of(first_stage_) | reached_)) != 0;
  }
  std::string cause() const;
  std::string cause_for_order() const;
  std::string cause_for_visibility() const;
  std::string fix() const;
  std::string text(uint32_t command, size_t position) const {
    return text_of_dependency(program_, program_.barriers[command], position);
  }
  void note(std::optional<std::string>& miss, uint32_t command, size_t position) const {
    if (!miss) miss = text(command, position);
  }
  // If the dependency would have to follow another one of its barrier.
  template <typename LeadsTo>
  void note_unchained(uint32_t command, size_t position, LeadsTo leads_to) {
    const auto dependencies = order_.dependencies_of(command);
    const auto before = std::ranges::find_if(dependencies, leads_to);
    if (before == dependencies.end() || unchained_) return;
    unchained_ = {text(command, static_cast<size_t>(before - dependencies.begin())),
                  text(command, position)};
  }

  const Program& program_;
  const ScopedOrder& order_;
  const Hazard& hazard_;
  const HazardExtent& extent_;
  Stage first_stage_;
  Stage second_stage_;
  const Access& access_;  // The second one.
  StageAccess written_as_;
  StageAccess seen_as_;

  StageMask reached_ = 0;  // Stages whose work now comes after the first dispatch.
  Reach reach_;            // Of the first hazardous byte.
  bool has_accesses_ = false;
  // Dependencies, as written.
  std::optional<std::pair<std::string, std::string>> unchained_;  // Two of one barrier.
  std::optional<std::string> uncovered_;                          // Its operands miss the byte.
  std::optional<std::string> lacks_source_stage_;                 // Waits for other stages,
  std::optional<std::string> lacks_source_;                       // or other accesses.
  std::optional<std::string> lacks_destination_;   // Makes it visible to other accesses,
  std::optional<std::string> lacks_second_stage_;  // or holds back other stages.
};

void NearMisses::visit_for_order(uint32_t command) {
  const auto dependencies = order_.dependencies_of(command);
  StageMask added = 0;
  std::optional<size_t> leading;
  for (size_t i = 0; i < dependencies.size(); ++i) {
    if (leads_out(dependencies[i])) {
      added |= dependencies[i].to;
      if (!leading) leading = i;
      note(lacks_second_stage_, command, i);
    } else if ((dependencies[i].to & bit_of(second_stage_)) != 0) {
      note(lacks_source_stage_, command, i);
      note_unchained(command, i, [&](const ScopedDependency& other) {
        return leads_out(other) && (other.to & dependencies[i].from) != 0;
      });
    }
  }
  reached_ |= added;
}

void NearMisses::visit_for_visibility(uint32_t command) {
  const auto dependencies = order_.dependencies_of(command);
  const auto made_by = [&](const ScopedDependency& dependency, bool is_covered) {
    return dependency.added_to(reach_, written_as_, is_covered);
  };
  Reach after = reach_;
  for (size_t i = 0; i < dependencies.size(); ++i) {
    const ScopedDependency& dependency = dependencies[i];
    const bool is_covered = covers(dependency);
    const Reach added = made_by(dependency, is_covered);
    after |= added;
    has_accesses_ |= (dependency.makes_available | dependency.makes_visible) != 0;
    const bool sees = (dependency.makes_visible & bit_of(seen_as_)) != 0;
    const bool would_apply = made_by(dependency, true).available != 0;
    if (would_apply && !is_covered && (sees || reach_.available == 0)) {
      note(uncovered_, command, i);
    } else if (would_apply && is_covered && dependency.makes_visible != 0) {
      note(lacks_destination_, command, i);
    } else if (sees && is_covered) {
      note(lacks_source_, command, i);
      note_unchained(command, i, [&](const ScopedDependency& other) {
        return (made_by(other, covers(other)).available & dependency.from) != 0;
      });
    }
  }
  reach_ = after;
}

std::string NearMisses::cause() const {
  if (unchained_) {
    return fmt::format(
        "{} and {} stand in one barrier, and the dependencies of one barrier do not chain",
        unchained_->first, unchained_->second);
  }
  return hazard_.is_ordered ? cause_for_visibility() : cause_for_order();
}

std::string NearMisses::cause_for_order() const {
  const std::string first = text_of(first_stage_);
  const std::string second = text_of(second_stage_);
  if (lacks_source_stage_ && reached_ == 0) {
    return fmt::format("the source of {} lacks {}", *lacks_source_stage_, first);
  }
  if (lacks_second_stage_ && !lacks_source_stage_) {
    return fmt::format("the destination of {} lacks {}", *lacks_second_stage_, second);
  }
  return fmt::format("no chain of barriers between dispatch {} and dispatch {} leads from {} to {}",
                     hazard_.first.dispatch.index, hazard_.second.dispatch.index, first, second);
}

std::string NearMisses::cause_for_visibility() const {
  const std::string first = text_of(written_as_);
  const std::string second = text_of(seen_as_);
  if (uncovered_) {
    return fmt::format("the operands of {} do not cover {}", *uncovered_,
                       text_of_operand(program_, access_, hazard_.overlap));
  }
  if (!has_accesses_) return "the barriers between them order execution only";
  if (lacks_destination_) {
    return fmt::format("the destination of {} lacks {}", *lacks_destination_, second);
  }
  if (lacks_source_) return fmt::format("the source of {} lacks {}", *lacks_source_, first);
  return fmt::format("no chain of barriers between them leads from {} to {}", first, second);
}

std::string NearMisses::fix() const {
  return fmt::format("`{}` between dispatch {} and dispatch {}.",
                     barrier_text_of(program_, hazard_.kind, extent_), hazard_.first.dispatch.index,
                     hazard_.second.dispatch.index);
}

MissingDependency NearMisses::explain() {
  const uint32_t begin = order_.commands_before(hazard_.first.dispatch);
  const uint32_t end = order_.commands_before(hazard_.second.dispatch);
  const bool is_long = end - begin > kCommandsMax;
  for (uint32_t command = begin; command < end && !is_long; ++command) {
    if (hazard_.is_ordered) {
      visit_for_visibility(command);
    } else {
      visit_for_order(command);
    }
  }
  has_accesses_ |= is_long;
  const uint32_t first = hazard_.first.dispatch.index;
  const uint32_t second = hazard_.second.dispatch.index;
  if (begin == end) {
    return {
        fmt::format("Nothing orders them: no barrier stands between dispatch {} and dispatch {}.",
                    first, second),
        fix()};
  }
  const std::string what =
      hazard_.is_ordered
          ? fmt::format(
                "They are ordered, but what dispatch {} writes is not visible to dispatch {}",
                first, second)
          : "Nothing orders them";
  return {fmt::format("{}: {}.", what, cause()), fix()};
}

}  // namespace

MissingDependency explain_missing(const Program& program, const ScopedOrder& order,
                                  const Hazard& hazard, const HazardExtent& extent) {
  return NearMisses(program, order, hazard, extent).explain();
}

}  // namespace interlock
