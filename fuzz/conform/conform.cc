// The basic idea is to ask the cheapest question first that a common fault answers wrongly: rings
// and caps show on two dispatches with many operands, before any generated program is tried.
#include "fuzz/conform/conform.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/stop.h"
#include "encoder/sync/external_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/campaign_folder.h"
#include "fuzz/campaign/encoder_find.h"
#include "fuzz/campaign/failure_find.h"
#include "fuzz/conform/conform_ledger.h"
#include "fuzz/conform/memory_growth.h"
#include "fuzz/conform/patient_encoder.h"
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
constexpr uint64_t kFirstCount = 4;         // Whoever answers none of these is asked no more.
constexpr uint64_t kShownMax = 16;          // Looked at, for one that a replay shows.
constexpr uint64_t kOneMemoryDistanceMax = 256;  // Most encoders search a memory from end to end.

bool is_hang(const Encoding& encoding) {
  return encoding.failure && encoding.failure->kind == EncodeFailureKind::kHang;
}

class Conformance {
 public:
  Conformance(const EncoderEntry& encoder, const ConformOptions& options)
      : encoder_(encoder), options_(options), ledger_(options.stop) {
    if (encoder.external == nullptr) return;
    patient_.emplace(*encoder.external);
    encoder_.external = &*patient_;
  }

  Result<ConformReport> run() {
    // A program that is begun is made to its end; options_.stop is looked at between programs.
    const StopScope to_the_end(nullptr);
    if (!options_.out_dir.empty()) {
      if (auto created = create_out_folder(options_.out_dir); !created) return created.error();
    }
    if (has_an_answer()) {
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
    }
    if (auto written = ledger_.write_to(options_.out_dir); !written) return written.error();
    return std::move(ledger_.report);
  }

 private:
  bool has_stop() const { return options_.stop != nullptr && options_.stop->is_requested(); }
  bool hangs() const { return patient_ && patient_->is_given_up(); }
  // Nothing is asked any more.
  bool is_over() const { return has_stop() || hangs(); }

  // As the ledger does: of what was not asked for to the end nothing holds.
  void hold(ConformName name, std::string detail) {
    if (hangs()) ledger_.give_up();
    ledger_.hold(name, std::move(detail));
  }

  Encoding encoded(const Program& program) {
    ++ledger_.report.program_count;
    return encode_by(program, encoder_);
  }

  MinimizeOptions minimize_options() const {
    return {.evaluation_limit = kEvaluationsMax, .stop = options_.stop};
  }

  // Whether one of the first programs is answered; a stop counts as an answer.
  bool has_an_answer() {
    std::optional<Program> first;
    std::string message;
    for (uint64_t i = 0; i < kFirstCount; ++i) {
      const Program program = i == 0 ? parse(text_at_distance(conflict_probes().front(), 1)).value()
                                     : build(generated(i)).value();
      const Encoding encoding = encoded(program);
      if (!encoding.failure || has_stop()) return true;
      if (first) continue;
      first = program;
      message = encoding.failure->message;
    }
    ledger_.fail(kAnswers, message, *first);
    for (ConformProperty& property : ledger_.report.properties) {
      if (property.verdict != ConformVerdict::kNotJudged) continue;
      property.detail = fmt::format("none of the first {} programs is answered", kFirstCount);
    }
    return false;
  }

  // The answer to the program is missing; the first such program is made small. To make a second
  // one small may take minutes, as it hangs, and shows no more.
  void miss(ConformName name, const Program& program, const EncodeFailure& failure,
            const MinimizeOptions& minimizing) {
    if (failure.kind == EncodeFailureKind::kNotAsked) return;
    ledger_.miss(name);
    if (ledger_.of(kAnswers).counterexample) return;
    ledger_.fail(name, find_in(program, &encoder_, std::string(word_of(failure.kind)), minimizing),
                 "");
  }

  // Judges what the encoder makes of a program. Returns whether it is right.
  bool try_program(ConformName name, const Program& program, const std::string& where) {
    return try_program(name, program, where, minimize_options());
  }

