// The basic idea is that a failed claim shows what `interlock check` prints: a test's
// output then reads like the command's.
#include "fuzz/testing/judgements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/registry.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/text_in_run_order.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

constexpr TextLimits kShownMax = {.findings = 10, .redundant = 10};

std::string count_of(uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

// "which has 2 findings:", and the report.
std::string with_report(std::string clause, const Program& program, const CheckReport& report) {
  // Standard input cannot be replayed, so no line says how to.
  return clause + ":\n" + text_report(program, report, "-", kShownMax);
}

// Nobody can tell, so the claim must fail, negated or not.
Error no_verdict(const CheckReport& report) {
  return {fmt::format("There is no verdict on the program: {}.", text_of(report.truncations))};
}

// None if no dispatch has this label or index.
std::optional<DispatchId> dispatch_of(const Program& program, std::string_view reference) {
  if (const auto index = decimal_of(reference)) {
    const DispatchId id = program.dispatch_of_number(*index);
    return id.is_some() ? std::optional(id) : std::nullopt;
  }
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const NameId label = program.statements[program.dispatches[i].statement.index].label;
    const bool is_it = label.is_some() ? program.name(label) == reference
                                       : reference.starts_with('@') &&
                                             program.reference_of(DispatchId(i)) == reference;
    if (is_it) return DispatchId(i);
  }
  return std::nullopt;
}

// None if no statement has this label, or is this one by number.
std::optional<StatementId> statement_of(const Program& program, std::string_view label) {
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const NameId name = program.statements[i].label;
    const bool is_it =
        name.is_some() ? program.name(name) == label
                       : label.starts_with('@') && program.reference_of(StatementId(i)) == label;
    if (is_it) return StatementId(i);
  }
  return std::nullopt;
}

}  // namespace

Result<Judgement> judge_hazard_free(const Program& program) {
  const CheckReport report = check(program);
  if (report.findings.empty() && report.is_truncated()) return no_verdict(report);
  if (report.findings.empty()) return Judgement{true, "which has no findings"};
  const std::string count = count_of(report.findings.size(), "finding");
  return Judgement{false, with_report("which has " + count, program, report)};
}

Result<Judgement> judge_hazard(const Program& program, FindingKind kind, std::string_view first,
                               std::string_view second) {
  if (kind == FindingKind::kDeadlock) {
    return Error{
        "A deadlock is between statements that wait, and not between dispatches: HasDeadlock() names "
        "them."};
  }
  if (kind == FindingKind::kRedundant) {
    return Error{
        "Sync that can go is between no two dispatches: Not(HasNoUselessSync()) claims that there is "
        "some."};
  }
  if (kind == FindingKind::kDivergence) {
    return Error{
        "A divergence is between two executions, which no check sees: `interlock run` and `replay` show "
        "it."};
  }
  const auto first_id = dispatch_of(program, first);
  const auto second_id = dispatch_of(program, second);
  for (const auto& [id, reference] : {std::pair(first_id, first), std::pair(second_id, second)}) {
    if (!id) return error_of("The program has no dispatch {}.", in_quotes(reference));
  }
  const CheckReport report = check(program, {.lists_all_pairs = true});
  for (const Finding& finding : report.findings) {
    const DispatchId last =
        finding.second.has_value() ? finding.second->dispatch : finding.first.dispatch;
    if (finding.kind == kind && finding.first.dispatch == *first_id && last == *second_id) {
      return Judgement{true, "in which there is a " + finding.headline};
    }
  }
  if (report.is_truncated()) return no_verdict(report);
  if (report.findings.empty()) return Judgement{false, "which has no findings"};
  return Judgement{false, with_report("which has other findings", program, report)};
}

Result<Judgement> judge_deadlock(const Program& program, std::span<const std::string> waiting) {
  std::vector<StatementId> statements;
  for (const std::string& label : waiting) {
    const std::optional<StatementId> statement = statement_of(program, label);
    if (!statement) return error_of("The program has no statement {}.", in_quotes(label));
    statements.push_back(*statement);
  }
  const CheckReport report = check(program);
  const auto found = std::ranges::find(report.findings, FindingKind::kDeadlock, &Finding::kind);
  if (found == report.findings.end()) {
    if (report.is_truncated()) return no_verdict(report);
    if (report.findings.empty()) return Judgement{false, "which has no findings"};
    return Judgement{false, with_report("which has other findings", program, report)};
  }
  if (waiting.empty() || found->waiting == statements) {
    return Judgement{true, "in which there is a " + found->headline};
  }
  return Judgement{false, with_report("in which others wait for each other", program, report)};
}

