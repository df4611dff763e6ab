// The report as JSON: the same values and sentences as in the text, by key.
#include <nlohmann/json.hpp>

#include "encoder/program/stop.h"
#include "simulator/report/operand_text.h"
#include "simulator/report/report.h"
#include "simulator/schedules/displacements.h"

namespace interlock {

namespace {

using Json = nlohmann::ordered_json;  // Keys in the order of the documentation.

std::string_view word_of(Observability observability) {
  switch (observability) {
    case Observability::kUnknown:
      break;
    case Observability::kObservable:
      return "observable";
    case Observability::kMasked:
      return "masked";
    case Observability::kUnobservable:
      return "unobservable";
  }
  return "unknown";
}

// Null for the end of the program.
Json json_of_access(const Program& program, AccessRef ref) {
  if (!ref.dispatch.is_some()) return nullptr;
  const Access& access = access_of(program, ref);
  Json json = {{"dispatch", ref.dispatch.index},
               {"reference", program.reference_of(ref.dispatch)},
               {"kernel", program.name(program.dispatch(ref.dispatch).kernel_name)},
               {"access", ref.access},
               {"verb", verb_of(access)},
               {"begin", access.range.begin},
               {"end", access.range.end}};
  json["tensor"] = access.tensor.is_some() ? Json(program.name(program.tensor(access.tensor).name))
                                           : Json(nullptr);
  return json;
}

Json json_of_lifetime(const Program& program, LifetimeId id) {
  if (!id.is_some()) return nullptr;
  return {{"lifetime", id.index},
          {"reference", program.reference_of(id)},
          {"text", program.text_of(program.lifetimes[id.index])}};
}

Json json_of_finding(const Program& program, const Finding& finding) {
  Json json = {{"kind", word_of(finding.kind)},
               {"observability", word_of(finding.observability)},
               {"memory", program.name(program.memory(finding.memory).name)},
               {"begin", finding.overlap.begin},
               {"end", finding.overlap.end},
               {"first", json_of_access(program, finding.first)}};
  json["second"] =
      finding.second.has_value() ? json_of_access(program, *finding.second) : Json(nullptr);
  json["lifetime"] = json_of_lifetime(program, finding.lifetime);
  json["tensor"] = finding.tensor.is_some()
                       ? Json(program.name(program.tensor(finding.tensor).name))
                       : Json(nullptr);
  json["headline"] = finding.headline;
  json["details"] = finding.details;
  json["fix"] = finding.fix;
  json["witness"] = Json::array();
  for (const Displacement& displacement : finding.witness) {
    json["witness"].push_back(text_of(program, displacement));
  }
  return json;
}

Json json_of_redundant(const Program& program, const RedundantBarrier& redundant) {
  const Barrier& barrier = program.barriers[redundant.barrier.index];
  const bool is_last = redundant.slot == program.dispatches.size();
  return {{"barrier", redundant.barrier.index},
          {"reference", program.reference_of(redundant.barrier)},
          {"is_execution", barrier.kind == BarrierKind::kExecution},
          {"before", is_last ? Json(nullptr) : Json(redundant.slot)},
          {"reason", reason_of(program, redundant)}};
}

}  // namespace

std::string json_report(const Program& program, const CheckReport& report,
                        const ExpectationOutcome& outcome, std::string_view file_name) {
  Json json = {{"file", file_name},
               {"dispatches", report.dispatch_count},
               {"accesses", report.access_count},
               {"barriers", report.barrier_count},
               {"execution_barriers", report.execution_barrier_count},
               {"fewest_barriers", report.fewest_barriers},
               {"fewest_full_barriers", report.fewest_full_barriers},
               {"longest_chain", report.longest_chain},
               {"raw_pairs", report.raw_count},
               {"war_pairs", report.war_count},
               {"waw_pairs", report.waw_count},
               {"hazardous_pairs", report.pair_count},
               {"is_truncated", report.is_truncated()},
               {"truncated_by", Json::array()},
               {"findings", Json::array()}};
  for (const Truncation& truncation : report.truncations) {
    json["truncated_by"].push_back(text_of(truncation));
  }
  for (const Finding& finding : report.findings) {
    if (is_stopped()) break;
    json["findings"].push_back(json_of_finding(program, finding));
  }
  json["redundant"] = Json::array();
  for (const RedundantBarrier& redundant : report.redundant) {
    json["redundant"].push_back(json_of_redundant(program, redundant));
  }
  json["unjudged_barriers"] = report.unjudged_barrier_count;
  json["certificate"] = Json::array();
  for (const ForcingPair& pair : report.forcing) {
    Json slots = {pair.first.index, pair.second.index};
    if (pair.destroy.is_some()) slots.push_back(pair.destroy.index);
    json["certificate"].push_back(std::move(slots));
  }
  json["chain"] = Json::array();
  for (const DispatchId dispatch : report.chain) {
    json["chain"].push_back(dispatch.index);
  }
  json["expectations"] = Json::array();
  for (const SubjectOutcome& subject : outcome.subjects) {
    json["expectations"].push_back(
        {{"encoder", subject.encoder.empty() ? Json(nullptr) : Json(subject.encoder)},
         {"held", subject.held},
         {"failures", subject.failures},
         {"unjudged", subject.unjudged}});
  }
  // Names are untrusted bytes: what is not UTF-8 is replaced, not thrown at.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace interlock
