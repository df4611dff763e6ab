// The basic idea is to ask the cheapest question first that a common fault answers wrongly: rings
// and caps show on two dispatches with many operands, before any generated program is tried.
#include "fuzz/conform/conform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/error_of.h"
#include "encoder/sync/external_encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/encoder_find.h"
#include "fuzz/conform/memory_growth.h"
#include "fuzz/conform/probe_programs.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

constexpr uint64_t kRepeatCount = 20;       // Programs that are encoded again, by a fresh encoder.
constexpr uint64_t kSplitCount = 200;       // With a command buffer for each dispatch.
constexpr uint64_t kRedundancyCount = 200;  // Of which each barrier is looked at.
constexpr uint64_t kEvaluationsMax = 2000;  // While one program is made small.
constexpr uint64_t kOneMemoryDistanceMax = 256;  // Most encoders search a memory from end to end.

constexpr std::array<std::string_view, 4> kVerdictWords = {"holds", "FAILS", "advice",
                                                           "not judged"};

// In the order of the report.
enum Name : size_t {
  kAnswers,
  kOrdersHazards,
  kDistances,
  kOperands,
  kCommandBuffers,
  kDeterministic,
  kNoState,
  kSurvives,
  kFewest,
  kNothingRedundant,
  kBoundedMemory,
};

constexpr std::array<std::string_view, 11> kNames = {
    "answers",         "orders-hazards",    "distances",     "operands",
    "command-buffers", "deterministic",     "no-state",      "survives",
    "fewest",          "nothing-redundant", "bounded-memory"};

bool is_advice(size_t name) { return name >= kFewest; }

// With the end of a command buffer before each dispatch but the first.
ProgramDraft in_command_buffers(const ProgramDraft& draft) {
  ProgramDraft result = draft;
  result.items.clear();
  bool is_first = true;
  for (const ItemDraft& item : draft.items) {
    const bool is_dispatch = std::holds_alternative<DispatchDraft>(item);
    if (is_dispatch && !is_first) result.items.emplace_back(SyncDraft{});
    is_first &= !is_dispatch;
    result.items.push_back(item);
  }
  return result;
}

class Conformance {
 public:
  Conformance(const EncoderEntry& encoder, const ConformOptions& options)
      : encoder_(encoder), options_(options) {
    for (const std::string_view name : kNames) {
      report_.properties.push_back({.name = name, .verdict = ConformVerdict::kNotJudged});
    }
  }

  Result<ConformReport> run() {
    if (!options_.out_dir.empty()) {
      std::error_code error;
      std::filesystem::create_directories(options_.out_dir, error);
      if (error) {
        return error_of("The folder '{}' cannot be created: {}.", options_.out_dir,
                        error.message());
      }
    }
    try_operands();
    try_distances();
    try_command_buffers();
    try_repeats();
    auto campaign = try_generated();
    if (!campaign) return campaign.error();
    try_redundancy();
    try_stream();
    try_memory();
    settle();
    return write_all();
  }

 private:
  ConformProperty& of(Name name) { return report_.properties[name]; }
  bool has_stop() const { return options_.stop != nullptr && options_.stop->is_requested(); }
  bool is_settled(Name name) { return of(name).verdict != ConformVerdict::kNotJudged; }

  void hold(Name name, std::string detail) {
    if (is_settled(name)) return;
    if (has_stop()) return;
    of(name).verdict = ConformVerdict::kHolds;
    of(name).detail = std::move(detail);
  }

  // The first counterexample stands, or a smaller one.
  void fail(Name name, std::string detail, const Program& counterexample) {
    ConformProperty& property = of(name);
    const bool is_better =
        !property.counterexample ||
        counterexample.dispatches.size() < property.counterexample->dispatches.size();
    if (!is_better) return;
    property.verdict = is_advice(name) ? ConformVerdict::kAdvice : ConformVerdict::kFails;
    property.detail = std::move(detail);
    property.counterexample = counterexample;
  }

  Encoding encoded(const Program& program) {
    ++report_.program_count;
    return encode_by(program, encoder_);
  }

  MinimizeOptions minimize_options() const {
    return {.evaluation_limit = kEvaluationsMax, .stop = options_.stop};
  }

  // Files the find where it belongs: `name` if it is a finding of the answer.
  void file(Name name, const CampaignFind& find, const std::string& where) {
    const std::string small =
        fmt::format("{}{}, {} dispatch{}", find.signature, where, find.dispatch_count,
                    find.dispatch_count == 1 ? "" : "es");
    if (find.cause.name == "unrepeatable") return fail(kDeterministic, find.failure, find.program);
    if (!find.failure.empty()) return fail(kAnswers, find.failure, find.program);
    fail(name, small, find.program);
  }

