#include "simulator/report/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/utf8.h"
#include "simulator/report/finding_identity.h"

namespace interlock {
namespace {

using BaselineJson = nlohmann::json;            // Read: finds a key in logarithmic time.
using BaselineWriter = nlohmann::ordered_json;  // Written: keys in the order of the calls.

constexpr std::string_view kBaselineKey = "interlock_baseline";
constexpr std::string_view kBudgetKey = "interlock_barrier_budget";
constexpr uint64_t kBaselineVersion = 1;

Error error_in(std::string_view path, size_t byte, std::string_view text, std::string_view what) {
  const std::string_view before = text.substr(0, byte);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t start = before.rfind('\n');
  const size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return error_of("{}:{}:{}: error: {}", path, line, column, what);
}

// The object under "files" of the right sort of file.
Result<BaselineJson> files_of(std::string_view text, std::string_view path, std::string_view key) {
  if (text.size() > kBaselineBytesMax) {
    return error_of("{} has more bytes than the limit of {}.", in_quotes(path), kBaselineBytesMax);
  }
  BaselineJson json;
  try {
    json = BaselineJson::parse(text);
  } catch (const BaselineJson::parse_error& error) {
    return error_in(path, error.byte > 0 ? error.byte - 1 : 0, text, "this is no JSON.");
  }
  const auto version = json.is_object() ? json.find(key) : json.end();
  if (!json.is_object() || version == json.end() || !version->is_number_unsigned()) {
    return error_of("{}: error: it has no number {}, as `interlock check` writes it.", path,
                    in_quotes(key));
  }
  if (*version != kBaselineVersion) {
    return error_of("{}: error: it has version {}, and this program reads {}.", path,
                    version->dump(), kBaselineVersion);
  }
  const auto files = json.find("files");
  if (files == json.end() || !files->is_object()) {
    return error_of("{}: error: it has no object 'files'.", path);
  }
  return BaselineJson(std::move(*files));
}

Error no_count(std::string_view path, std::string_view of) {
  return error_of("{}: error: {} has no whole number.", path, in_quotes(of));
}

// JSON is UTF-8; the name of a file is any bytes.
std::string text_of_name(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const CodePoint point = first_code_point(name);
    if (!point.is_valid || name.starts_with("\\x")) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(name.front()));
    } else {
      text += name.substr(0, point.size_bytes);
    }
    name.remove_prefix(point.size_bytes);
  }
  return text;
}

std::string name_of_text(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    uint8_t byte = 0;
    const bool is_escaped =
        text.size() >= 4 && text.starts_with("\\x") &&
        std::from_chars(text.data() + 2, text.data() + 4, byte, 16).ptr == text.data() + 4;
    name += is_escaped ? static_cast<char>(byte) : text.front();
    text.remove_prefix(is_escaped ? 4 : 1);
  }
  return name;
}

// Appends a key that the object does not have: [] would look at all that it has for each.
void append(BaselineWriter& object, const std::string& key, BaselineWriter value) {
  auto& entries = object.get_ref<BaselineWriter::object_t&>();
  entries.emplace_back(key, std::move(value));
}

std::string text_of_files(std::string_view key, BaselineWriter files) {
  BaselineWriter json = BaselineWriter::object();
  append(json, std::string(key), kBaselineVersion);
  append(json, "files", std::move(files));
  return json.dump(2, ' ', false, BaselineWriter::error_handler_t::replace) + "\n";
}

}  // namespace

Result<Baseline> baseline_of(std::string_view text, std::string_view path) {
  auto files = files_of(text, path, kBaselineKey);
  if (!files) return files.error();
  Baseline baseline;
  for (const auto& [file, findings] : files->items()) {
    if (!findings.is_object()) return no_count(path, file);
    for (const auto& [identity, count] : findings.items()) {
      if (!count.is_number_unsigned()) return no_count(path, identity);
      baseline.files[name_of_text(file)][identity] = count.get<uint64_t>();
    }
  }
  return baseline;
}

Result<BarrierBudget> barrier_budget_of(std::string_view text, std::string_view path) {
  auto files = files_of(text, path, kBudgetKey);
  if (!files) return files.error();
  BarrierBudget budget;
  for (const auto& [file, count] : files->items()) {
    if (!count.is_number_unsigned()) return no_count(path, file);
    budget.files[name_of_text(file)] = count.get<uint64_t>();
  }
  return budget;
}

std::string text_of(const Baseline& baseline) {
  BaselineWriter files = BaselineWriter::object();
  for (const auto& [file, findings] : baseline.files) {
    if (findings.empty()) continue;
    BaselineWriter object = BaselineWriter::object();
    for (const auto& [identity, count] : findings) append(object, identity, count);
    append(files, text_of_name(file), std::move(object));
  }
  return text_of_files(kBaselineKey, std::move(files));
}

std::string text_of(const BarrierBudget& budget) {
  BaselineWriter files = BaselineWriter::object();
  for (const auto& [file, count] : budget.files) append(files, text_of_name(file), count);
  return text_of_files(kBudgetKey, std::move(files));
}

bool BaselineOutcome::has_new() const {
  for (size_t i = 0; i < is_known.size(); ++i) {
    if (!is_known[i] && !is_expected[i]) return true;
  }
  return false;
}

uint64_t BaselineOutcome::known_count() const {
  return static_cast<uint64_t>(std::ranges::count(is_known, true));
}

BaselineOutcome judge_baseline(const Program& program, const CheckReport& report,
                               const ExpectationOutcome& outcome, const IdentityCounts& known) {
  const std::vector<std::string> missing = missing_lines(program, report, outcome);
  const std::set<std::string> unexpected(missing.begin(), missing.end());
  BaselineOutcome result;
  for (const Finding& finding : report.findings) {
    const bool is_expected = !unexpected.contains(expectation_line(program, NameId(), finding));
    result.is_expected.push_back(is_expected);
    result.is_known.push_back(false);
    if (is_expected) continue;
    const std::string identity = identity_of(program, finding);
    const auto entry = known.find(identity);
    result.is_known.back() = ++result.found[identity] <= (entry == known.end() ? 0 : entry->second);
  }
  for (const auto& [identity, count] : known) {
    const auto found = result.found.find(identity);
    const uint64_t found_count = found == result.found.end() ? 0 : found->second;
    if (count > found_count) result.stale[identity] = count - found_count;
  }
  return result;
}

Verdict verdict_of(const Program& program, const CheckReport& report,
                   const ExpectationOutcome& outcome, const BaselineOutcome& baseline) {
  if (baseline.has_new()) return Verdict::kUnexpected;
  ExpectationOutcome rest = outcome;
  for (SubjectOutcome& subject : rest.subjects) {
    if (!subject.encoder.empty()) continue;
    // Of a finding that is known no line need speak.
    std::erase_if(subject.failures,
                  [](const std::string& failure) { return failure.starts_with("Not expected: "); });
  }
  CheckReport without = report;
  without.findings.clear();
  return verdict_of(program, without, rest);
}

}  // namespace interlock
