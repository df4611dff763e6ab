// RepairSearch: the changes of a text that may repair one hazard, from the cheapest on. What
// repair.h is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/finding.h"
#include "simulator/report/hazard_end.h"
#include "simulator/report/hazard_extent.h"
#include "simulator/report/operand_text.h"
#include "simulator/report/sync_edit.h"

namespace interlock {

// With the places in the text next to it.
struct RepairEnd : HazardEnd {
  using HazardEnd::HazardEnd;

  SyncEdit::Place before(const Program& program) const {
    if (is_launched(program)) return {step_of_launch(program, SyncKind::kSignal), false};
    return {is_transition() ? barrier(program) : dispatch.statement, false};
  }
  SyncEdit::Place after(const Program& program) const {
    if (is_launched(program)) return {step_of_launch(program, SyncKind::kWait), true};
    uint32_t last = dispatch.statement.index;
    while (is_transition() && is_transition_at(program, size_t{last} + 1)) ++last;
    return {StatementId(size_t{last}), true};
  }

 private:
  bool is_launched(const Program& program) const { return program.queue_of(dispatch) != queue; }

  // Of the launch on the queue: the signal that begins it, or the wait that ends it.
  StatementId step_of_launch(const Program& program, SyncKind kind) const {
    uint32_t at = dispatch.statement.index;
    const auto is_it = [&](const Statement& statement) {
      return statement.kind == StatementKind::kSync && statement.queue == queue &&
             program.syncs[statement.index].is_of_launch;
    };
    while (!is_it(program.statements[at])) kind == SyncKind::kSignal ? --at : ++at;
    return StatementId(size_t{at});
  }

  static bool is_transition_at(const Program& program, size_t statement) {
    return statement < program.statements.size() &&
           program.statements[statement].kind == StatementKind::kDispatch &&
           program.dispatches[program.statements[statement].index].is_transition();
  }
};

// What all repairs of one program ask about.
struct RepairContext {
  explicit RepairContext(const Program& text)
      : program(text), reference(find_reference_order(text)), position(text.statements.size()) {
    for (uint32_t i = 0; i < reference.statements.size(); ++i) {
      position[reference.statements[i].index] = i;
    }
  }

  const Program& program;
  const ReferenceOrder reference;
  std::vector<uint32_t> position;         // In the reference run, by statement.
  std::optional<OrderFindings> findings;  // Of the text; none if that takes too much work.
  std::optional<HazardsBetween> hazards;  // Of the text; made for the first pair.
};

class RepairSearch {
 public:
  RepairSearch(RepairContext& context, uint64_t& work_left, Finding& finding)
      : context_(context),
        program_(context.program),
        work_left_(work_left),
        finding_(finding),
        first_(program_, finding.first, *finding.second),
        second_(program_, *finding.second, finding.first),
        is_war_(finding.kind == FindingKind::kWriteAfterRead) {}

  // Lets the finding say the first one that works, if any does.
  void run();

 private:
  // In repair.cc: trying, one statement more between queues, and what always works.
  // For one more look at a changed text; takes it.
  bool has_work();
  // Whether the change works, for the pair and beside it; then it is what the finding says.
  bool works(const SyncEdit& edit, const std::string& fix);
  // Of this kind, on whatever bytes; or the two have turned.
  bool is_it(const ByteHazards& hazard) const;
  // Whether an edge more can do nothing but order: there are edges alone, and no way in a circle.
  bool has_edges_alone() const;
  // Whether something goes wrong elsewhere that did not; false where that takes too much work.
  bool brings_another(const SyncEdit& edit);
  struct NamedRepair {
    std::string fix;
    std::vector<RepairLine> lines;
  };
  void take(const NamedRepair& repair);
  // The sync that stands between the two in the reference run, from the second one back.
  void list_between();
  Scope source_word() const { return extent_.source; }
  Scope destination_word() const { return extent_.destination; }
  bool is_in_graph(const RepairEnd& end) const;
  std::string_view name_of(const RepairEnd& end) const;
  std::string quoted(StatementId id) const { return quoted_text_of(program_, id); }
  // One statement more.
  bool add_one();
  bool add_edge();
  bool was_ordered() const;
  bool add_barrier_between();
  void add_barrier(SyncEdit& edit, SyncEdit::Place place, QueueIndex queue) const;
  std::string barrier_text() const;
  // For a signal that is there already: the first one after the first access that does.
  bool add_wait();
  // A binary semaphore is waited for once, and its waits are counted.
  bool is_free(uint32_t part) const;
  bool add_wait(uint32_t part);
  std::string wait_text(uint32_t part) const;
  // Two statements and more, up to all that the two can need.
  bool add_several();

  // In repair_words.cc: one word more in sync that stands between the two.
  // One word more.
  bool widen_some();
  bool widen(StatementId id);
  bool widen(StatementId id, BarrierKind kind, uint32_t first, uint32_t count);
  bool widen(StatementId id, uint32_t dependency, bool is_source, Scope by);
  // The stages of a wait before a barrier, or of a signal after it, which make it a link of a
  // chain.
  bool pass_on(StatementId id, uint32_t dependency, bool is_source);
  // Two words: of a signal and of the wait for it.
  bool widen_signal_and_wait();
  bool hold_back(StatementId id, const SyncStep& step);
  bool cover(StatementId id, uint32_t part);

  // In repair_host.cc: what the host takes part in.
  // What the host wrote.
  bool add_for_host_write();
  // Of what the host would lose itself.
  bool add_flush_between();
  std::string flush_text() const;
  std::string invalidation_text() const;
  bool add_for_host_read();
  // The second access after what the host does first.
  bool submit_later();
  std::optional<StatementId> submission_of_second() const;
  bool add_before_host();
  // The last thing that it waits for before the second access.
  bool waits_for_idle() const;
  // The host waits already.
  bool add_scope_before_host(const std::string& text, bool has_invalidation);
  // The signal is there.
  bool add_scope_and_wait(const std::string& text, bool has_invalidation, StatementId id);
  // A graph has no barriers, so another queue passes on what it makes.
  bool add_beside_graph();
  // One that is no graph: a new one, which waits for nothing yet, or one that is there, if any is.
  std::optional<QueueIndex> passing_queue(SyncEdit& edit, SyncEdit::Place place, bool is_new) const;
  bool add_after_host();
  bool add_after_host_to_graph(SyncEdit edit, const std::string& flush, bool is_new);

  RepairContext& context_;
  const Program& program_;
  uint64_t& work_left_;
  Finding& finding_;
  const RepairEnd first_;
  const RepairEnd second_;
  const bool is_war_;
  HazardExtent extent_;
  std::vector<Access> in_atoms_;  // Of the bytes: what the host flushes and invalidates.
  std::vector<StatementId> between_;
  std::optional<NamedRepair> with_others_;  // The first that works for the pair alone.
};

}  // namespace interlock
