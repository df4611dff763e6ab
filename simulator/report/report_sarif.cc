#include "simulator/report/report_sarif.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "encoder/program/finding_kind.h"
#include "encoder/program/names.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_redundancy.h"

namespace interlock {
namespace {

using SarifJson = nlohmann::ordered_json;

struct Rule {
  std::string_view id;
  std::string_view text;
};

// In the order of the log. Those of findings have the words of the text format.
constexpr Rule kRules[] = {
    {"RAW", "A read that nothing orders after a write of the same bytes, or that does not see it."},
    {"WAR", "A write that nothing orders after a read of the same bytes."},
    {"WAW",
     "A write that nothing orders after another one of the same bytes, or that does not see it."},
    {"reordered", "A read that sees another write than the order of the program gives it."},
    {"clobber", "A read that finds another value on its bytes."},
    {"uninitialized", "A read of bytes that nobody wrote."},
    {"use-after-free", "A read of bytes whose value was freed."},
    {"alias", "Operands of one dispatch that share bytes against the contract of its kernel."},
    {"undeclared", "A dispatch that touches bytes which it does not declare."},
    {"gradient", "A backward pass that counts a path other than once."},
    {"deadlock", "Statements that wait for each other."},
    {"redundant", "Sync that can go without adding a finding."},
    {"expectation", "A line that does not hold."},
    {"failure", "What an encoder or a device did instead of giving an answer."},
    {"barrier-budget", "More barriers than the committed number."},
    {"no-verdict", "A limit ended the check before it could tell."},
};

SarifJson rules() {
  SarifJson list = SarifJson::array();
  for (const Rule& rule : kRules) {
    list.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.text}}}});
  }
  return list;
}

// A relative reference (RFC 3986), or a file URI of an absolute path.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_plain = is_letter(c) || is_digit(c) || kPlain.find(c) != std::string_view::npos;
    if (is_plain) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kDigits[byte >> 4];
    uri += kDigits[byte & 15];
  }
  return uri;
}

SarifJson location_of(std::string_view file, uint64_t line) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", {{"startLine", line}}}}}};
}

// What the results of one file have in common.
struct SarifFile {
  const Program& program;
  std::string_view name;
  std::span<const uint64_t> lines;

  uint64_t line_of(StatementId statement) const {
    return statement.index < lines.size() ? lines[statement.index] : 1;
  }
  uint64_t line_of(const AccessRef& access) const {
    return access.dispatch.is_some() ? line_of(program.dispatch(access.dispatch).statement) : 1;
  }

  // Where a reader looks first: the access that comes too early, or the statement that waits.
  uint64_t line_of(const Finding& finding) const {
    if (!finding.waiting.empty()) return line_of(finding.waiting.front());
    return line_of(finding.second ? *finding.second : finding.first);
  }

  SarifJson result(std::string_view rule, std::string_view level, std::string_view text,
                   uint64_t line) const {
    return {{"ruleId", rule},
            {"level", level},
            {"message", {{"text", text}}},
            {"locations", SarifJson::array({location_of(name, line)})}};
  }
};

std::string message_of(const Finding& finding) {
  std::string text = finding.headline;
  for (const std::string& detail : finding.details) text += " " + detail;
  if (!finding.fix.empty()) text += " Fix: " + finding.fix;
  return text;
}

// What stays the same while other lines of the file change.
std::string fingerprint_of(const Program& program, const Finding& finding) {
  return expectation_line(program, NameId(), finding);
}

SarifJson result_of(const SarifFile& file, const Finding& finding, std::string_view level,
                    bool is_expected) {
  const std::string fingerprint = fingerprint_of(file.program, finding);
  SarifJson result =
      file.result(word_of(finding.kind), level, message_of(finding), file.line_of(finding));
  if (finding.second) {
    SarifJson related = location_of(file.name, file.line_of(finding.first));
    related["message"] = {{"text", "the other access"}};
    result["relatedLocations"] = SarifJson::array({related});
  }
  result["partialFingerprints"] = {{"expectation/v1", fingerprint}};
  if (is_expected) {
    result["suppressions"] =
        SarifJson::array({{{"kind", "inSource"}, {"justification", fingerprint}}});
  }
  return result;
}

}  // namespace

