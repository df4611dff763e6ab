// The basic idea: `all` stands for the list of what this program does or names. Cut down to that
// it is a scope of words, of which check() says which can go, one at a time. These go together as
// far as nothing comes of it: sync only ever adds order, so what cannot go beside some that are cut
// cannot go beside more, and one pass over them, by halves, leaves lists of which no word can go.
#include "simulator/report/scope_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/closing_sync.h"
#include "simulator/barriers/failing_sync.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/barriers/sync_words.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/scoped_order.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

bool names_all_devices(StageMask stages) { return (stages & kDeviceStages) == kDeviceStages; }

// The scope that a word is of.
auto scope_side_of(const SyncPiece& word) {
  return std::tuple(word.statement.index, word.dependency, word.is_source, word.part);
}

bool is_before(const SyncPiece& one, const SyncPiece& other) {
  return std::tuple(scope_side_of(one), one.cut.stages, one.cut.accesses) <
         std::tuple(scope_side_of(other), other.cut.stages, other.cut.accesses);
}

Scope scope_of_side(const Program& program, const SyncPiece& word) {
  if (word.dependency != SyncPiece::kNone) {
    const Dependency& dependency = program.dependencies[word.dependency];
    return word.is_source ? dependency.source : dependency.destination;
  }
  if (word.part != SyncPiece::kNone) return {program.signal_parts[word.part].stages, 0};
  return {program.syncs[program.statements[word.statement.index].index].stages, 0};
}

// What `all` is tried as: the stages where anything executes, and those that other scopes name, by
// which chains can lead.
StageMask find_listed_stages(const Program& program) {
  StageMask stages = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    stages |= bit_of(stage_of(dispatch));
    const AccessMask sorts = sorts_of(program, dispatch);
    if ((sorts & bit_of(StageAccess::kIndirectRead)) != 0) stages |= bit_of(Stage::kIndirect);
  }
  const auto add = [&stages](StageMask named) {
    if (!names_all_devices(named)) stages |= named;
  };
  for (const Dependency& dependency : program.dependencies) {
    add(dependency.source.stages);
    add(dependency.destination.stages);
  }
  for (const SignalPart& part : program.signal_parts) add(part.stages);
  for (const SyncStep& step : program.syncs) {
    if (step.kind == SyncKind::kWait) add(step.stages);
  }
  return static_cast<StageMask>(stages & ~bit_of(Stage::kTransition));
}

// The sync about which there is nothing more to say, as it can go, or is for what comes after.
class SettledSync {
 public:
  SettledSync(const Program& program, const CheckReport& report)
      : statements_(program.statements.size()),
        parts_(program.signal_parts.size()),
        dependencies_(program.dependencies.size()) {
    for (const auto* const list : {&report.redundant, &report.closing}) {
      for (const RedundantBarrier& entry : *list) {
        statements_[program.barriers[entry.barrier.index].statement.index] = true;
      }
    }
    for (const auto* const list : {&report.redundant_sync, &report.closing_sync}) {
      for (const SyncPiece& piece : *list) add(piece);
    }
    const ClosingSync closing(program);
    for (const Barrier& barrier : program.barriers) {
      if (closing.has(barrier.statement)) statements_[barrier.statement.index] = true;
    }
  }

  bool has(const SyncPiece& word) const {
    return statements_[word.statement.index] ||
           (word.part != SyncPiece::kNone && parts_[word.part]) ||
           (word.dependency != SyncPiece::kNone && dependencies_[word.dependency]);
  }

 private:
  void add(const SyncPiece& piece) {
    if (piece.kind == SyncPieceKind::kDependency) dependencies_[piece.dependency] = true;
    if (piece.is_word() || piece.edge != SyncPiece::kNone) return;
    if (piece.part != SyncPiece::kNone) parts_[piece.part] = true;
    if (piece.kind == SyncPieceKind::kSignal) return;
    statements_[piece.statement.index] = true;
    const bool has_set = piece.kind == SyncPieceKind::kEvent && piece.partner.is_some();
    if (has_set) statements_[piece.partner.index] = true;
  }

  std::vector<bool> statements_;
  std::vector<bool> parts_;
  std::vector<bool> dependencies_;
};

// The scopes that are asked about, each as a word that cuts nothing yet.
class WideSides {
 public:
  WideSides(const Program& program, const SettledSync& settled)
      : program_(program), settled_(settled) {}

