// The basic idea is that a run is a function of (seed, run number). Workers take run numbers and
// only judge; what they find is looked at in blocks of fixed size, in the order of run numbers, by
// one caller: so neither the number of workers nor their pace can be seen. Workers wait for each
// other after a number of blocks that grows, so that the first find is not waited for and the last
// runs of a block are not, either.
#include "fuzz/campaign/campaign.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "encoder/assemble/build.h"
#include "encoder/program/error_of.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/campaign/find_keeper.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/campaign/workers.h"

namespace interlock {
namespace {

constexpr uint64_t kBlockRuns = 256;
constexpr uint64_t kDispatchesAfterStopMax = 64;
constexpr std::chrono::milliseconds kProgressPeriod{100};
// A device that fails as often on program after program does not come back.
constexpr uint64_t kDeviceFailuresInARowMax = 5;
// Programs kept that a device failed on.
constexpr uint64_t kDeviceFailuresMax = 100;

class CampaignRunner {
 public:
  explicit CampaignRunner(const CampaignOptions& options) : options_(options) {
    options_.oracles.encoder = options.encoder;
  }

  Result<CampaignReport> run() {
    const StopScope to_the_end(nullptr);  // What was found is put away whole.
    if (!options_.out_dir.empty()) {
      std::error_code error;
      std::filesystem::create_directories(options_.out_dir, error);
      if (error) {
        return error_of("The folder '{}' cannot be created: {}.", options_.out_dir,
                        error.message());
      }
      remove_abandoned_files(options_.out_dir);
    }
    const uint64_t run_count = options_.seconds > 0 ? UINT64_MAX : options_.run_count;
    uint64_t ahead_runs = kBlockRuns;
    for (uint64_t done = 0; done < run_count && !is_finished_ && !wants_stop();) {
      const Clock::time_point start = Clock::now();
      const uint64_t count = std::min(ahead_runs, run_count - done);
      const uint64_t first_run = options_.first_run + done;
      auto taken = take_runs(first_run, judge_runs(first_run, count));
      if (!taken) return taken.error();
      done += count;
      // A device that fails is given up after so many programs in a row, and no later.
      const bool may_grow = options_.oracles.device.backend == nullptr;
      const auto taken_time = Clock::now() - start;
      if (may_grow && taken_time < kProgressPeriod / 2) ahead_runs *= 2;
      if (taken_time > 2 * kProgressPeriod) ahead_runs = std::max(kBlockRuns, ahead_runs / 2);
    }
    report_.was_stopped = has_stop();
    report_.device.is_given_up = is_device_given_up();
    auto saved = keeper_.finish();
    if (!saved) return saved.error();
    show_progress(true);
    return std::move(report_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool has_stop() const { return options_.stop != nullptr && options_.stop->is_requested(); }
  bool is_device_given_up() const { return device_failures_in_a_row_ >= kDeviceFailuresInARowMax; }
  bool wants_stop() const {
    const bool is_late =
        options_.seconds > 0 &&
        std::chrono::duration<double>(Clock::now() - start_).count() > options_.seconds;
    return has_stop() || is_late || is_device_given_up();
  }
  // After a stop finds are no longer minimized: those in small programs are kept as they are.
  bool is_put_away_soon() const {
    return options_.generator.max_dispatches <= kDispatchesAfterStopMax;
  }

  RunOutcome judge(uint64_t run_index) {
    const StopScope scope(options_.stop);
    RunOutcome outcome = subject_->judge(run_index);
    if (has_stop()) {
      outcome.ran = false;  // A run that a stop cut short is none.
    } else if (!outcome.device.failure.empty()) {
      ++device_failures_in_a_row_;
    } else if (outcome.device.ran) {
      device_failures_in_a_row_ = 0;
    }
    return outcome;
  }

  // Where a stop cuts them short, those before the first that has not run.
  std::vector<RunOutcome> judge_runs(uint64_t first_run, uint64_t count) {
    std::vector<RunOutcome> outcomes(count);
    struct {
      alignas(kCacheLineBytes) std::atomic<uint64_t> run{0};
    } next;  // Nothing else is in its cache line.
    const auto work = [&] {
      for (uint64_t i = next.run.fetch_add(1); i < count; i = next.run.fetch_add(1)) {
        if (wants_stop()) return;
        outcomes[i] = judge(first_run + i);
      }
    };
    workers_.run(work);
    outcomes.resize(static_cast<size_t>(std::ranges::find(outcomes, false, &RunOutcome::ran) -
                                        outcomes.begin()));
    return outcomes;
  }

  // Block by block; after one that ends the campaign the rest is as if it had never run.
  Result<Success> take_runs(uint64_t first_run, std::span<const RunOutcome> outcomes) {
    while (!outcomes.empty() && !is_finished_) {
      const size_t count = std::min<size_t>(kBlockRuns, outcomes.size());
      auto taken = take_block(first_run, outcomes.first(count));
      if (!taken) return taken;
      first_run += count;
      outcomes = outcomes.subspan(count);
      show_progress(false);
      is_finished_ = keeper_.has_enough_with_pending(first_run) || !report_.disagreements.empty();
    }
    return Success{};
  }

  Result<Success> take_block(uint64_t first_run, std::span<const RunOutcome> outcomes) {
    for (uint64_t i = 0; i < outcomes.size(); ++i) {
      const RunOutcome& outcome = outcomes[i];
      if (has_stop() && !is_put_away_soon()) return Success{};
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
      for (const std::string& signature : outcome.signatures) {
        if (has_stop() && !is_put_away_soon()) return Success{};
        auto taken = keeper_.take(first_run + i, signature);
        if (!taken) return taken.error();
        if (keeper_.has_enough()) return Success{};
      }
    }
    return Success{};
  }

  Result<Success> write(const std::string& name, const std::string& text, std::string& path) const {
    if (options_.out_dir.empty()) return Success{};
    path = path_of_file(options_, name);
    return write_file(path, text);
  }

  // Keeps the smallest program found on which the same stage disagrees.
  Result<Success> take_disagreement(uint64_t run_index, const InternalDisagreement& disagreement) {
    std::string message = fmt::format("Run {} of seed {}, stage {}: {}", run_index, options_.seed,
                                      word_of(disagreement.stage), disagreement.message);
    const bool has_program = build(subject_->draft(run_index)).has_value();
    if (has_program && !options_.out_dir.empty()) {
      const MinimizedDisagreement minimized =
          subject_->minimized_disagreement(run_index, disagreement.stage);
      const std::string text = file_text_of(options_, minimized.program, run_index, message);
      std::string path;
      auto written = write(
          fmt::format("disagreement-{}-{}", word_of(disagreement.stage), run_index), text, path);
      if (!written) return written;
      message +=
          fmt::format(" The program, minimized from {} to {} dispatches: {}.",
                      minimized.original_dispatch_count, minimized.program.dispatches.size(), path);
    }
    report_.disagreements.push_back(std::move(message));
    return Success{};
  }

  Result<Success> take_device(uint64_t run_index, const RunOutcome& outcome) {
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
        file_text_of(options_, subject_->program(run_index), run_index, run.failure);
    auto written = write(fmt::format("device-failure-{}", run_index), text, failure.path);
    if (!written) return written;
    device.failures.push_back(std::move(failure));
    if (options_.on_device_failure) options_.on_device_failure(device.failures.back());
    return Success{};
  }

  void show_progress(bool is_last) {
    if (!options_.on_progress) return;
    const Clock::time_point now = Clock::now();
    if (!is_last && now - last_progress_ < kProgressPeriod) return;
    last_progress_ = now;
    options_.on_progress({report_.run_count, report_.failing_run_count, report_.finds.size()});
  }

  CampaignOptions options_;
  CampaignReport report_;
  const std::unique_ptr<Subject> subject_ = subject_of(options_);
  FindKeeper keeper_{options_, *subject_, report_.finds};
  Workers workers_{options_.job_count};
  bool is_finished_ = false;  // Enough was found.
  std::atomic<uint64_t> device_failures_in_a_row_{0};
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_ = start_;
};

}  // namespace

Result<CampaignReport> run_campaign(const CampaignOptions& options) {
  return CampaignRunner(options).run();
}

}  // namespace interlock