struct SarifLog::Parts {
  std::string version;
  SarifJson results = SarifJson::array();
  SarifJson notifications = SarifJson::array();
};

SarifLog::SarifLog(std::string_view version)
    : parts_(std::make_unique<Parts>(Parts{.version = std::string(version)})) {}
SarifLog::~SarifLog() = default;

void SarifLog::add(const Program& program, const CheckReport& report,
                   const ExpectationOutcome& outcome, std::string_view file_name,
                   std::span<const uint64_t> lines, bool has_advice,
                   const BaselineOutcome* baseline) {
  const SarifFile file{program, file_name, lines};
  SarifJson& results = parts_->results;
  const std::vector<std::string> missing = missing_lines(program, report, outcome);
  const std::set<std::string> unexpected(missing.begin(), missing.end());
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    const bool is_expected = !unexpected.contains(fingerprint_of(program, finding));
    results.push_back(result_of(file, finding, "error", is_expected));
    if (baseline == nullptr || is_expected) continue;
    results.back()["baselineState"] = baseline->is_known[i] ? "unchanged" : "new";
  }
  if (baseline != nullptr) {
    for (const auto& [identity, count] : baseline->stale) {
      SarifJson result =
          file.result(identity.substr(0, identity.find_first_of(" :")), "none", identity, 1);
      result["baselineState"] = "absent";
      result["occurrenceCount"] = count;
      results.push_back(std::move(result));
    }
  }
  for (const Finding& finding : report.noted) {
    results.push_back(result_of(file, finding, "warning", false));
  }
  for (const SubjectOutcome& subject : outcome.subjects) {
    for (const std::string& failure : subject.failures) {
      // Findings of the program as it stands are results of their own.
      const bool is_told = subject.encoder.empty() && failure.starts_with("Not expected: ");
      if (is_told) continue;
      const std::string of = subject.encoder.empty() ? "" : "encoder " + subject.encoder + ": ";
      results.push_back(file.result("expectation", "error", of + failure, 1));
    }
  }
  for (const Truncation& truncation : report.truncations) {
    results.push_back(file.result("no-verdict", "warning", text_of(truncation), 1));
  }
  if (!has_advice) return;
  for (const RedundantBarrier& entry : report.redundant) {
    const StatementId statement = program.barriers[entry.barrier.index].statement;
    results.push_back(
        file.result("redundant", "note",
                    description_of(program, entry) + " can go. " + reason_of(program, entry),
                    file.line_of(statement)));
  }
  for (const SyncPiece& piece : report.redundant_sync) {
    results.push_back(
        file.result("redundant", "note",
                    description_of(program, piece) + " can go. " + reason_of(program, piece),
                    file.line_of(piece.statement)));
  }
}

void SarifLog::add_error(std::string_view file_name, std::string_view message) {
  parts_->notifications.push_back({{"level", "error"},
                                   {"message", {{"text", message}}},
                                   {"locations", SarifJson::array({location_of(file_name, 1)})}});
}

void SarifLog::add_failure(std::string_view file_name, std::string_view rule,
                           std::string_view message) {
  parts_->results.push_back({{"ruleId", rule},
                             {"level", "error"},
                             {"message", {{"text", message}}},
                             {"locations", SarifJson::array({location_of(file_name, 1)})}});
}

std::string SarifLog::text() const {
  const SarifJson driver = {
      {"name", "interlock"}, {"version", parts_->version}, {"rules", rules()}};
  const SarifJson invocation = {{"executionSuccessful", parts_->notifications.empty()},
                                {"toolExecutionNotifications", parts_->notifications}};
  const SarifJson run = {{"tool", {{"driver", driver}}},
                         {"invocations", SarifJson::array({invocation})},
                         {"results", parts_->results}};
  const SarifJson log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", SarifJson::array({run})}};
  // Names and labels are ASCII; file names may be anything.
  return log.dump(-1, ' ', false, SarifJson::error_handler_t::replace) + "\n";
}

}  // namespace interlock
