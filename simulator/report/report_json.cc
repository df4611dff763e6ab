// The report as JSON: the same values and sentences as in the text, by key.
#include <nlohmann/json.hpp>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/statement_number.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/report/finding_identity.h"
#include "simulator/report/operand_text.h"
#include "simulator/report/report.h"
#include "simulator/report/shorter_text.h"
#include "simulator/schedules/displacements.h"

namespace interlock {

namespace {

using Json = nlohmann::ordered_json;  // Keys in the order of the documentation.

// By Observability.
constexpr std::string_view kObservabilityWords[] = {"unknown", "observable", "unobservable",
                                                    "masked"};

// By RepairPlace.
constexpr std::string_view kPlaceWords[] = {"before", "after", "instead"};

template <typename Items, typename ToJson>
Json json_of_each(const Items& items, const ToJson& to_json) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

// Null for a raw range.
Json json_of_tensor(const Program& program, TensorId tensor) {
  return tensor.is_some() ? Json(name_of(program, tensor)) : Json(nullptr);
}

// Null for the host. Of what a replay launches it is the queue of the replay.
Json json_of_queue(const Program& program, StatementId id) {
  const QueueIndex queue = program.statements[id.index].queue;
  return queue == kNoQueue ? Json(nullptr)
                           : Json(program.name_of(program.launching_queue_of(queue)));
}

// Null for the end of the program.
Json json_of_access(const Program& program, AccessRef ref) {
  if (!ref.dispatch.is_some()) return nullptr;
  const Access& access = access_of(program, ref);
  const Dispatch& dispatch = program.dispatch(ref.dispatch);
  const QueueIndex queue = program.queue_of(dispatch);
  const bool is_of_host = queue == kNoQueue;
  const bool is_counted = dispatch.is_counted();
  return {{"dispatch", is_counted ? Json(program.number_of(ref.dispatch)) : Json(nullptr)},
          {"reference", program.reference_of(ref.dispatch)},
          {"kernel", is_of_host ? Json(nullptr) : Json(program.name(dispatch.kernel_name))},
          {"queue", json_of_queue(program, dispatch.statement)},
          {"is_launched", program.launching_queue_of(queue) != queue},
          {"stage", text_of(stage_of(dispatch, access))},
          {"statement", text_number_of(program, dispatch.statement)},
          {"access", ref.access},
          {"verb", verb_of(access)},
          {"begin", access.range.begin},
          {"end", access.range.end},
          {"tensor", json_of_tensor(program, access.tensor)}};
}

Json json_of_statement(const Program& program, StatementId id) {
  const NameId label = program.statements[id.index].label;
  return {{"statement", text_number_of(program, id)},
          {"label", label.is_some() ? Json(program.name(label)) : Json(nullptr)},
          {"queue", json_of_queue(program, id)},
          {"text", text_of(program, id)}};
}

Json json_of_step(const Program& program, const BlockedStatement& step) {
  return {{"statement", json_of_statement(program, step.statement)},
          {"waits_for", json_of_statement(program, step.waits_for)},
          {"is_a_wait", step.is_a_wait}};
}

Json json_of_lifetime(const Program& program, LifetimeId id) {
  if (!id.is_some()) return nullptr;
  const Lifetime& lifetime = program.lifetimes[id.index];
  return {{"lifetime", id.index},
          {"reference", program.reference_of(id)},
          {"queue", json_of_queue(program, lifetime.statement)},
          {"statement", text_number_of(program, lifetime.statement)},
          {"text", program.text_of(lifetime)}};
}

// Null for what no baseline was asked about, or a line of the file expects.
Json json_of_baseline(const BaselineOutcome* baseline, size_t index) {
  if (baseline == nullptr || baseline->is_expected[index]) return nullptr;
  return baseline->is_known[index] ? "known" : "new";
}

Json json_of_finding(const Program& program, const Finding& finding, const Json& baseline) {
  const auto text = [&](const Displacement& displacement) {
    return text_of(program, displacement);
  };
  const auto waiting = [&](StatementId id) { return json_of_statement(program, id); };
  const auto step = [&](const BlockedStatement& blocked) { return json_of_step(program, blocked); };
  const auto repair = [&](const RepairLine& line) -> Json {
    return {{"place", kPlaceWords[static_cast<size_t>(line.place)]},
            {"statement", text_number_of(program, line.at)},
            {"line", line.text}};
  };
  return {
      {"kind", word_of(finding.kind)},
      {"observability", kObservabilityWords[static_cast<size_t>(finding.observability)]},
      {"memory", finding.memory.is_some() ? Json(program.name(program.memory(finding.memory).name))
                                          : Json(nullptr)},
      {"begin", finding.overlap.begin},
      {"end", finding.overlap.end},
      {"first", json_of_access(program, finding.first)},
      {"second", json_of_access(program, finding.second.value_or(AccessRef{}))},
      {"is_ordered", finding.is_ordered},
      {"is_after_own_read", finding.is_after_own_read},
      {"is_possible", finding.is_possible},
      {"lifetime", json_of_lifetime(program, finding.lifetime)},
      {"tensor", json_of_tensor(program, finding.tensor)},
      {"waiting", json_of_each(finding.waiting, waiting)},
      {"cycle", json_of_each(finding.cycle, step)},
      {"headline", finding.headline},
      {"details", finding.details},
      {"fix", finding.fix},
      {"repair", json_of_each(finding.repair, repair)},
      {"witness", json_of_each(finding.witness, text)},
      {"identity", identity_of(program, finding)},
      {"baseline", baseline}};
}

Json json_of_redundant(const Program& program, const RedundantBarrier& redundant) {
  const Barrier& barrier = program.barriers[redundant.barrier.index];
  const bool is_last = redundant.slot == program.dispatches.size();
  return {{"barrier", redundant.barrier.index},
          {"reference", program.reference_of(redundant.barrier)},
          {"queue", json_of_queue(program, barrier.statement)},
          {"statement", text_number_of(program, barrier.statement)},
          {"is_execution", barrier.kind == BarrierKind::kExecution},
          {"before", is_last ? Json(nullptr) : Json(redundant.slot)},
          {"reason", reason_of(program, redundant)}};
}

Json json_of_redundant_sync(const Program& program, const SyncPiece& piece) {
  const auto statement = [&](StatementId id) -> Json {
    return id.is_some() ? json_of_statement(program, id) : Json(nullptr);
  };
  return {{"kind", word_of(piece.kind)},
          {"statement", statement(piece.statement)},
          {"partner", statement(piece.partner)},
          {"part", piece.kind == SyncPieceKind::kSignal
                       ? Json(text_of_part(program, program.signal_parts[piece.part]))
                       : Json(nullptr)},
          {"instead", piece.is_word() ? Json(shorter_text_of(program, piece)) : Json(nullptr)},
          {"description", description_of(program, piece)},
          {"reason", reason_of(program, piece)}};
}

// By WaitNeed.
constexpr std::string_view kNeedWords[] = {"own", "join", "apart"};

Json json_of(const Program& program, const WaitBounds& bounds) {
  const auto pair = [&](const NeededWait& wait) -> Json {
    return {program.number_of(wait.first), program.number_of(wait.second),
            kNeedWords[static_cast<size_t>(wait.need)]};
  };
  return {{"are_edges", bounds.is_of_edges()},
          {"count", bounds.wait_count},
          {"passes_on", bounds.passes_on},
          {"of_all_queues", bounds.certificate.is_of_all_queues},
          {"fewest", bounds.fewest()},
          {"fewest_apart", bounds.fewest_apart()},
          {"certificate", json_of_each(bounds.certificate.waits, pair)}};
}

// Null where nothing is to be said of waits and edges.
Json json_of(const Program& program, const NoWaitBounds& why_not) {
  if (why_not.reason.empty()) return nullptr;
  const auto number = [&](DispatchId id) {
    return id.is_some() ? Json(program.number_of(id)) : Json(nullptr);
  };
  return {{"reason", text_of(program, why_not)},
          {"first", number(why_not.first)},
          {"second", number(why_not.second)}};
}

Json json_of(const JointRemoval& joint) {
  return {{"barriers", joint.barrier_count},
          {"removed", json_of_each(joint.removed, [](BarrierId id) { return id.index; })},
          {"untried", joint.untried_count},
          {"kept", joint.kept_count()},
          {"kept_min", joint.kept_min}};
}

Json json_of(const Program& program, const ScopeAdvice& advice) {
  const auto narrower = [&](const NarrowerStatement& statement) -> Json {
    return {{"statement", json_of_statement(program, statement.statement)},
            {"instead", statement.instead},
            {"description", description_of_sync(program, statement.statement)}};
  };
  return {{"narrower", json_of_each(advice.narrower, narrower)},
          {"unjudged", advice.unjudged_count}};
}

}  // namespace

std::string json_report(const Program& program, const CheckReport& report,
                        const ExpectationOutcome& outcome, std::string_view file_name,
                        const KnownOfFile& known) {
  const auto json_of_findings = [&](const std::vector<Finding>& all,
                                    const BaselineOutcome* baseline) {
    Json list = Json::array();
    for (size_t i = 0; i < all.size() && !is_stopped(); ++i) {
      list.push_back(json_of_finding(program, all[i], json_of_baseline(baseline, i)));
    }
    return list;
  };
  Json stale = Json::object();
  if (known.baseline != nullptr) {
    for (const auto& [identity, count] : known.baseline->stale) stale[identity] = count;
  }
  const auto truncation_text = [](const Truncation& truncation) { return text_of(truncation); };
  const auto redundant = [&](const RedundantBarrier& r) { return json_of_redundant(program, r); };
  const auto sync = [&](const SyncPiece& piece) { return json_of_redundant_sync(program, piece); };
  const auto slots = [](const ForcingPair& pair) {
    Json numbers = {pair.first.index, pair.second.index};
    if (pair.destroy.is_some()) numbers.push_back(pair.destroy.index);
    return numbers;
  };
  const auto expectation = [](const SubjectOutcome& subject) -> Json {
    return {{"encoder", subject.encoder.empty() ? Json(nullptr) : Json(subject.encoder)},
            {"held", subject.held},
            {"failures", subject.failures},
            {"unjudged", subject.unjudged}};
  };
  const auto bound = [&](uint64_t number) {
    return report.has_bounds ? Json(number) : Json(nullptr);
  };
  const Json json = {
      {"file", file_name},
      {"dispatches", report.dispatch_count},
      {"dispatches_without_accesses", report.bare_dispatch_count},
      {"accesses", report.access_count},
      {"barriers", report.barrier_count},
      {"execution_barriers", report.execution_barrier_count},
      {"sync_statements", report.sync_count},
      {"host_accesses", report.host_access_count},
      {"queues", report.queue_count},
      {"fewest_barriers", bound(report.fewest_barriers)},
      {"fewest_full_barriers", bound(report.fewest_full_barriers)},
      {"longest_chain", bound(report.longest_chain)},
      {"raw_pairs", report.raw_count},
      {"war_pairs", report.war_count},
      {"waw_pairs", report.waw_count},
      {"hazardous_pairs", report.pair_count},
      {"is_truncated", report.is_truncated()},
      {"truncated_by", json_of_each(report.truncations, truncation_text)},
      {"findings", json_of_findings(report.findings, known.baseline)},
      {"noted", json_of_findings(report.noted, nullptr)},
      {"redundant", json_of_each(report.redundant, redundant)},
      {"unjudged_barriers", report.unjudged_barrier_count},
      {"redundant_sync", json_of_each(report.redundant_sync, sync)},
      {"unjudged_sync", report.unjudged_sync_count},
      {"joint_barriers", report.joint ? json_of(*report.joint) : Json(nullptr)},
      {"scopes", known.scopes != nullptr ? json_of(program, *known.scopes) : Json(nullptr)},
      {"waits", report.waits ? json_of(program, *report.waits) : Json(nullptr)},
      {"no_waits", report.waits ? Json(nullptr) : json_of(program, report.no_waits)},
      {"closing", json_of_each(report.closing, redundant)},
      {"closing_sync", json_of_each(report.closing_sync, sync)},
      {"certificate", json_of_each(report.forcing, slots)},
      {"chain", json_of_each(report.chain, [](DispatchId id) { return id.index; })},
      {"barrier_budget", known.barrier_budget ? Json(*known.barrier_budget) : Json(nullptr)},
      {"stale", stale},
      {"expectations", json_of_each(outcome.subjects, expectation)}};
  // Names are untrusted bytes: what is not UTF-8 is replaced, not thrown at.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace interlock
