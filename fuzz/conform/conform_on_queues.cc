// The basic idea is that of conform.cc, with what judges encoders for several queues in campaigns.
#include "fuzz/conform/conform_on_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/stop.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/campaign_folder.h"
#include "fuzz/campaign/failure_find.h"
#include "fuzz/campaign/queue_find.h"
#include "fuzz/conform/conform_ledger.h"
#include "fuzz/conform/patient_encoder.h"
#include "fuzz/conform/probe_programs.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/queue_oracle.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

constexpr uint64_t kRepeatedOnQueues = 20;   // Programs that are encoded again.
constexpr uint64_t kLookedAtOnQueues = 100;  // Of which each piece of sync is looked at.
constexpr uint64_t kFirstOnQueues = 4;       // Whoever answers none of these is asked no more.
constexpr uint64_t kQueueEvaluationsMax = 2000;
// Conflicts of the stream are so far apart that they come to lie on two queues where dispatches are
// dealt out to 2, 3, 4 or 8.
constexpr uint64_t kQueueStreamWindow = 7;
// As judge_on_queues() takes them: as many queues as the encoder chooses, and three.
constexpr uint64_t kQueueNumbers[] = {0, 2};

class QueueConformance {
 public:
  QueueConformance(const QueueEncoderEntry& encoder, const ConformOptions& options)
      : encoder_(encoder), options_(options), ledger_(options.stop) {
    if (encoder.external == nullptr) return;
    patient_.emplace(*encoder.external);
    encoder_.external = &*patient_;
  }

  Result<ConformReport> run() {
    const StopScope to_the_end(nullptr);
    if (!options_.out_dir.empty()) {
      if (auto created = create_out_folder(options_.out_dir); !created) return created.error();
    }
    for (const ConformName name : {kCommandBuffers, kFewest, kBoundedMemory}) {
      ledger_.of(name).detail = "of encoders for one queue";
    }
    if (has_an_answer()) {
      try_operands();
      try_distances();
      try_repeats();
      auto campaign = try_generated();
      if (!campaign) return campaign.error();
      try_redundancy();
      try_stream();
      settle();
    }
    if (auto written = ledger_.write_to(options_.out_dir); !written) return written.error();
    return std::move(ledger_.report);
  }

 private:
  bool has_stop() const { return options_.stop != nullptr && options_.stop->is_requested(); }
  bool hangs() const { return patient_ && patient_->is_given_up(); }
  bool is_over() const { return has_stop() || hangs(); }

  void hold(ConformName name, std::string detail) {
    if (hangs()) ledger_.give_up();
    ledger_.hold(name, std::move(detail));
  }

  QueueReport judged(const Program& program, uint64_t number) {
    ++ledger_.report.program_count;
    QueueReport report = judge_on_queues(program, encoder_, number);
    for (const InternalDisagreement& disagreement : report.disagreements) {
      ledger_.report.disagreements.push_back(disagreement.message);
    }
    return report;
  }

  ProgramDraft generated(uint64_t number) const {
    SeededChoice choice(options_.seed * 0x9e3779b97f4a7c15ull + number);
    GeneratorOptions generator;
    generator.has_barriers = false;
    return generate(choice, generator);
  }

  // Whether one of the first programs is answered; a stop counts as an answer.
  bool has_an_answer() {
    std::optional<Program> first;
    std::string message;
    for (uint64_t i = 0; i < kFirstOnQueues; ++i) {
      const Program program = i == 0 ? parse(text_at_distance(conflict_probes().front(), 1)).value()
                                     : build(generated(i)).value();
      const QueueReport report = judged(program, 0);
      if (!report.failure || has_stop()) return true;
      if (first) continue;
      first = program;
      message = report.failure->message;
    }
    ledger_.fail(kAnswers, message, *first);
    for (ConformProperty& property : ledger_.report.properties) {
      if (property.verdict != ConformVerdict::kNotJudged || !property.detail.empty()) continue;
      property.detail = fmt::format("none of the first {} programs is answered", kFirstOnQueues);
    }
    return false;
  }