  bool try_program(ConformName name, const Program& program, const std::string& where,
                   const MinimizeOptions& minimizing) {
    const Encoding encoding = encoded(program);
    if (has_stop()) return false;
    if (encoding.failure) {
      miss(name, program, *encoding.failure, minimizing);
      return false;
    }
    const std::vector<Fact> facts = find_exactly(encoding.program);
    if (facts.empty()) return true;
    const std::string signature = signature_of(encoding.program, facts.front());
    ledger_.fail(name, find_in(program, &encoder_, signature, minimizing), where);
    return false;
  }

  // With one operand less there was nothing, so that these are small as they are.
  void try_operands() {
    uint64_t count = 0;
    MinimizeOptions as_it_is = minimize_options();
    as_it_is.evaluation_limit = 0;
    for (const ConflictProbe& probe : conflict_probes()) {
      for (uint64_t n = 1; n <= options_.operand_count_max; ++n) {
        bool is_right = true;
        for (const uint64_t index : {uint64_t{0}, n - 1}) {
          ++count;
          const Program program = parse(text_of_operands(probe, n, index)).value();
          is_right &= try_program(kOperands, program,
                                  fmt::format(" at {} operand{}", n, n == 1 ? "" : "s"), as_it_is);
          if (is_over()) return hold(kOperands, "");
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
        if (is_over()) return hold(kDistances, "");
      }
    }
    hold(kDistances, fmt::format("1 to {}, {} programs", options_.distance_max, count));
  }

  ProgramDraft generated(uint64_t number) const {
    SeededChoice choice(options_.seed * 0x9e3779b97f4a7c15ull + number);
    return generate(choice);
  }

  void try_command_buffers() {
    uint64_t shown_count = 0;
    for (uint64_t i = 0; i < kSplitCount; ++i) {
      const Program program = build(in_command_buffers(generated(i))).value();
      if (try_program(kCommandBuffers, program, " across command buffers")) continue;
      if (ledger_.of(kCommandBuffers).replays || ++shown_count >= kShownMax || is_over()) break;
    }
    hold(kCommandBuffers, fmt::format("{} programs of one dispatch each", kSplitCount));
  }

  // The same program three times: of two encoders that were given nothing else, and of one that
  // was.
  void try_repeats() {
    const auto fresh = [&](const Program& program) {
      ++ledger_.report.program_count;
      return encoder_.external != nullptr ? encoder_.external->encode_afresh(program)
                                          : encode_by(program, encoder_);
    };
    const auto text_of = [](const Encoding& encoding) {
      return encoding.failure ? std::string(word_of(encoding.failure->kind))
                              : print(encoding.program);
    };
    for (uint64_t i = 0; i < kRepeatCount && !is_over(); ++i) {
      const Program program = build(generated(kSplitCount + i)).value();
      const Encoding encoding = fresh(program);
      const std::string first = text_of(encoding);
      const bool is_repeated = text_of(fresh(program)) == first;
      if (is_over()) break;
      if (!is_repeated) {
        ledger_.fail(kDeterministic, "two fresh encoders answer one program differently", program);
        continue;
      }
      const std::string later = text_of(encoded(program));
      if (is_over()) break;
      if (later != first) {
        ledger_.fail(kNoState, "an encoder that was given other programs answers differently",
                     program);
      } else if (encoding.failure) {
        ledger_.miss(kDeterministic);
        miss(kNoState, program, *encoding.failure, minimize_options());
        if (is_hang(encoding)) break;
      }
    }
    hold(kNoState, fmt::format("{} programs, fresh and after others", kRepeatCount));
  }

  Result<Success> try_generated() {
    if (is_over() || options_.run_count == 0) return Success{};
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
    ledger_.report.program_count += report->run_count;
    ledger_.report.disagreements = report->disagreements;
    for (const CampaignFind& find : report->finds) {
      for (const SignatureCount& seen : find.signatures) {
        if (!is_failure_word(seen.signature)) continue;
        ledger_.miss(kOrdersHazards, seen.run_count);
        ledger_.miss(kFewest, seen.run_count);
      }
      ledger_.fail(find.signature == "excess" ? kFewest : kOrdersHazards, find,
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
    const auto has_redundant_sync = [](const Encoding& encoding) {
      if (encoding.failure) return false;
      const CheckReport report = check(encoding.program);
      return report.findings.empty() && !report.redundant.empty();
    };
    const auto has_redundant = [&](const Program& program) {
      return has_redundant_sync(encode_by(program, encoder_));
    };
    for (uint64_t i = 0; i < kRedundancyCount && !is_over(); ++i) {
      const ProgramDraft draft = generated(i);
      const Encoding encoding = encoded(build(draft).value());
      if (encoding.failure) {
        miss(kNothingRedundant, build(draft).value(), *encoding.failure, minimize_options());
      }
      if (is_hang(encoding)) break;
      if (!has_redundant_sync(encoding)) continue;
      const Program small = minimize(draft, has_redundant, minimize_options()).program;
      ledger_.fail(kNothingRedundant,
                   fmt::format("a barrier that can go, {} dispatch{}", small.dispatches.size(),
                               small.dispatches.size() == 1 ? "" : "es"),
                   encode_by(small, encoder_).program);
      break;
    }
    hold(kNothingRedundant, fmt::format("{} generated programs", kRedundancyCount));
  }

  // Says at the property if no long program is asked for.
  bool has_stream(ConformName property) {
    if (options_.stream_dispatches > 0) return true;
    ledger_.of(property).detail = "no long program was asked for";
    return false;
  }

  void try_stream() {
    if (has_stop() || !has_stream(kSurvives)) return;
    const StopScope scope(options_.stop);  // The stream is long.
    const Result<Program> program = parse(text_of_stream(options_.stream_dispatches));
    if (has_stop()) return;
    const Encoding encoding = encoded(program.value());
    if (has_stop()) return;
    const bool is_asked =
        !encoding.failure || encoding.failure->kind != EncodeFailureKind::kNotAsked;
    if (encoding.failure && is_asked) {
      ledger_.of(kSurvives).verdict = ConformVerdict::kFails;
      ledger_.of(kSurvives).detail = encoding.failure->message;
    } else if (is_asked && !find_exactly(encoding.program).empty()) {
      ledger_.of(kSurvives).verdict = ConformVerdict::kFails;
      ledger_.of(kSurvives).detail = "a hazard in a long stream";
    }
    hold(kSurvives, fmt::format("{} dispatches in one program", options_.stream_dispatches));
  }

  void try_memory() {
    if (has_stop() || !has_stream(kBoundedMemory)) return;
    const StopScope scope(options_.stop);
    const MemoryGrowth growth = memory_growth(encoder_, options_.stream_dispatches);
    if (!growth.bytes || has_stop()) {
      if (hangs()) return hold(kBoundedMemory, "");
      ledger_.of(kBoundedMemory).detail =
          ledger_.of(kAnswers).counterexample
              ? "an answer is missing, or the system does not say"
              : "the system does not say, or a sanitizer keeps what is freed";
      return;
    }
    const std::string detail = fmt::format(
        "{:.1f} MiB more from {}", static_cast<double>(*growth.bytes) / (1 << 20), growth.between);
    if (*growth.bytes <= kMemoryGrowthMax) return hold(kBoundedMemory, detail);
    ledger_.of(kBoundedMemory).verdict = ConformVerdict::kAdvice;
    ledger_.of(kBoundedMemory).detail = detail;
  }

  void settle() {
    if (has_stop()) {
      for (ConformProperty& property : ledger_.report.properties) {
        if (property.verdict == ConformVerdict::kNotJudged) property.detail = "it was stopped";
      }
      return;
    }
    if (ledger_.misses_some() && !ledger_.of(kAnswers).counterexample) {
      ledger_.of(kAnswers).verdict = ConformVerdict::kFails;
      ledger_.of(kAnswers).detail =
          "some answers were missing that came when they were asked for again";
    }
    for (ConformProperty& property : ledger_.report.properties) {
      const bool is_unasked = property.verdict == ConformVerdict::kNotJudged && hangs();
      if (is_unasked && property.detail.empty()) property.detail = "it hangs";
    }
    hold(kAnswers, fmt::format("{} programs", ledger_.report.program_count));
    hold(kDeterministic, fmt::format("{} programs twice", kRepeatCount));
  }

  EncoderEntry encoder_;
  std::optional<PatientEncoder> patient_;  // What it asks if it is no part of this build.
  const ConformOptions& options_;
  ConformLedger ledger_;
};

}  // namespace

Result<ConformReport> conform(const EncoderEntry& encoder, const ConformOptions& options) {
  return Conformance(encoder, options).run();
}

}  // namespace interlock
