#include "fuzz/judge/queue_oracle.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/queues/given_queues.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/disagree.h"
#include "fuzz/judge/findings.h"
#include "simulator/barriers/wait_bounds.h"
#include "simulator/barriers/wait_certificate.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/text_in_run_order.h"

namespace interlock {
namespace {

constexpr uint64_t kTextPeriod = 16;
constexpr uint64_t kJudgesPeriod = 64;
// What encoders make is longer than programs as they stand, and the search of chains is cubic.
constexpr uint64_t kJudgedStatementsMax = 32;
// Of answers of others, which may be of any length, for paths from statement to statement.
constexpr size_t kPathStatementsMax = 512;

bool is_sync(const Program& program, const Statement& statement, SyncKind kind) {
  return statement.kind == StatementKind::kSync && program.syncs[statement.index].kind == kind;
}

// Whether the statement of a concurrent or graph queue comes after all before it there: it waits
// for them.
bool waits_for_all(const Program& program, const Statement& statement) {
  return statement.kind == StatementKind::kBarrier ||
         is_sync(program, statement, SyncKind::kSignal) ||
         is_sync(program, statement, SyncKind::kSet);
}

// Whether all that comes later there is held back by it.
bool holds_all_back(const Program& program, const Statement& statement) {
  return statement.kind == StatementKind::kBarrier ||
         is_sync(program, statement, SyncKind::kWait) ||
         is_sync(program, statement, SyncKind::kAwait);
}

// What a statement comes after directly. What was written before a step that hands on has got to
// the host after it: there is a full barrier between the two, or an edge.
struct StatementStep {
  uint32_t from = 0;
  bool hands_on = false;
};

// Those before statement `at` in its queue from which it takes one step, or of the host, whose last
// statement comes before all that is submitted after it.
std::vector<StatementStep> steps_in_queue(const Program& program, uint32_t at) {
  std::vector<StatementStep> before;
  const Statement& statement = program.statements[at];
  for (uint32_t i = at; i-- > 0 && before.empty();) {
    if (program.statements[i].queue == kNoQueue) before.push_back({i});
  }
  if (statement.queue == kNoQueue) return before;
  const bool is_in_order = is_serial(program.kind_of(statement.queue));
  for (uint32_t i = at; i-- > 0;) {
    const Statement& earlier = program.statements[i];
    if (earlier.queue != statement.queue) continue;
    const bool is_step =
        is_in_order || waits_for_all(program, statement) || holds_all_back(program, earlier);
    const bool has_barrier = is_in_order || statement.kind == StatementKind::kBarrier ||
                             earlier.kind == StatementKind::kBarrier;
    if (is_step) before.push_back({i, has_barrier});
    if (is_in_order) break;
  }
  return before;
}

// By statement: those that it comes after by queue order, barriers, events, signals and edges.
std::vector<std::vector<StatementStep>> steps_to(const Program& program) {
  std::vector<std::vector<StatementStep>> before(program.statements.size());
  for (uint32_t i = 0; i < program.statements.size(); ++i) before[i] = steps_in_queue(program, i);
  std::vector<uint32_t> signal_of_part(program.signal_parts.size());
  for (const SyncStep& step : program.syncs) {
    if (step.kind != SyncKind::kSignal) continue;
    for (uint32_t k = 0; k < step.count; ++k) {
      signal_of_part[step.first + k] = step.statement.index;
    }
  }
  for (const SyncStep& step : program.syncs) {
    if (step.partner == SyncStep::kNoPartner) continue;
    if (step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits) {
      before[step.statement.index].push_back({signal_of_part[step.partner]});
    } else if (step.kind == SyncKind::kAwait) {
      before[step.statement.index].push_back({program.syncs[step.partner].statement.index});
    }
  }
  for (const Edge& edge : program.edges) {
    before[program.dispatch(edge.to).statement.index].push_back(
        {program.dispatch(edge.from).statement.index, true});
  }
  return before;
}

// By statement: a bit for each earlier one from which a path leads to it, and for those of which
// one has a step that hands on.
struct StatementPaths {
  std::vector<std::vector<bool>> any;
  std::vector<std::vector<bool>> handed_on;
};

StatementPaths paths_to(const Program& program) {
  const std::vector<std::vector<StatementStep>> before = steps_to(program);
  const std::vector<bool> none(before.size(), false);
  StatementPaths paths{{before.size(), none}, {before.size(), none}};
  for (size_t i = 0; i < before.size(); ++i) {
    for (const StatementStep& step : before[i]) {
      paths.any[i][step.from] = true;
      if (step.hands_on) paths.handed_on[i][step.from] = true;
      for (uint32_t k = 0; k < step.from; ++k) {
        if (!paths.any[step.from][k]) continue;
        paths.any[i][k] = true;
        if (step.hands_on || paths.handed_on[step.from][k]) paths.handed_on[i][k] = true;
      }
    }
  }
  return paths;
}

// Of dispatch `a`, to the host's `b`: whether it wrote what they conflict about, into memory that
// the host has a copy of.
bool must_be_handed_on(const Program& program, DispatchId a, DispatchId b) {
  const Dispatch& first = program.dispatch(a);
  const Dispatch& second = program.dispatch(b);
  if (second.host == HostAccess::kNone || first.host != HostAccess::kNone) return false;
  for (const Access& written : program.declared_accesses_of(a)) {
    if (!written.has_write_side() || program.memory(written.memory).is_unified) continue;
    for (const Access& access : program.declared_accesses_of(b)) {
      if (are_in_conflict(first, written, second, access)) return true;
    }
  }
  return false;
}

ParseOptions every_queue() {
  ParseOptions options;
  options.reads_every_queue = true;
  return options;
}

void check_text(const Program& program, QueueReport& report) {
  const std::string text = print(program);
  const auto parsed = parse(text, "<text>", every_queue());
  if (!parsed) {
    disagree(report.disagreements, OracleStage::kPrintParse,
             "The printed program does not parse: {}", parsed.error().message);
  } else if (print(*parsed) != text) {
    disagree(report.disagreements, OracleStage::kPrintParse,
             "Printing the parsed text gives another text.");
  }
}

// Whoever claims the fewest waits, or edges, is held to it, and what says how few do is proven from
// the operands. Requires: no hazard.
void check_fewest(const QueueEncoderEntry& encoder, QueueReport& report) {
  const std::optional<WaitBounds> bounds = find_wait_bounds(report.program);
  if (is_stopped()) return;
  if (!bounds) {
    if (encoder.places_fewest) {
      disagree(report.disagreements, OracleStage::kCrossCheck,
               "Encoder '{}' adds order to what conflicts.", encoder.name);
    }
    return;
  }
  const WaitProof proof = prove(report.program, bounds->certificate);
  if (!proof.defect.empty()) {
    disagree(report.disagreements, OracleStage::kCrossCheck, "The fewest waits are not proven: {}",
             proof.defect);
  }
  if (encoder.places_fewest && bounds->wait_count != bounds->fewest_apart()) {
    disagree(report.disagreements, OracleStage::kCrossCheck,
             "Encoder '{}' places {} waits or edges, and {} would do.", encoder.name,
             bounds->wait_count, bounds->fewest_apart());
  }
}

// Encoders of others may place waits before their signals, and such that never end. Returns false
// after a deadlock, which is then the finding.
bool put_in_run_order(QueueReport& report) {
  Program& program = report.program;
  const ReferenceOrder run = find_reference_order(program);
  if (!run.cycle.empty()) {
    report.facts.emplace_back(Deadlock{run.cycle});
    return false;
  }
  if (run.is_text_order || is_stopped()) return true;
  // What stood first was meant to come first.
  program.has_program_order = true;
  program = text_in_run_order(std::move(program)).value();
  program.has_program_order = !std::ranges::is_sorted(program.dispatches, {}, &Dispatch::order);
  return true;
}

// Whether has_unordered_conflict() takes it, without events, and it is not too long for that.
bool is_ordered_by_paths(const Program& program) {
  const auto is_whole = [](const auto& part) { return part.stages == kAllStages; };
  return program.statements.size() <= kPathStatementsMax &&
         std::ranges::all_of(program.barriers,
                             [](const Barrier& b) { return b.kind == BarrierKind::kFull; }) &&
         std::ranges::none_of(program.edges, &Edge::is_programmatic) &&
         std::ranges::none_of(program.syncs,
                              [](const SyncStep& s) { return s.kind == SyncKind::kSet; }) &&
         std::ranges::all_of(program.syncs, is_whole) &&
         std::ranges::all_of(program.signal_parts, is_whole);
}

// Of other programs nothing is said of the fewest.
bool has_exact_dispatches_alone(const Program& program) {
  return program.host_dispatches.empty() && program.lifetimes.empty() &&
         std::ranges::none_of(program.dispatches, &Dispatch::is_approximate);
}

void judge_as_it_stands(const QueueJudgeOptions& judges, uint64_t number, QueueReport& report) {
  // The stages have turns of their own among these programs; executions come as often as elsewhere.
  QueueJudgeOptions options = judges;
  options.statement_count_max = std::min(judges.statement_count_max, kJudgedStatementsMax);
  options.cpu_period = (judges.cpu_period + kJudgesPeriod - 1) / kJudgesPeriod;
  options.device.period = (judges.device.period + kJudgesPeriod - 1) / kJudgesPeriod;
  QueueJudgement judgement = judge_queues(report.program, options, number / kJudgesPeriod);
  report.ran_on_cpu = judgement.ran_on_cpu;
  report.device = std::move(judgement.device);
  std::ranges::move(judgement.disagreements, std::back_inserter(report.disagreements));
}

}  // namespace

bool has_unordered_conflict(const Program& program) {
  const StatementPaths paths = paths_to(program);
  for (size_t b = 0; b < program.dispatches.size(); ++b) {
    const uint32_t to = program.dispatches[b].statement.index;
    for (size_t a = 0; a < b; ++a) {
      const uint32_t from = program.dispatches[a].statement.index;
      if (paths.handed_on[to][from]) continue;
      if (paths.any[to][from] && !must_be_handed_on(program, DispatchId(a), DispatchId(b)))
        continue;
      if (are_in_conflict(program, DispatchId(a), DispatchId(b))) return true;
    }
  }
  return false;
}

std::optional<Program> parsed_queue_draft(const ProgramDraft& draft,
                                          std::vector<InternalDisagreement>& disagreements) {
  auto program = parse(print(draft), "<draft>", every_queue());
  if (program) return *std::move(program);
  disagree(disagreements, OracleStage::kBuild, "A draft does not parse: {}",
           program.error().message);
  return std::nullopt;
}

uint32_t queue_count_of(const QueueEncoderEntry& encoder, uint64_t number) {
  const bool chooses = !encoder.takes_queue_count || number % 4 == 0;
  return chooses ? 0 : static_cast<uint32_t>(1 + number % 4);
}

Result<Encoding> encode_in_run_order(const Program& program, const QueueEncoderEntry& encoder,
                                     uint64_t number) {
  const bool says_queues = has_given_queues(program) && encoder.takes_given_queues;
  const Result<Program> in_order = text_in_run_order(program);
  if (!in_order) return in_order.error();
  return encode_by(*in_order, says_queues ? 0 : queue_count_of(encoder, number), encoder);
}

QueueReport judge_on_queues(const Program& program, const QueueEncoderEntry& encoder,
                            uint64_t number, const QueueJudgeOptions* judges) {
  QueueReport report;
  Result<Encoding> encoded = encode_in_run_order(program, encoder, number);
  if (!encoded) {
    disagree(report.disagreements, OracleStage::kEncode, "Encoder '{}' refuses the program: {}",
             encoder.name, encoded.error().message);
    return report;
  }
  report.failure = std::move(encoded->failure);
  if (report.failure || is_stopped()) return report;
  report.program = std::move(encoded->program);
  const bool is_of_others = encoder.external != nullptr;
  if (is_of_others && !put_in_run_order(report)) return report;
  if (number % kTextPeriod == 0) check_text(report.program, report);
  report.facts = find_exactly(report.program);
  const bool has_hazard = std::ranges::any_of(
      report.facts, [](const Fact& fact) { return std::holds_alternative<Hazard>(fact); });
  const bool has_paths = !is_of_others || is_ordered_by_paths(report.program);
  if (!is_stopped() && has_paths && has_hazard != has_unordered_conflict(report.program)) {
    disagree(report.disagreements, OracleStage::kCrossCheck, "{}",
             has_hazard ? "The exact check finds a hazard, but a path orders every conflict."
                        : "No path orders some conflict, but the exact check finds no hazard.");
  }
  if (!is_stopped() && !has_hazard && has_exact_dispatches_alone(report.program)) {
    check_fewest(encoder, report);
  }
  const bool is_judged = judges != nullptr && number % kJudgesPeriod == 0;
  if (is_judged && !is_stopped()) judge_as_it_stands(*judges, number, report);
  return report;
}

}  // namespace interlock