  // Files what the encoder does wrong on this program, made small, where it belongs.
  void file(ConformName name, const Program& program, uint64_t number, const std::string& signature,
            const std::string& where, uint64_t evaluation_limit) {
    const bool is_failure = is_failure_word(signature);
    if (is_failure) ledger_.miss(name);
    if (is_failure && ledger_.of(kAnswers).counterexample) return;
    ledger_.fail(name,
                 find_on_queues(draft_of(program), encoder_, number, signature,
                                {.evaluation_limit = evaluation_limit, .stop = options_.stop}),
                 where);
  }

  // Judges what the encoder makes of a program. Returns whether it is right.
  bool try_program(ConformName name, const Program& program, const std::string& where,
                   uint64_t evaluation_limit) {
    for (const uint64_t number : kQueueNumbers) {
      if (number > 0 && !encoder_.takes_queue_count) break;
      const QueueReport report = judged(program, number);
      if (has_stop()) return false;
      if (report.failure && report.failure->kind == EncodeFailureKind::kNotAsked) return false;
      if (!report.failure && report.facts.empty()) continue;
      const std::string signature = report.failure
                                        ? std::string(word_of(report.failure->kind))
                                        : signature_on_queues(report.program, report.facts.front());
      file(name, program, number, signature, where, evaluation_limit);
      return false;
    }
    return true;
  }

