// The basic idea is that a run is a function of (seed, run number). Workers take run numbers from
// blocks of fixed size and only judge; what they find is looked at block by block, in the order of
// run numbers, by one caller: so neither the number of workers nor their pace can be seen.
#include "fuzz/campaign.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "encoder/check.h"
#include "encoder/hash.h"
#include "encoder/program_builder.h"
#include "encoder/text.h"
#include "fuzz/campaign_files.h"
#include "fuzz/evidence.h"
#include "fuzz/minimizer.h"
#include "fuzz/signature.h"
#include "simulator/choice.h"

namespace interlock {
namespace {

constexpr uint64_t kBlockRuns = 256;
// An instance of a bug that no output shows is tried again with later ones, so many times.
constexpr uint64_t kTriesPerSignature = 4;
constexpr std::chrono::milliseconds kProgressPeriod{100};
// A device that fails as often on program after program does not come back.
constexpr uint64_t kDeviceFailuresInARowMax = 5;
// Programs kept that a device failed on.
constexpr uint64_t kDeviceFailuresMax = 100;
// A step of minimization may run a device several times.
constexpr uint64_t kDisagreementEvaluationLimit = 2000;

// Runs of neighbouring seeds and numbers have nothing in common.
uint64_t seed_of_run(uint64_t seed, uint64_t run_index) {
  return scrambled(seed * kGolden64 + run_index + 0x632be59bd9b4e019);
}

// What is kept of one run; most runs leave nothing.
struct RunOutcome {
  bool ran = false;
  bool ran_on_cpu = false;
  std::vector<std::string> signatures;  // Distinct, in the order of the findings.
  std::vector<InternalDisagreement> disagreements;
  bool has_hazard = false;
  DeviceReport device;
};

class CampaignRunner {
 public:
  explicit CampaignRunner(const CampaignOptions& options) : options_(options) {
    options_.oracles.encoder = options.encoder;
  }

  Result<CampaignReport> run();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  bool is_device_given_up() const { return device_failures_in_a_row_ >= kDeviceFailuresInARowMax; }
  bool wants_stop() const {
    const bool is_late =
        options_.seconds > 0 &&
        std::chrono::duration<double>(Clock::now() - start_).count() > options_.seconds;
    return is_stopped() || is_late || is_device_given_up();
  }
  bool has_enough_finds() const {
    return options_.find_limit > 0 && report_.finds.size() >= options_.find_limit;
  }
  RunOutcome judge_run(uint64_t run_index);
  std::vector<RunOutcome> judge_block(uint64_t first_run, uint64_t count);
  Result<Success> take_block(uint64_t first_run, const std::vector<RunOutcome>& outcomes);
  Result<Success> take_signature(uint64_t run_index, const std::string& signature);
  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const;
  Result<Success> save(CampaignFind find);
  Result<Success> save_unobservable();
  Result<Success> write(const std::string& name, const std::string& text, std::string& path) const;
  Result<Success> take_disagreement(uint64_t run_index, const InternalDisagreement& disagreement);
  Result<Success> take_device(uint64_t run_index, const RunOutcome& outcome);
  Program judged_program(uint64_t run_index) const;
  void show_progress(bool is_last);