  std::vector<SyncPiece> find() {
    const auto is_narrow_part = [](const SignalPart& part) {
      return !names_all_devices(part.stages);
    };
    const bool asks_signals = std::ranges::any_of(program_.signal_parts, is_narrow_part);
    const bool asks_waits = std::ranges::any_of(program_.syncs, [](const SyncStep& step) {
      return step.kind == SyncKind::kWait && !names_all_devices(step.stages);
    });
    std::vector<bool> is_met(program_.signal_parts.size());
    for (const SyncStep& step : program_.syncs) {
      const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
      if (is_wait && step.partner != SyncStep::kNoPartner) is_met[step.partner] = true;
    }
    for (const Barrier& barrier : program_.barriers) {
      add_dependencies(barrier.statement, barrier.first_dependency, barrier.dependency_count);
    }
    for (const SyncStep& step : program_.syncs) {
      if (step.is_of_launch) continue;
      if (step.kind == SyncKind::kSet) add_dependencies(step.statement, step.first, step.count);
      const bool is_paired = step.partner != SyncStep::kNoPartner && !step.is_from_outside;
      if (step.kind == SyncKind::kWait && asks_waits && is_paired) {
        add({.kind = SyncPieceKind::kScope, .statement = step.statement});
      }
      if (step.kind != SyncKind::kSignal || !asks_signals) continue;
      for (uint32_t part = step.first; part < step.first + step.count; ++part) {
        if (!is_met[part]) continue;
        add({.kind = SyncPieceKind::kScope,
             .statement = step.statement,
             .part = part,
             .is_source = true});
      }
    }
    std::ranges::sort(sides_, is_before);
    return std::move(sides_);
  }

 private:
  void add_dependencies(StatementId statement, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) {
      for (const bool is_source : {true, false}) {
        add({.kind = SyncPieceKind::kScope,
             .statement = statement,
             .dependency = i,
             .is_source = is_source});
      }
    }
  }

  void add(const SyncPiece& side) {
    if (names_all_devices(scope_of_side(program_, side).stages) && !settled_.has(side)) {
      sides_.push_back(side);
    }
  }

  const Program& program_;
  const SettledSync& settled_;
  std::vector<SyncPiece> sides_;
};

class ScopeSearch {
 public:
  ScopeSearch(const Program& program, uint64_t work_limit)
      : program_(program),
        work_limit_(work_limit),
        work_left_(work_limit),
        check_work_(work_of_order_findings(program)),
        current_(program) {}

  ScopeAdvice run(std::vector<SyncPiece> sides) {
    if (!charge_check()) return unjudged(sides.size());
    with_ = find_order_findings(program_, HazardsListed::kAll, work_left_);
    if (!with_.is_known) return unjudged(sides.size());
    if (!with_.runs || is_stopped()) return {};
    leave_failing(sides);
    cut_group(lists_for(sides));
    std::vector<SyncPiece> listed;
    for (const SyncPiece& side : sides) {
      if (!names_all_devices(scope_of_side(current_, side).stages)) listed.push_back(side);
    }
    cut_words_of(listed);
    if (is_stopped()) return {};
    for (const SyncPiece& side : listed) {
      const auto id = side.statement;
      const bool is_new = result_.narrower.empty() || result_.narrower.back().statement != id;
      if (is_new) result_.narrower.push_back({id, text_of(current_, id)});
    }
    return std::move(result_);
  }

 private:
  static ScopeAdvice unjudged(uint64_t count) { return {.narrower = {}, .unjudged_count = count}; }

  bool charge_check() {
    if (check_work_ > work_left_) return false;
    work_left_ -= check_work_;
    return true;
  }

  // What fails to order a hazard is to say more, and not less.
  void leave_failing(std::vector<SyncPiece>& sides) const {
    if (with_.hazards.empty() && with_.lifetimes.empty()) return;
    const FailingSync failing(program_, find_reference_order(program_), with_);
    std::erase_if(sides, [&](const SyncPiece& side) {
      const bool is_barrier =
          program_.statements[side.statement.index].kind == StatementKind::kBarrier;
      return failing.has(
          is_barrier ? SyncPiece{.kind = SyncPieceKind::kBarrier, .statement = side.statement}
                     : side);
    });
  }

  // Of each side what is not in the list.
  std::vector<SyncPiece> lists_for(const std::vector<SyncPiece>& sides) const {
    const StageMask stages = find_listed_stages(program_);
    std::vector<SyncPiece> cuts;
    for (SyncPiece side : sides) {
      const Scope scope = scope_of_side(program_, side);
      const bool is_of_scope = side.dependency != SyncPiece::kNone;
      const auto kept = static_cast<StageMask>(is_of_scope ? stages : stages & kDeviceStages);
      side.cut = {static_cast<StageMask>(scope.stages & ~kept),
                  static_cast<AccessMask>(scope.accesses & ~accesses_in(kept))};
      cuts.push_back(side);
    }
    return cuts;
  }