  // With one operand less there was nothing, so that these are small as they are.
  void try_operands() {
    uint64_t count = 0;
    for (const ConflictProbe& probe : conflict_probes()) {
      for (uint64_t n = 1; n <= options_.operand_count_max; ++n) {
        bool is_right = true;
        for (const uint64_t index : {uint64_t{0}, n - 1}) {
          ++count;
          const Program program = parse(text_of_operands(probe, n, index)).value();
          is_right &= try_program(kOperands, program,
                                  fmt::format(" at {} operand{}", n, n == 1 ? "" : "s"), 0);
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
    const uint64_t distance_max = std::min(options_.distance_max, kQueueDistanceMax);
    for (const ConflictProbe& probe : conflict_probes()) {
      for (const uint64_t distance : probe_distances(distance_max)) {
        ++count;
        const Program program = parse(text_at_distance(probe, distance)).value();
        const bool is_right = try_program(
            kDistances, program, fmt::format(" at distance {}", distance), kQueueEvaluationsMax);
        if (is_over()) return hold(kDistances, "");
        if (!is_right) break;
      }
    }
    hold(kDistances, fmt::format("1 to {}, {} programs", distance_max, count));
  }

  // The same program three times: of two encoders that were given nothing else, and of one that
  // was.
  void try_repeats() {
    const auto text_of = [&](const Program& program, bool is_fresh) {
      ++ledger_.report.program_count;
      auto encoding = is_fresh && encoder_.external != nullptr
                          ? Result<Encoding>(encoder_.external->encode_afresh(program, 0))
                          : encode_by(program, 0, encoder_);
      if (!encoding) return encoding.error().message;
      if (encoding->failure) return std::string(word_of(encoding->failure->kind));
      return print(encoding->program);
    };
    for (uint64_t i = 0; i < kRepeatedOnQueues && !is_over(); ++i) {
      const Program program = build(generated(i)).value();
      const std::string first = text_of(program, true);
      const bool is_repeated = text_of(program, true) == first;
      const std::string later = is_over() ? first : text_of(program, false);
      if (is_over()) break;
      if (!is_repeated) {
        ledger_.fail(kDeterministic, "two fresh encoders answer one program differently", program);
      } else if (later != first) {
        ledger_.fail(kNoState, "an encoder that was given other programs answers differently",
                     program);
      } else if (is_failure_word(first)) {
        ledger_.miss(kDeterministic);
        ledger_.miss(kNoState);
        if (first == word_of(EncodeFailureKind::kHang)) break;
      }
    }
    hold(kNoState, fmt::format("{} programs, fresh and after others", kRepeatedOnQueues));
  }

  Result<Success> try_generated() {
    if (is_over() || options_.run_count == 0) return Success{};
    CampaignOptions campaign;
    campaign.queue_encoder = &encoder_;
    campaign.seed = options_.seed;
    campaign.run_count = options_.run_count;
    campaign.job_count = options_.job_count;
    campaign.stop = options_.stop;
    campaign.encoder_flags = options_.encoder_flags;
    auto report = run_campaign(campaign);
    if (!report) return report.error();
    ledger_.report.program_count += report->run_count;
    for (std::string& disagreement : report->disagreements) {
      ledger_.report.disagreements.push_back(std::move(disagreement));
    }
    for (const CampaignFind& find : report->finds) {
      for (const SignatureCount& seen : find.signatures) {
        if (is_failure_word(seen.signature)) ledger_.miss(kOrdersHazards, seen.run_count);
      }
      ledger_.fail(kOrdersHazards, find, fmt::format(" in run {}", find.run_index));
    }
    if (report->was_stopped) return Success{};
    hold(kOrdersHazards, fmt::format("{} generated programs", report->run_count));
    return Success{};
  }

  void try_redundancy() {
    const auto has_redundant = [&](const Program& program) {
      const QueueReport report = judge_on_queues(program, encoder_, 0);
      return !report.failure && report.facts.empty() &&
             !check(report.program).redundant_sync.empty();
    };
    for (uint64_t i = 0; i < kLookedAtOnQueues && !is_over(); ++i) {
      const Program program = build(generated(i)).value();
      const QueueReport report = judged(program, 0);
      if (report.failure) {
        file(kNothingRedundant, program, 0, std::string(word_of(report.failure->kind)), "",
             kQueueEvaluationsMax);
      }
      if (!has_redundant(program)) continue;
      const Program small =
          minimize(draft_of(program), has_redundant,
                   {.evaluation_limit = kQueueEvaluationsMax, .stop = options_.stop})
              .program;
      ledger_.fail(kNothingRedundant,
                   fmt::format("sync that can go, {} dispatch{}", small.dispatches.size(),
                               small.dispatches.size() == 1 ? "" : "es"),
                   judge_on_queues(small, encoder_, 0).program);
      break;
    }
    hold(kNothingRedundant, fmt::format("{} generated programs", kLookedAtOnQueues));
  }

  void try_stream() {
    if (has_stop()) return;
    const uint64_t count = std::min(options_.stream_dispatches, kQueueStreamMax);
    if (count == 0) {
      ledger_.of(kSurvives).detail = "no long program was asked for";
      return;
    }
    const StopScope scope(options_.stop);
    const Program stream = parse(text_of_stream(count, kQueueStreamWindow)).value();
    for (const uint64_t number : kQueueNumbers) {
      if (number > 0 && !encoder_.takes_queue_count) break;
      const QueueReport report = judged(stream, number);
      if (has_stop()) return;
      if (report.failure && report.failure->kind == EncodeFailureKind::kNotAsked) break;
      if (report.failure) {
        ledger_.fail(kSurvives, report.failure->message, stream);
      } else if (!report.facts.empty()) {
        const Fact& fact = report.facts.front();
        ledger_.fail(kSurvives,
                     fmt::format("{} in a stream of {} dispatches",
                                 signature_on_queues(report.program, fact), count),
                     report.program);
      }
    }
    hold(kSurvives, fmt::format("{} dispatches in one program", count));
  }

  void settle() {
    if (ledger_.misses_some() && !ledger_.of(kAnswers).counterexample && !has_stop()) {
      ledger_.of(kAnswers).verdict = ConformVerdict::kFails;
      ledger_.of(kAnswers).detail =
          "some answers were missing that came when they were asked for again";
    }
    for (ConformProperty& property : ledger_.report.properties) {
      if (property.verdict != ConformVerdict::kNotJudged || !property.detail.empty()) continue;
      if (has_stop()) property.detail = "it was stopped";
      if (hangs()) property.detail = "it hangs";
    }
    hold(kAnswers, fmt::format("{} programs", ledger_.report.program_count));
    hold(kDeterministic, fmt::format("{} programs twice", kRepeatedOnQueues));
  }

  QueueEncoderEntry encoder_;
  std::optional<PatientQueueEncoder> patient_;  // What it asks if it is no part of this build.
  const ConformOptions& options_;
  ConformLedger ledger_;
};

}  // namespace

Result<ConformReport> conform_on_queues(const QueueEncoderEntry& encoder,
                                        const ConformOptions& options) {
  return QueueConformance(encoder, options).run();
}

}  // namespace interlock
