// The basic idea is one outline for every kind: the headline names kind, dispatches, bytes and
// operands; the details say why nothing orders them, what makes the operands share bytes and what
// the damage is; the fix is the smallest change that repairs it.
#include "simulator/report/explain.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <variant>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/draft_text.h"
#include "simulator/order/signal_statements.h"
#include "simulator/report/operand_text.h"
#include "simulator/schedules/displacements.h"

namespace interlock {

namespace {

// "what a (dispatch 1) writes", "the initial bytes".
std::string text_of_content(const Program& program, DispatchId writer) {
  return writer.is_some() ? fmt::format("what {} writes", program.description_of(writer))
                          : "the initial bytes";
}

// Whether an exact overlap of the two would be in order.
bool works_in_place(const Program& program, const AliasViolation& violation) {
  const Dispatch& dispatch = program.dispatch(violation.dispatch);
  return alias_contract_of(kernel_entry(dispatch.kernel), static_cast<int>(violation.first),
                           static_cast<int>(violation.second)) == AliasContract::kIdenticalElement;
}

// What the contract of a violated operand pair says.
std::string contract_sentence(const Program& program, const AliasViolation& violation) {
  const Dispatch& dispatch = program.dispatch(violation.dispatch);
  const Access& output = program.accesses_of(dispatch)[violation.second];
  if (violation.is_between_outputs) {
    return "Two outputs of one dispatch may share no byte: which of them stays is not defined.";
  }
  if (output.is_atomic()) {
    return "Slices of one dispatch run in any order, so its atomics may share no byte with its other operands.";
  }
  if (is_opaque(program, dispatch)) {
    return "An opaque dispatch may write exactly the range that it reads; a shifted overlap depends on the order of its slices.";
  }
  const std::string_view kernel = program.name(dispatch.kernel_name);
  if (works_in_place(program, violation)) {
    return fmt::format(
        "Kernel {} works in place only where the two ranges are the same; a shifted overlap depends on the order of its slices.",
        kernel);
  }
  return fmt::format(
      "Kernel {} reads this input while it writes this output, so they may share no byte.", kernel);
}

std::string alias_fix(const Program& program, const AliasViolation& violation) {
  const Dispatch& dispatch = program.dispatch(violation.dispatch);
  if (violation.is_between_outputs) return "give each output bytes of its own.";
  const bool is_atomic = program.accesses_of(dispatch)[violation.second].is_atomic();
  return works_in_place(program, violation) && !is_atomic
             ? "give the output bytes of its own, or exactly the range of the input."
             : "give the output bytes of its own.";
}

// A label stands for itself; an index says what it is the index of.
std::string text_of_dispatch(const Program& program, DispatchId id) {
  const bool has_label = program.statements[program.dispatch(id).statement.index].label.is_some();
  if (!has_label && !program.dispatch(id).is_counted()) return program.description_of(id);
  return (has_label ? "" : "dispatch ") + program.reference_of(id);
}

// "reduce after vjp", "reduce after vjp and 2 more displacements".
std::string text_of_schedule(const Program& program, const std::vector<Displacement>& schedule) {
  const Displacement& head = head_of(schedule);
  std::string text = text_of_dispatch(program, head.moved);
  if (head.has_slices) {
    append_range(text, head.first_slice, uint64_t{head.first_slice} + head.slice_count);
  }
  // By kind.
  constexpr std::string_view kJoints[] = {" before ", " after ", " visible only after ",
                                          " fetching before "};
  text += kJoints[static_cast<size_t>(head.kind)];
  text += text_of_dispatch(program, head.anchor);
  if (head.kind == DisplacementKind::kFetchesBefore) text += " commits";
  if (schedule.size() > 1) {
    text += fmt::format(" and {} more displacement{}", schedule.size() - 1,
                        schedule.size() == 2 ? "" : "s");
  }
  return text;
}

// "output gb", "outputs gb and gx", "5 outputs", or memories by name.
std::string text_of_memory(const Program& program, std::span<const uint32_t> changed) {
  constexpr size_t kNamed = 3;
  const std::string_view noun = program.outputs.empty() ? "memory" : "output";
  const std::string_view nouns = program.outputs.empty() ? "memories" : "outputs";
  if (changed.size() > kNamed) return fmt::format("{} {}", changed.size(), nouns);
  std::string names;
  for (size_t i = 0; i < changed.size(); ++i) {
    names += i == 0 ? "" : i + 1 == changed.size() ? " and " : ", ";
    names += program.outputs.empty() ? program.name(program.memories[changed[i]].name)
                                     : name_of(program, program.outputs[changed[i]]);
  }
  return fmt::format("{} {}", changed.size() == 1 ? noun : nouns, names);
}

// "what look (host reads) reads", "what the host reads in 2 statements".
std::string text_of_host_reads(const Program& program, std::span<const uint32_t> changed) {
  if (changed.size() > 1) {
    return fmt::format("what the host reads in {} statements", changed.size());
  }
  uint32_t left = changed.front();
  for (const DispatchId dispatch : program.host_dispatches) {
    if (program.dispatch(dispatch).host != HostAccess::kReads || left-- > 0) continue;
    return fmt::format("what {} reads", program.description_of(dispatch));
  }
  INTERLOCK_CHECK(false);
  return "";
}

// `changed`: by ShadowMachine::differing_outputs().
std::string text_of_outputs(const Program& program, const std::vector<uint32_t>& changed) {
  const size_t memory_count =
      program.outputs.empty() ? program.memories.size() : program.outputs.size();
  std::vector<uint32_t> in_memory;
  std::vector<uint32_t> host_reads;
  for (const uint32_t position : changed) {
    if (position < memory_count) {
      in_memory.push_back(position);
    } else {
      host_reads.push_back(position - static_cast<uint32_t>(memory_count));
    }
  }
  if (host_reads.empty()) return text_of_memory(program, in_memory);
  const std::string reads = text_of_host_reads(program, host_reads);
  return in_memory.empty() ? reads
                           : fmt::format("{} and {}", text_of_memory(program, in_memory), reads);
}

// How the witness is about the finding: by itself, through a hazard that it hides, or with others.
std::string text_of_reach(const Program& program, const ObservabilityVerdict& verdict,
                          const Finding& finding) {
  if (verdict.proof == ObservabilityProof::kCommonWitness) return ", together with other hazards";
  if (!verdict.through.has_value()) return "";
  const Hazard& hidden = *verdict.through;
  const Access& access = access_of(program, hidden.first);
  const bool is_same = access.memory == finding.memory && hidden.overlap == finding.overlap;
  return fmt::format(
      " through {}, which {} {} too", program.description_of(hidden.first.dispatch),
      verb_of(access),
      is_same ? "these bytes" : text_of_bytes(program, access.memory, hidden.overlap));
}

Finding explain_one(const Program& program, const Hazard& hazard, ExplainContext& context) {
  return explain_hazard(program, hazard, context);
}

Finding explain_one(const Program& program, const AliasViolation& violation,
                    const ExplainContext& /*context*/) {
  const std::span<const Access> accesses = program.accesses_of(violation.dispatch);
  const Access& first = accesses[violation.first];
  const Access& second = accesses[violation.second];
  Finding finding{place_of(program, violation)};
  finding.headline = fmt::format(
      "alias: {} {} {}{} and {} {}{}; they share {}.", program.description_of(violation.dispatch),
      verb_of(first), text_of_bytes(program, first.memory, first.range),
      tensor_clause_of(program, first), verb_of(second),
      text_of_bytes(program, second.memory, second.range), tensor_clause_of(program, second),
      text_of_bytes(program, first.memory, violation.overlap));
  finding.details = relation_of(program, first, second);
  finding.details.push_back(contract_sentence(program, violation));
  finding.fix = alias_fix(program, violation);
  return finding;
}

// "has order=3"; of the host, which has no number, where that puts it.
std::string text_of_order(const Program& program, DispatchId id) {
  const Dispatch& dispatch = program.dispatch(id);
  return fmt::format("{} order={}", dispatch.host == HostAccess::kNone ? "has" : "comes after",
                     dispatch.order);
}

uint32_t text_position_of(const Program& program, StatementId id) {
  return program.text_order == nullptr ? id.index : program.text_order->statements[id.index];
}

// The wait of the queue of `late`, or of the host, which a signal after `early` ends; none if it is
// something else.
StatementId wait_that_holds(const Program& program, const Dispatch& early, const Dispatch& late) {
  const std::vector<StatementId> signals = signal_statements_of(program);
  const QueueIndex queue = program.launching_queue_of(program.queue_of(late));
  for (uint32_t i = late.statement.index; i-- > early.statement.index;) {
    const Statement& statement = program.statements[i];
    if (statement.kind != StatementKind::kSync) continue;
    const SyncStep& step = program.syncs[statement.index];
    const bool is_wait = (step.kind == SyncKind::kWait && statement.queue == queue) ||
                         step.kind == SyncKind::kHostWaits;
    if (!is_wait || step.is_of_launch || step.partner == SyncStep::kNoPartner) continue;
    if (signals[step.partner] > early.statement) return StatementId(size_t{i});
  }
  return {};
}

// What lets the late one come first. Where the text has it first, something holds it back.
std::string reordered_fix(const Program& program, DispatchId early, DispatchId late) {
  const Dispatch& first = program.dispatch(early);
  const Dispatch& second = program.dispatch(late);
  const std::string early_name = program.description_of(early);
  const std::string late_name = program.description_of(late);
  if (text_position_of(program, first.statement) < text_position_of(program, second.statement)) {
    return fmt::format("issue {} before {}.", late_name, early_name);
  }
  const StatementId wait = wait_that_holds(program, first, second);
  return fmt::format("let {}, and {} wait for {}.",
                     wait.is_some()
                         ? fmt::format("{} come after {}", quoted_text_of(program, wait), late_name)
                         : fmt::format("nothing hold back {}", late_name),
                     early_name, late_name);
}

Finding explain_one(const Program& program, const ReorderedRead& read,
                    const ExplainContext& /*context*/) {
  Finding finding{place_of(program, read)};
  const std::string bytes = text_of_bytes(program, read.memory, read.bytes);
  const std::string seen = text_of_content(program, read.seen_writer);
  const std::string right = text_of_content(program, read.right_writer);
  if (!read.reader.is_some()) {
    finding.headline = fmt::format(
        "reordered: at the end {} holds {}; in program order it holds {}.", bytes, seen, right);
  } else {
    const Access& access = access_of(program, {read.reader, read.access});
    finding.headline =
        fmt::format("reordered: {} {} {}{} and sees {}; in program order it sees {}.",
                    program.description_of(read.reader), verb_of(access), bytes,
                    tensor_clause_of(program, access), seen, right);
  }
  if (!reordered_pair_of(program, read).is_inverted) {
    finding.fix = "issue the dispatches that touch these bytes in program order.";
    return finding;
  }
  const DispatchId issued_first = finding.first.dispatch;
  const DispatchId issued_second = finding.second->dispatch;
  const std::string early = program.description_of(issued_first);
  const std::string late = program.description_of(issued_second);
  finding.details.push_back(
      fmt::format("{} {} and {} {}, but {} {} first. No barrier repairs this.", early,
                  text_of_order(program, issued_first), late, text_of_order(program, issued_second),
                  early, program.text_order == nullptr ? "is issued" : "runs"));
  finding.fix = reordered_fix(program, issued_first, issued_second);
  return finding;
}

// "reads x[0:16]", for each declared operand; "nothing" if there is none.
std::string declared_text_of(const Program& program, std::span<const Access> declared) {
  constexpr size_t kListedMax = 8;
  std::string text;
  for (size_t i = 0; i < declared.size() && i < kListedMax; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "that it " : ", ", verb_of(declared[i]),
                        program.text_of(declared[i]));
  }
  if (declared.size() > kListedMax) text += ", and more";
  return text.empty() ? "nothing" : text;
}

Finding explain_one(const Program& program, const UndeclaredAccess& undeclared,
                    const ExplainContext& /*context*/) {
  const DispatchId id = undeclared.access.dispatch;
  const Access& access = access_of(program, undeclared.access);
  Finding finding{place_of(program, undeclared)};
  finding.headline =
      fmt::format("undeclared: {} {} {}{} and does not declare it.", program.description_of(id),
                  verb_of(access), text_of_bytes(program, access.memory, undeclared.bytes),
                  tensor_clause_of(program, access));
  finding.details.push_back(
      fmt::format("It declares {}. An encoder knows of nothing else.",
                  declared_text_of(program, program.declared_accesses_of(id))));
  finding.fix = fmt::format("declare that {} {} {}.", program.description_of(id), verb_of(access),
                            text_of_bytes(program, access.memory, undeclared.bytes));
  return finding;
}

Finding explain_one(const Program& program, const LifetimeFinding& finding,
                    ExplainContext& context) {
  Finding explained = explain_lifetime(program, finding, context);
  if (finding.is_pending && context.order.has_queues()) {
    explained.fix = order_before(program, finding.reader, finding.ended_at);
  }
  return explained;
}

Finding explain_one(const Program& program, const Deadlock& deadlock,
                    const ExplainContext& /*context*/) {
  return explain_deadlock(program, deadlock);
}

Finding explain_one(const Program& program, const GradientFinding& finding,
                    const ExplainContext& /*context*/) {
  return explain_gradient(program, finding);
}

Finding explain_one(const Program& /*program*/, const ExcessBarriers& excess,
                    const ExplainContext& /*context*/) {
  Finding finding{{.kind = FindingKind::kRedundant}};
  finding.headline =
      fmt::format("excess: {} barriers, where {} would do.", excess.barrier_count, excess.fewest);
  return finding;
}

}  // namespace