  // Judges what the encoder makes of a program. Returns whether it is right.
  bool try_program(Name name, const Program& program, const std::string& where) {
    const Encoding encoding = encoded(program);
    if (has_stop()) return false;
    std::string signature;
    if (encoding.failure) {
      signature = word_of(encoding.failure->kind);
    } else {
      const std::vector<Fact> facts = find_exactly(encoding.program);
      if (facts.empty()) return true;
      signature = signature_of(encoding.program, facts.front());
    }
    file(name, find_in(program, &encoder_, signature, minimize_options()), where);
    return false;
  }

  void try_operands() {
    uint64_t count = 0;
    for (const ConflictProbe& probe : conflict_probes()) {
      for (uint64_t n = 1; n <= options_.operand_count_max; ++n) {
        bool is_right = true;
        for (const uint64_t index : {uint64_t{0}, n - 1}) {
          ++count;
          const Program program = parse(text_of_operands(probe, n, index)).value();
          is_right &= try_program(kOperands, program,
                                  fmt::format(" at {} operand{}", n, n == 1 ? "" : "s"));
          if (has_stop()) return;
        }
        if (!is_right) break;  // More of them says nothing new.
      }
    }
    hold(kOperands,
         fmt::format("1 to {} operands, {} programs", options_.operand_count_max, count));
  }

  void try_distances() {
    uint64_t count = 0;
    for (const ConflictProbe& probe : conflict_probes()) {
      const bool is_one_memory = probe.place == ProbePlace::kOneMemory;
      const uint64_t max = is_one_memory ? std::min(options_.distance_max, kOneMemoryDistanceMax)
                                         : options_.distance_max;
      for (const uint64_t distance : probe_distances(max)) {
        ++count;
        const Program program = parse(text_at_distance(probe, distance)).value();
        if (!try_program(kDistances, program, fmt::format(" at distance {}", distance))) break;
        if (has_stop()) return;
      }
    }
    hold(kDistances, fmt::format("1 to {}, {} programs", options_.distance_max, count));
  }

  ProgramDraft generated(uint64_t number) const {
    SeededChoice choice(options_.seed * 0x9e3779b97f4a7c15ull + number);
    return generate(choice);
  }

  void try_command_buffers() {
    for (uint64_t i = 0; i < kSplitCount; ++i) {
      const Program program = build(in_command_buffers(generated(i))).value();
      if (!try_program(kCommandBuffers, program, " across command buffers")) break;
    }
    hold(kCommandBuffers, fmt::format("{} programs of one dispatch each", kSplitCount));
  }

  // The same program three times: of two encoders that were given nothing else, and of one that
  // was.
  void try_repeats() {
    const auto fresh = [&](const Program& program) {
      ++report_.program_count;
      return encoder_.external != nullptr ? encoder_.external->encode_afresh(program)
                                          : encode_by(program, encoder_);
    };
    const auto text_of = [](const Encoding& encoding) {
      return encoding.failure ? std::string(word_of(encoding.failure->kind))
                              : print(encoding.program);
    };
    for (uint64_t i = 0; i < kRepeatCount && !has_stop(); ++i) {
      const Program program = build(generated(kSplitCount + i)).value();
      const std::string first = text_of(fresh(program));
      const bool is_repeated = text_of(fresh(program)) == first;
      const std::string later = text_of(encoded(program));
      if (has_stop()) return;
      if (!is_repeated) {
        fail(kDeterministic, "two fresh encoders answer one program differently", program);
      } else if (later != first) {
        fail(kNoState, "an encoder that was given other programs answers differently", program);
      }
    }
    hold(kNoState, fmt::format("{} programs, fresh and after others", kRepeatCount));
  }