  CampaignOptions options_;
  CampaignReport report_;
  std::set<std::string> saved_;                     // Signatures.
  std::map<std::string, uint64_t> tries_;           // By signature.
  std::map<std::string, uint64_t> finds_of_shape_;  // By signature without kernels.
  std::map<std::string, CampaignFind> pending_;     // Unobservable ones, by the same.
  std::atomic<uint64_t> device_failures_in_a_row_{0};
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_ = start_;
};

// "WAR-donation" of "WAR-donation-copy-fill": shapes and kernels hold no '-'.
std::string shape_of_signature(const std::string& signature) {
  const size_t kind_end = signature.find('-');
  if (kind_end == std::string::npos) return signature;
  size_t end = signature.find('-', kind_end + 1);
  const bool is_ordered = signature.compare(kind_end + 1, end - kind_end - 1, "ordered") == 0;
  if (is_ordered) end = signature.find('-', end + 1);
  return signature.substr(0, end);
}

RunOutcome CampaignRunner::judge_run(uint64_t run_index) {
  const OracleReport report = judge(draft_of_run(options_, run_index), options_.oracles, run_index);
  RunOutcome outcome;
  outcome.ran = true;
  outcome.ran_on_cpu = report.ran_on_cpu;
  for (const OracleFinding& finding : report.findings) {
    std::string signature = signature_of(report.program, finding);
    const auto& seen = outcome.signatures;
    if (std::find(seen.begin(), seen.end(), signature) == seen.end()) {
      outcome.signatures.push_back(std::move(signature));
    }
  }
  outcome.disagreements = report.disagreements;
  outcome.has_hazard =
      std::any_of(report.findings.begin(), report.findings.end(),
                  [](const OracleFinding& f) { return !f.is_excess && is_hazard(f.kind); });
  outcome.device = report.device;
  if (!report.device.failure.empty()) {
    // A run that a stop cut short is none.
    outcome.ran = !is_stopped();
    if (outcome.ran) ++device_failures_in_a_row_;
  } else if (report.device.ran) {
    device_failures_in_a_row_ = 0;
  }
  return outcome;
}

std::vector<RunOutcome> CampaignRunner::judge_block(uint64_t first_run, uint64_t count) {
  std::vector<RunOutcome> outcomes(count);
  std::atomic<uint64_t> next{0};
  const auto work = [&] {
    for (uint64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      // Taken in order, so what has run is a prefix.
      if (wants_stop()) return;
      outcomes[i] = judge_run(first_run + i);
    }
  };
  std::vector<std::thread> workers;
  for (uint32_t i = 1; i < options_.job_count; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return outcomes;
}

CampaignFind CampaignRunner::minimized_find(uint64_t run_index,
                                            const std::string& signature) const {
  const Program program = build(draft_of_run(options_, run_index)).value();
  const Program encoded = encode_with(program, options_.encoder);
  OracleFinding finding;
  finding.is_excess = true;
  for (const OracleFinding& candidate : find_exactly(encoded)) {
    if (signature_of(encoded, candidate) != signature) continue;
    finding = candidate;
    break;
  }
  MinimizeOptions minimize_options;
  minimize_options.stop = options_.stop;
  const MinimizeReport minimized =
      minimize_finding(program, options_.encoder, finding, minimize_options);
  const Program small = encode_with(minimized.program, options_.encoder);
  Evidence evidence{EvidenceLevel::kExact, finding, {}};
  if (!finding.is_excess) {
    evidence = best_evidence(small, signature, SignatureDetail::kKernels, EvidenceLevel::kBackend,
                             kinds_of_pair(encoded, finding));
  }
  CampaignFind find;
  find.signature = signature;
  find.run_index = run_index;
  find.program = with_evidence(small, evidence.finding);
  find.is_observable = evidence.level >= EvidenceLevel::kShadow;
  find.evaluation_count = minimized.evaluation_count;
  find.original_dispatch_count = program.dispatches.size();
  return find;
}

Result<Success> CampaignRunner::write(const std::string& name, const std::string& text,
                                      std::string& path) const {
  if (options_.out_dir.empty()) return Success{};
  path = (std::filesystem::path(options_.out_dir) / (name + ".ilk")).string();
  return write_file(path, text);
}

Result<Success> CampaignRunner::save(CampaignFind find) {
  find.text = file_text_of(options_, find);
  auto written = write(find.signature, find.text, find.path);
  if (!written) return written;
  saved_.insert(find.signature);
  ++finds_of_shape_[shape_of_signature(find.signature)];
  report_.finds.push_back(std::move(find));
  if (options_.on_find) options_.on_find(report_.finds.back());
  return Success{};
}

Result<Success> CampaignRunner::take_signature(uint64_t run_index, const std::string& signature) {
  const std::string shape = shape_of_signature(signature);
  const bool is_known = saved_.count(signature) > 0 ||
                        finds_of_shape_[shape] >= options_.finds_per_shape ||
                        tries_[signature] >= kTriesPerSignature;
  if (is_known) return Success{};
  ++tries_[signature];
  CampaignFind find = minimized_find(run_index, signature);
  const bool has_damage_to_show = signature != "excess" && !find.program.expectations.empty() &&
                                  is_hazard(find.program.expectations[0].kind);
  if (find.is_observable || !has_damage_to_show) return save(std::move(find));
  pending_.emplace(shape, std::move(find));
  return Success{};
}

Result<Success> CampaignRunner::take_block(uint64_t first_run,
                                           const std::vector<RunOutcome>& outcomes) {
  for (uint64_t i = 0; i < outcomes.size(); ++i) {
    const RunOutcome& outcome = outcomes[i];
    if (!outcome.ran) return Success{};
    ++report_.run_count;
    report_.cpu_run_count += outcome.ran_on_cpu;
    auto device = take_device(first_run + i, outcome);
    if (!device) return device;
    for (const InternalDisagreement& disagreement : outcome.disagreements) {
      auto taken = take_disagreement(first_run + i, disagreement);
      if (!taken) return taken;
    }
    if (!report_.disagreements.empty()) return Success{};
    if (outcome.signatures.empty()) continue;
    ++report_.failing_run_count;
    report_.first_failing_run = std::min(report_.first_failing_run, first_run + i);
    for (const std::string& signature : outcome.signatures) {
      auto taken = take_signature(first_run + i, signature);
      if (!taken) return taken.error();
      if (has_enough_finds()) return Success{};
    }
  }
  return Success{};
}

// The run's program as it was judged.
Program CampaignRunner::judged_program(uint64_t run_index) const {
  return encode_with(build(draft_of_run(options_, run_index)).value(), options_.encoder);
}

Result<Success> CampaignRunner::take_device(uint64_t run_index, const RunOutcome& outcome) {
  const DeviceReport& run = outcome.device;
  DeviceSummary& device = report_.device;
  device.program_count += run.ran;
  device.refused_count += run.is_refused;
  device.schedule_count += run.schedule_count;
  device.predicted_output_count += run.predicted_output_count;
  device.diverging_output_count += run.diverging_output_count;
  device.judged_dispatch_count += run.judged_dispatch_count;
  device.bound_ratio_max = std::max(device.bound_ratio_max, run.bound_ratio_max);
  if (outcome.has_hazard) {
    device.hazard_trial_count += run.overlap_trial_count;
    device.hazard_divergence_count += run.overlap_divergence_count;
    device.hazard_program_count += run.overlap_trial_count > 0;
    device.diverging_program_count += run.overlap_divergence_count > 0;
  } else {
    device.clean_trial_count += run.overlap_trial_count;
  }
  if (run.failure.empty()) return Success{};
  if (device.failure_count++ >= kDeviceFailuresMax) return Success{};
  DeviceFailure failure{run_index, run.failure, ""};
  const std::string text =
      file_text_of(options_, judged_program(run_index), run_index, run.failure);
  auto written = write(fmt::format("device-failure-{}", run_index), text, failure.path);
  if (!written) return written;
  device.failures.push_back(std::move(failure));
  if (options_.on_device_failure) options_.on_device_failure(device.failures.back());
  return Success{};
}

// Keeps the smallest program found on which the same stage disagrees.
Result<Success> CampaignRunner::take_disagreement(uint64_t run_index,
                                                  const InternalDisagreement& disagreement) {
  std::string message = fmt::format("Run {} of seed {}, stage {}: {}", run_index, options_.seed,
                                    word_of(disagreement.stage), disagreement.message);
  const ProgramDraft draft = draft_of_run(options_, run_index);
  const auto program = build(draft);
  if (program && !options_.out_dir.empty()) {
    MinimizeOptions minimize_options;
    minimize_options.stop = options_.stop;
    minimize_options.evaluation_limit = kDisagreementEvaluationLimit;
    const auto disagrees = [&](const Program& p) {
      const OracleReport report = judge(p, options_.oracles, run_index);
      return std::any_of(
          report.disagreements.begin(), report.disagreements.end(),
          [&](const InternalDisagreement& d) { return d.stage == disagreement.stage; });
    };
    const MinimizeReport minimized = minimize(draft, disagrees, minimize_options);
    const std::string text = file_text_of(
        options_, encode_with(minimized.program, options_.encoder), run_index, message);
    std::string path;
    auto written = write(fmt::format("disagreement-{}-{}", word_of(disagreement.stage), run_index),
                         text, path);
    if (!written) return written;
    message += fmt::format(" The program, minimized from {} to {} dispatches: {}.",
                           program->dispatches.size(), minimized.program.dispatches.size(), path);
  }
  report_.disagreements.push_back(std::move(message));
  return Success{};
}

// A shape that no output ever showed is still a find.
Result<Success> CampaignRunner::save_unobservable() {
  for (auto& [shape, find] : pending_) {
    if (finds_of_shape_[shape] > 0 || has_enough_finds()) continue;
    auto saved = save(std::move(find));
    if (!saved) return saved.error();
  }
  return Success{};
}

void CampaignRunner::show_progress(bool is_last) {
  if (!options_.on_progress) return;
  const Clock::time_point now = Clock::now();
  if (!is_last && now - last_progress_ < kProgressPeriod) return;
  last_progress_ = now;
  options_.on_progress({report_.run_count, report_.failing_run_count, report_.finds.size()});
}

Result<CampaignReport> CampaignRunner::run() {
  if (!options_.out_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options_.out_dir, error);
    if (error) {
      return Error{
          fmt::format("The folder '{}' cannot be created: {}.", options_.out_dir, error.message())};
    }
  }
  const uint64_t run_count = options_.seconds > 0 ? UINT64_MAX : options_.run_count;
  for (uint64_t done = 0; done < run_count;) {
    const uint64_t count = std::min(kBlockRuns, run_count - done);
    const uint64_t first_run = options_.first_run + done;
    auto taken = take_block(first_run, judge_block(first_run, count));
    if (!taken) return taken.error();
    done += count;
    show_progress(false);
    if (wants_stop() || has_enough_finds() || !report_.disagreements.empty()) break;
  }
  report_.was_stopped = is_stopped();
  report_.device.is_given_up = is_device_given_up();
  auto saved = save_unobservable();
  if (!saved) return saved.error();
  show_progress(true);
  return std::move(report_);
}

}  // namespace

ProgramDraft draft_of_run(const CampaignOptions& options, uint64_t run_index) {
  SeededChoice choice(seed_of_run(options.seed, run_index));
  GeneratorOptions generator = options.generator;
  // Encoders place their own barriers; programs judged as they stand need some.
  generator.has_barriers = options.encoder == nullptr;
  // Some runtimes allocate per tensor, and encoders that know whole memories only are judged fairly
  // by such programs alone.
  generator.gives_roots_own_memories |= choice.chance(1, 3);
  return generate(choice, generator);
}

Result<CampaignReport> run_campaign(const CampaignOptions& options) {
  return CampaignRunner(options).run();
}

}  // namespace interlock