void explain_observability(const Program& program, const ObservabilityVerdict& verdict,
                           Finding& finding) {
  INTERLOCK_CHECK(is_hazard(finding.kind));
  const auto say = [&finding](Observability observability, std::string sentence) {
    finding.observability = observability;
    finding.details.push_back(std::move(sentence));
  };
  using enum ObservabilityProof;
  switch (verdict.proof) {
    case kOwnWitness:
    case kCommonWitness:
      finding.witness = verdict.schedule;
      return say(Observability::kObservable,
                 fmt::format("Observable{}: with {}, {} can differ.",
                             text_of_reach(program, verdict, finding),
                             text_of_schedule(program, verdict.schedule),
                             text_of_outputs(program, verdict.changed_outputs)));
    case kOwnExecution:
      return say(
          Observability::kObservable,
          fmt::format("Observable{}: in an execution that no witness line says, {} can differ.",
                      text_of_reach(program, verdict, finding),
                      text_of_outputs(program, verdict.changed_outputs)));
    case kDecidingRuns:
    case kSinks:
      return say(
          Observability::kUnobservable,
          "Unobservable: no schedule changes an output; what these bytes hold then reaches none.");
    case kOwnSchedule:
      return say(Observability::kMasked,
                 fmt::format("Masked: {}, no output differs; other hazards change one.",
                             verdict.schedule.empty()
                                 ? "whichever value this pair leaves or misses"
                                 : "with " + text_of_schedule(program, verdict.schedule)));
    case kSlices:
      return say(
          Observability::kUnknown,
          fmt::format(
              "Whether an output can differ is not decided: slices of {} conflict with each other.",
              program.description_of(verdict.conflicting_in)));
    case kUndecided:
      return say(
          Observability::kUnknown,
          "Whether an output can differ is not judged: this pair alone changes none, and the budget for schedules is spent before all others have been tried.");
    case kTooWide:
      return say(
          Observability::kUnknown,
          "Whether an output can differ is not judged: the graph queues fall into more paths than are counted at once.");
    case kOverBudget:
      return say(Observability::kUnknown,
                 "Whether an output can differ is not judged: the budget for schedules is spent.");
  }
}

Finding explain(const Program& program, const Fact& fact, ExplainContext& context) {
  return std::visit([&](const auto& one) { return explain_one(program, one, context); }, fact);
}

}  // namespace interlock