  Result<Success> try_generated() {
    if (has_stop() || options_.run_count == 0) return Success{};
    CampaignOptions campaign;
    campaign.encoder = &encoder_;
    campaign.seed = options_.seed;
    campaign.run_count = options_.run_count;
    campaign.job_count = options_.job_count;
    campaign.stop = options_.stop;
    campaign.oracles.judges_excess = true;
    campaign.encoder_flags = options_.encoder_flags;
    auto report = run_campaign(campaign);
    if (!report) return report.error();
    report_.program_count += report->run_count;
    report_.disagreements = report->disagreements;
    for (const CampaignFind& find : report->finds) {
      file(find.signature == "excess" ? kFewest : kOrdersHazards, find,
           fmt::format(" in run {}", find.run_index));
    }
    if (report->was_stopped) return Success{};
    const std::string count = fmt::format("{} generated programs", report->run_count);
    hold(kOrdersHazards, count);
    hold(kFewest, count);
    hold(kDeterministic, fmt::format("{} programs twice", kRepeatCount));
    return Success{};
  }

  void try_redundancy() {
    const auto has_redundant = [&](const Program& program) {
      const Encoding encoding = encode_by(program, encoder_);
      if (encoding.failure) return false;
      const CheckReport report = check(encoding.program);
      return report.findings.empty() && !report.redundant.empty();
    };
    for (uint64_t i = 0; i < kRedundancyCount && !has_stop(); ++i) {
      ++report_.program_count;
      const ProgramDraft draft = generated(i);
      if (!has_redundant(build(draft).value())) continue;
      const Program small = minimize(draft, has_redundant, minimize_options()).program;
      fail(kNothingRedundant,
           fmt::format("a barrier that can go, {} dispatches", small.dispatches.size()),
           encode_by(small, encoder_).program);
      break;
    }
    hold(kNothingRedundant, fmt::format("{} generated programs", kRedundancyCount));
  }

  void try_stream() {
    if (has_stop() || options_.stream_dispatches == 0) return;
    const Program program = parse(text_of_stream(options_.stream_dispatches)).value();
    const Encoding encoding = encoded(program);
    if (has_stop()) return;
    if (encoding.failure) {
      of(kSurvives).verdict = ConformVerdict::kFails;
      of(kSurvives).detail = encoding.failure->message;
    } else if (!find_exactly(encoding.program).empty()) {
      of(kSurvives).verdict = ConformVerdict::kFails;
      of(kSurvives).detail = "a hazard in a long stream";
    }
    hold(kSurvives, fmt::format("{} dispatches in one program", options_.stream_dispatches));
  }

  void try_memory() {
    if (has_stop() || options_.stream_dispatches == 0) return;
    const MemoryGrowth growth = memory_growth(encoder_, options_.stream_dispatches);
    if (!growth.bytes || has_stop()) {
      of(kBoundedMemory).detail = "the system does not say, or a sanitizer keeps what is freed";
      return;
    }
    const std::string detail = fmt::format(
        "{:.1f} MiB more from {}", static_cast<double>(*growth.bytes) / (1 << 20), growth.between);
    if (*growth.bytes <= kMemoryGrowthMax) return hold(kBoundedMemory, detail);
    of(kBoundedMemory).verdict = ConformVerdict::kAdvice;
    of(kBoundedMemory).detail = detail;
  }

  // What an encoder does that answers nothing is not known.
  void settle() {
    if (has_stop()) {
      for (ConformProperty& property : report_.properties) {
        if (property.verdict == ConformVerdict::kNotJudged) property.detail = "it was stopped";
      }
      return;
    }
    hold(kAnswers, fmt::format("{} programs", report_.program_count));
    hold(kDeterministic, fmt::format("{} programs twice", kRepeatCount));
  }

  Result<ConformReport> write_all() {
    const StopScope to_the_end(nullptr);
    for (ConformProperty& property : report_.properties) {
      if (!property.counterexample) continue;
      const std::string text = print(*property.counterexample);
      const size_t head = text.find('\n') + 1;
      property.text = fmt::format("{}# {}: {}\n{}", text.substr(0, head), property.name,
                                  property.detail, text.substr(head));
      if (options_.out_dir.empty()) continue;
      property.path = fmt::format("{}/{}.ilk", options_.out_dir, property.name);
      auto written = write_file(property.path, property.text);
      if (!written) return written.error();
    }
    return std::move(report_);
  }

  const EncoderEntry& encoder_;
  const ConformOptions& options_;
  ConformReport report_;
};

}  // namespace

std::string_view word_of(ConformVerdict verdict) {
  return kVerdictWords[static_cast<size_t>(verdict)];
}

bool ConformReport::has_failure() const {
  return std::ranges::any_of(properties, [](const ConformProperty& property) {
    return property.verdict == ConformVerdict::kFails;
  });
}

Result<ConformReport> conform(const EncoderEntry& encoder, const ConformOptions& options) {
  return Conformance(encoder, options).run();
}

}  // namespace interlock
