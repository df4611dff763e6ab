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
#include "encoder/sync/recording_sink.h"
#include "encoder/text/parser.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/report/check.h"
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
    return *index < program.dispatches.size() ? std::optional(DispatchId(*index)) : std::nullopt;
  }
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const NameId label = program.statements[program.dispatches[i].statement.index].label;
    if (label.is_some() && program.name(label) == reference) return DispatchId(i);
  }
  return std::nullopt;
}

// Issues the commands that another encoder issued.
class IssuedCommands final : public Encoder {
 public:
  explicit IssuedCommands(const std::vector<Command>& commands) : commands_(commands) {}

  void encode(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) override {}
  void finish(CommandSink& sink) override {
    for (const Command& command : commands_) {
      if (command.kind == StatementKind::kDispatch) {
        sink.issue_dispatch(command.dispatch);
      } else {
        sink.issue_barrier(command.barrier);
      }
    }
  }

 private:
  const std::vector<Command>& commands_;
};

Result<Success> check_commands(const Program& program, const std::vector<Command>& commands) {
  std::vector<bool> is_issued(program.dispatches.size(), false);
  for (const Command& command : commands) {
    if (command.kind != StatementKind::kDispatch) continue;
    const size_t index = command.dispatch.index;
    if (index >= is_issued.size()) {
      return error_of("The encoder issues dispatch {}; there are {}.", index, is_issued.size());
    }
    if (is_issued[index]) {
      return error_of("The encoder issues {} twice.", program.description_of(command.dispatch));
    }
    is_issued[index] = true;
  }
  const auto dropped = std::ranges::find(is_issued, false);
  if (dropped != is_issued.end()) {
    const DispatchId id(static_cast<size_t>(dropped - is_issued.begin()));
    return error_of("The encoder never issues {}.", program.description_of(id));
  }
  return Success{};
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

Result<Judgement> judge_fewest_barriers(const Program& program) {
  const CheckReport report = check(program);
  if (report.is_truncated() && program.has_any(LifetimeKind::kDestroy)) return no_verdict(report);
  if (report.barrier_count == report.fewest_barriers) {
    return Judgement{true,
                     "which has " + count_of(report.barrier_count, "barrier") + ", the fewest"};
  }
  const std::string clause =
      fmt::format("which has {}, where its conflicts need {}",
                  count_of(report.barrier_count, "barrier"), report.fewest_barriers);
  return Judgement{false, with_report(clause, program, report)};
}

Result<Judgement> judge_no_useless_sync(const Program& program) {
  // A barrier left unjudged would pass.
  const CheckReport report = check(program, {.redundancy_budget = UINT64_MAX});
  if (report.redundant.empty() && report.unjudged_barrier_count > 0) {
    return error_of("There is no verdict: whether {} can go takes too much work.",
                    count_of(report.unjudged_barrier_count, "barrier"));
  }
  if (report.redundant.empty()) return Judgement{true, "of which no barrier can go"};
  const std::string clause =
      fmt::format("which has {} that can go", count_of(report.redundant.size(), "barrier"));
  return Judgement{false, with_report(clause, program, report)};
}

Result<Program> encode_checked(const Program& program, Encoder& encoder) {
  RecordingSink sink;
  issue_all(program, encoder, sink);
  if (const auto checked = check_commands(program, sink.commands()); !checked) {
    return checked.error();
  }
  IssuedCommands issued(sink.commands());
  return encode(program, issued);
}

Result<Program> encode_checked(const Program& program, std::string_view encoder_name) {
  const EncoderEntry* const entry = find_encoder(encoder_name);
  if (entry == nullptr) {
    return Error{"There is " + no_entry_text(encoder_registry(), "encoder", encoder_name)};
  }
  return encode_checked(program, *entry->create());
}

Result<Program> parse_body(std::string_view text) {
  // A header may stand after comments and empty lines.
  for (std::string_view rest = text; !rest.empty();) {
    const size_t word = rest.find_first_not_of(" \t\r\n");
    if (word == std::string_view::npos) break;
    rest.remove_prefix(word);
    if (rest.starts_with("interlock")) return parse(text, "<test>");
    if (rest[0] != '#') break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  // On the text's first line, so that line numbers in errors stay.
  return parse("interlock 1\n" + std::string(text), "<test>");
}

}  // namespace interlock