  // The words of these sides, as check() has them.
  void cut_words_of(const std::vector<SyncPiece>& sides) {
    if (sides.empty() || is_stopped()) return;
    const CheckReport report =
        check(current_,
              {.observability_budget = 0, .redundancy_budget = work_limit_, .repair_budget = 0});
    result_.unjudged_count += report.unjudged_barrier_count + report.unjudged_sync_count;
    std::vector<SyncPiece> alone = report.redundant_sync;
    std::erase_if(alone, [](const SyncPiece& p) { return p.kind != SyncPieceKind::kScope; });
    std::ranges::sort(alone, is_before);
    std::vector<SyncPiece> stages;
    std::vector<SyncPiece> accesses;
    std::vector<SyncPiece> words;
    StatementId last;
    for (const SyncPiece& side : sides) {
      if (side.statement == last) continue;
      last = side.statement;
      words.clear();
      append_words(current_, last, words);
      for (const SyncPiece& word : words) {
        if (word.kind != SyncPieceKind::kScope || !is_of(sides, word)) continue;
        // What goes with its stage was not judged by itself.
        const bool is_within = word.within != SyncPiece::kNone && has(alone, words[word.within]);
        if (!has(alone, word) && !is_within) continue;
        (word.cut.stages != 0 ? stages : accesses).push_back(word);
      }
    }
    cut_group(stages);
    std::erase_if(accesses, [&](const SyncPiece& word) {
      return (scope_of_side(current_, word).accesses & word.cut.accesses) == 0;
    });
    cut_group(accesses);
  }

  static bool has(const std::vector<SyncPiece>& sorted, const SyncPiece& word) {
    return std::ranges::binary_search(sorted, word, is_before);
  }

  static bool is_of(const std::vector<SyncPiece>& sides, SyncPiece word) {
    word.cut = {};
    return has(sides, word);
  }

  // Cuts as much of these as nothing comes of, the earlier ones first.
  void cut_group(std::span<const SyncPiece> group) {
    if (group.empty() || is_stopped()) return;
    if (!charge_check()) {
      result_.unjudged_count += group.size();
      return;
    }
    if (cuts_all(group)) return;
    if (group.size() == 1) return;
    const size_t half = group.size() / 2;
    cut_group(group.first(half));
    cut_group(group.subspan(half));
  }

  bool cuts_all(std::span<const SyncPiece> group) {
    Program without = current_;
    cut_words(group, without);
    // It would be none, or another statement.
    const auto is_emptied = [&](const SyncPiece& word) {
      return scope_of_side(without, word).stages == 0;
    };
    if (std::ranges::any_of(group, is_emptied)) return false;
    const HazardsListed listed =
        with_.hazards.empty() ? HazardsListed::kOfOnePair : HazardsListed::kAll;
    const OrderFindings findings = find_order_findings(without, listed, work_left_);
    if (is_stopped() || !findings.is_known || !adds_nothing(with_, findings)) return false;
    current_ = std::move(without);
    return true;
  }

  const Program& program_;
  const uint64_t work_limit_;
  uint64_t work_left_;
  const uint64_t check_work_;
  OrderFindings with_;
  Program current_;  // As far as it is cut.
  ScopeAdvice result_;
};

}  // namespace

ScopeAdvice find_scope_advice(const Program& program, const CheckReport& report,
                              uint64_t work_limit) {
  const SettledSync settled(program, report);
  const std::vector<SyncPiece> sides = WideSides(program, settled).find();
  if (sides.empty()) return {};
  return ScopeSearch(program, work_limit).run(sides);
}

std::string text_of(const Program& program, const ScopeAdvice& advice, uint64_t limit) {
  const uint64_t count = advice.narrower.size();
  const uint64_t shown = std::min(limit, count);
  std::string text;
  for (uint64_t i = 0; i < shown; ++i) {
    const NarrowerStatement& narrower = advice.narrower[i];
    text += fmt::format("wider than needed: {} could be `{}`.\n",
                        description_of_sync(program, narrower.statement), narrower.instead);
  }
  if (shown < count) text += fmt::format("… and {} more.\n", count - shown);
  if (count > 0) {
    text += fmt::format(
        "{} wider than needed: with {} narrower text the program has the same findings.\n",
        count == 1 ? "1 statement is" : fmt::format("{} statements are", count),
        count == 1 ? "its" : "all of their");
  }
  if (advice.unjudged_count > 0) {
    text += fmt::format(
        "{} of scopes not judged: whether they can go takes more work than the limit.\n",
        advice.unjudged_count == 1 ? "1 word" : fmt::format("{} words", advice.unjudged_count));
  }
  return text;
}

}  // namespace interlock