Result<Judgement> judge_fewest_barriers(const Program& program) {
  const CheckReport report = check(program);
  if (!report.has_bounds) {
    return Error{
        "There is no verdict: the fewest barriers are known of one queue alone, without the host."};
  }
  if (report.is_truncated() && program.has_any(LifetimeKind::kDestroy)) return no_verdict(report);
  const uint64_t counted = report.barrier_count - report.closing_barrier_count;
  if (counted == report.fewest_barriers) {
    return Judgement{true, "which has " + count_of(counted, "barrier") + ", the fewest"};
  }
  const std::string clause = fmt::format("which has {}, where its conflicts need {}",
                                         count_of(counted, "barrier"), report.fewest_barriers);
  return Judgement{false, with_report(clause, program, report)};
}

Result<Judgement> judge_no_useless_sync(const Program& program) {
  // A barrier left unjudged would pass.
  const CheckReport report = check(program, {.redundancy_budget = UINT64_MAX});
  // With several queues or the host barriers are pieces of sync, and so are their words.
  const bool has_barriers_alone =
      report.has_bounds && report.redundant_sync.empty() && report.unjudged_sync_count == 0;
  const std::string_view noun = has_barriers_alone ? "barrier" : "piece of sync";
  const std::string_view nouns = has_barriers_alone ? "barriers" : "pieces of sync";
  const auto counted = [&](uint64_t count) {
    return fmt::format("{} {}", count, count == 1 ? noun : nouns);
  };
  const size_t redundant_count = report.redundant.size() + report.redundant_sync.size();
  const uint64_t unjudged_count = report.unjudged_barrier_count + report.unjudged_sync_count;
  if (redundant_count == 0 && unjudged_count > 0) {
    return error_of("There is no verdict: whether {} can go takes too much work.",
                    counted(unjudged_count));
  }
  if (redundant_count == 0) return Judgement{true, fmt::format("of which no {} can go", noun)};
  const std::string clause = fmt::format("which has {} that can go", counted(redundant_count));
  return Judgement{false, with_report(clause, program, report)};
}

Result<Program> encode_checked(const Program& program, Encoder& encoder) {
  if (needs_queue_order(program)) {
    return Error{"The encoder is for one queue; the program has several, or the host."};
  }
  return try_encode(program, encoder);
}

Result<Program> encode_checked(const Program& program, Encoder& encoder, QueueKind kind) {
  return encode_on_queues(program, encoder, kind);
}

Result<Program> encode_checked(const Program& program, std::string_view encoder_name,
                               uint32_t queue_count) {
  if (const QueueEncoderEntry* const entry = find_queue_encoder(encoder_name)) {
    const Result<Program> in_order = text_in_run_order(program);
    if (!in_order) return in_order;
    return entry->encode(*in_order, queue_count);
  }
  const EncoderEntry* const entry = find_encoder(encoder_name);
  if (entry == nullptr) {
    return Error{"There is " + no_entry_text(encoder_registry(), "encoder", encoder_name,
                                             queue_encoder_registry())};
  }
  if (queue_count > 0) {
    return error_of("The encoder '{}' is for one queue; {} are asked for.", encoder_name,
                    queue_count);
  }
  return encode_checked(program, *entry->create());
}

ParseOptions whole_model() {
  ParseOptions options;
  read_every_queue(options);
  return options;
}

Result<Program> parse_body(std::string_view text) {
  // A header may stand after comments and empty lines.
  for (std::string_view rest = text; !rest.empty();) {
    const size_t word = rest.find_first_not_of(" \t\r\n");
    if (word == std::string_view::npos) break;
    rest.remove_prefix(word);
    if (rest.starts_with("interlock")) return parse(text, "<test>", whole_model());
    if (rest[0] != '#') break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  // On the text's first line, so that line numbers in errors stay.
  return parse("interlock 1\n" + std::string(text), "<test>", whole_model());
}

}  // namespace interlock
