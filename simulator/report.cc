// Text and JSON are two renderings of the same findings; neither computes anything.
#include "simulator/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "simulator/happens_before.h"
#include "simulator/operand_text.h"
#include "simulator/schedule.h"

namespace interlock {

namespace {

using Json = nlohmann::ordered_json;  // Keys in the order of the documentation.

std::string count_of(uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

// True iff the witness lines of `program` give the same schedule as `witness`.
bool is_recorded_schedule(const Program& program, const std::vector<Displacement>& witness) {
  if (program.witness.empty() || program.witness == witness) {
    return !program.witness.empty();
  }
  const HappensBefore order(program);
  const Result<Schedule> recorded = schedule_of(program, order, program.witness);
  const Result<Schedule> shown = schedule_of(program, order, witness);
  return recorded && shown && *recorded == *shown;
}

// The command that shows the finding; empty if no execution shows it. The witness lines of the file
// are named only if they are another schedule.
std::string replay_command(const Program& program, const Finding& finding,
                           std::string_view file_name) {
  if (finding.kind == FindingKind::kReordered) {
    return fmt::format("interlock run {}", file_name);
  }
  if (finding.witness.empty()) {
    return {};
  }
  std::string command = fmt::format("interlock replay {}", file_name);
  if (is_recorded_schedule(program, finding.witness)) {
    return command;
  }
  for (const Displacement& displacement : finding.witness) {
    command += fmt::format(" --witness=\"{}\"", text_of(program, displacement));
  }
  return command;
}

std::string text_of_finding(const Program& program, const Finding& finding,
                            std::string_view file_name) {
  std::string text = finding.headline + "\n";
  for (const std::string& detail : finding.details) {
    text += "  " + detail + "\n";
  }
  if (!finding.fix.empty()) {
    text += "  Fix: " + finding.fix + "\n";
  }
  const std::string command = replay_command(program, finding, file_name);
  if (!command.empty() && file_name != "-") {
    text += "  Replay: " + command + "\n";
  }
  return text;
}

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

Json json_of_access(const Program& program, AccessRef ref) {
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

Json json_of_finding(const Program& program, const Finding& finding) {
  Json json = {{"kind", word_of(finding.kind)},
               {"observability", word_of(finding.observability)},
               {"memory", program.name(program.memory(finding.memory).name)},
               {"begin", finding.overlap.begin},
               {"end", finding.overlap.end},
               {"first", json_of_access(program, finding.first)}};
  json["second"] =
      finding.second.has_value() ? json_of_access(program, *finding.second) : Json(nullptr);
  json["headline"] = finding.headline;
  json["details"] = finding.details;
  json["fix"] = finding.fix;
  json["witness"] = Json::array();
  for (const Displacement& displacement : finding.witness) {
    json["witness"].push_back(text_of(program, displacement));
  }
  return json;
}

}  // namespace

std::string summary_of(const CheckReport& report) {
  std::string text = fmt::format("{}, {}, {}; fewest for this order {}, longest chain {}; ",
                                 count_of(report.dispatch_count, "dispatch", "dispatches"),
                                 count_of(report.access_count, "access", "accesses"),
                                 count_of(report.barrier_count, "barrier", "barriers"),
                                 report.fewest_barriers, report.longest_chain);
  if (!report.findings.empty()) {
    text += count_of(report.findings.size(), "finding", "findings");
    text += report.is_truncated ? ", and more hazards than the limit." : ".";
    return text;
  }
  text += "no findings.";
  if (report.barrier_count > report.fewest_barriers) {
    text +=
        fmt::format(" {} above the minimum.",
                    count_of(report.barrier_count - report.fewest_barriers, "barrier", "barriers"));
  }
  return text;
}

std::string text_report(const Program& program, const CheckReport& report,
                        std::string_view file_name, uint64_t limit) {
  const uint64_t finding_count = report.findings.size();
  const uint64_t shown = limit == 0 ? finding_count : std::min(limit, finding_count);
  std::string text;
  for (uint64_t i = 0; i < shown; ++i) {
    text += text_of_finding(program, report.findings[i], file_name);
  }
  if (shown < finding_count) {
    text += fmt::format("… and {}.\n",
                        count_of(finding_count - shown, "more finding", "more findings"));
  }
  if (report.pair_count > 0) {
    text += fmt::format("{}: RAW {}, WAR {}, WAW {}.\n",
                        count_of(report.pair_count, "hazardous pair", "hazardous pairs"),
                        report.raw_count, report.war_count, report.waw_count);
  }
  return text + summary_of(report) + "\n";
}

std::string json_report(const Program& program, const CheckReport& report,
                        const ExpectationOutcome& outcome, std::string_view file_name) {
  Json json = {{"file", file_name},
               {"dispatches", report.dispatch_count},
               {"accesses", report.access_count},
               {"barriers", report.barrier_count},
               {"execution_barriers", report.execution_barrier_count},
               {"fewest_barriers", report.fewest_barriers},
               {"longest_chain", report.longest_chain},
               {"raw_pairs", report.raw_count},
               {"war_pairs", report.war_count},
               {"waw_pairs", report.waw_count},
               {"hazardous_pairs", report.pair_count},
               {"is_truncated", report.is_truncated},
               {"findings", Json::array()}};
  for (const Finding& finding : report.findings) {
    json["findings"].push_back(json_of_finding(program, finding));
  }
  json["expectations"] = Json::array();
  for (const SubjectOutcome& subject : outcome.subjects) {
    json["expectations"].push_back(
        {{"encoder", subject.encoder.empty() ? Json(nullptr) : Json(subject.encoder)},
         {"held", subject.held},
         {"failures", subject.failures}});
  }
  // Names are untrusted bytes: what is not UTF-8 is replaced, not thrown at.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace interlock
