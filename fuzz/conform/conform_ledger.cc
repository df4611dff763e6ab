#include "fuzz/conform/conform_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/failure_find.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kVerdictWords = {"holds", "FAILS", "advice",
                                                           "not judged"};

constexpr std::string_view kConformNames[] = {
    "answers",         "orders-hazards",    "distances",     "operands",
    "command-buffers", "deterministic",     "no-state",      "survives",
    "fewest",          "nothing-redundant", "bounded-memory"};

static_assert(std::size(kConformNames) == kConformNameCount);

bool is_advice(ConformName name) { return name >= kFewest; }

}  // namespace

std::string_view word_of(ConformVerdict verdict) {
  return kVerdictWords[static_cast<size_t>(verdict)];
}

bool ConformReport::has_failure() const {
  return std::ranges::any_of(properties, [](const ConformProperty& property) {
    return property.verdict == ConformVerdict::kFails;
  });
}

ConformLedger::ConformLedger(const Stop* stop) : stop_(stop) {
  for (const std::string_view name : kConformNames) {
    report.properties.push_back({.name = name, .verdict = ConformVerdict::kNotJudged});
  }
}

void ConformLedger::hold(ConformName name, std::string detail) {
  if (of(name).verdict != ConformVerdict::kNotJudged) return;
  if (stop_ != nullptr && stop_->is_requested()) return;
  if (is_given_up_) {
    of(name).detail = "it hangs";
    return;
  }
  if (const uint64_t count = missing_counts_[name]; count > 0) {
    of(name).detail = fmt::format("{} answer{} missing", count, count == 1 ? " is" : "s are");
    return;
  }
  of(name).verdict = ConformVerdict::kHolds;
  of(name).detail = std::move(detail);
}

void ConformLedger::fail(ConformName name, std::string detail, const Program& counterexample,
                         bool replays) {
  ConformProperty& property = of(name);
  const auto badness = [](bool shows, const Program& program) {
    return std::pair(!shows, program.dispatches.size());
  };
  const bool is_better =
      !property.counterexample ||
      badness(replays, counterexample) < badness(property.replays, *property.counterexample);
  if (!is_better) return;
  property.verdict = is_advice(name) ? ConformVerdict::kAdvice : ConformVerdict::kFails;
  property.detail = std::move(detail);
  property.counterexample = counterexample;
  property.replays = replays;
}

void ConformLedger::fail(ConformName name, const CampaignFind& find, const std::string& where) {
  // What it was is known, and no program that shows it.
  const bool is_not_asked = find.cause.name == word_of(EncodeFailureKind::kNotAsked);
  if (is_not_asked && !is_failure_word(find.signature)) return;
  if (find.cause.name == "unrepeatable") return fail(kDeterministic, find.failure, find.program);
  if (!find.failure.empty()) return fail(kAnswers, find.failure, find.program);
  const std::string small = fmt::format("{}{}, {} dispatch{}", find.signature, where,
                                        find.dispatch_count, find.dispatch_count == 1 ? "" : "es");
  // Of a deadlock the reference run itself shows it.
  const bool is_deadlock = find.fact && std::holds_alternative<Deadlock>(*find.fact);
  const bool is_hazard = find.fact && std::holds_alternative<Hazard>(*find.fact);
  const bool replays = find.differs_on_cpu || is_deadlock;
  const bool is_unseen = !replays && is_hazard;
  fail(name, is_unseen ? small + ", which no replay shows" : small, find.program, replays);
}

Result<Success> ConformLedger::write_to(const std::string& out_dir) {
  const StopScope to_the_end(nullptr);
  for (ConformProperty& property : report.properties) {
    if (!property.counterexample) continue;
    const std::string text = print(*property.counterexample);
    const size_t head = text.find('\n') + 1;
    property.text = fmt::format("{}# {}: {}\n{}", text.substr(0, head), property.name,
                                property.detail, text.substr(head));
    if (out_dir.empty()) continue;
    property.path = fmt::format("{}/{}.ilk", out_dir, property.name);
    auto written = write_file(property.path, property.text);
    if (!written) return written.error();
  }
  return Success{};
}

}  // namespace interlock
