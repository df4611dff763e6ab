// The basic idea is that a run is a function of (seed, run number). Workers take run numbers and
// only judge; what they find is looked at in blocks of fixed size, in the order of run numbers, by
// one caller: so neither the number of workers nor their pace can be seen. Workers wait for each
// other after a number of blocks that grows, so that the first find is not waited for and the last
// runs of a block are not, either. What is made of the blocks is a fold over them: in a folder a
// journal keeps each before it is taken, and a campaign that goes on takes those again.
#include "fuzz/campaign/campaign.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "encoder/program/error_of.h"
#include "fuzz/campaign/campaign_folder.h"
#include "fuzz/campaign/failed_runs.h"
#include "fuzz/campaign/find_keeper.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/campaign/run_ranges.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/campaign/workers.h"

namespace interlock {
namespace {

constexpr uint64_t kBlockRuns = 256;
constexpr uint64_t kDispatchesAfterStopMax = 64;
constexpr std::chrono::milliseconds kProgressPeriod{100};
// A device that fails as often on program after program does not come back.
constexpr uint64_t kDeviceFailuresInARowMax = 5;

class CampaignRunner final : public Recall {
 public:
  explicit CampaignRunner(const CampaignOptions& options) : options_(options) {
    options_.oracles.encoder = options.encoder;
    options_.guide = guide_.get();
    const bool is_external = options.encoder != nullptr && options.encoder->external != nullptr;
    if (guide_ != nullptr && is_external) options.encoder->external->collect_branches();
  }

  Result<CampaignReport> run() {
    const StopScope to_the_end(nullptr);  // What was found is put away whole.
    if (!options_.out_dir.empty()) {
      auto opened = open_folder();
      if (!opened) return opened.error();
    }
    report_.was_stopped = is_recalling_;
    if (!is_recalling_) {
      auto rest = run_rest();
      if (!rest) return rest.error();
    }
    for (size_t i = 0; i < report_.finds.size(); ++i) {
      report_.finds[i].is_known = !keeper_.is_of_campaign(i, 0);
    }
    if (guide_ != nullptr) {
      report_.cell_count = guide_->cells().size();
      report_.parent_count = guide_->parent_count();
      report_.branch_cell_count = guide_->branch_cell_count();
      const uint64_t first_runs = guide_->first_generation_runs();
      if (guide_->waits_for_count(first_runs)) report_.uncounted_run_count = first_runs;
    }
    show_progress(true);
    return std::move(report_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool has_stop() const { return options_.stop != nullptr && options_.stop->is_requested(); }
  bool is_device_given_up() const { return device_failures_in_a_row_ >= kDeviceFailuresInARowMax; }
  std::chrono::nanoseconds spent_time() const { return spent_ + (Clock::now() - start_); }
  static double seconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  }
  bool wants_stop() const {
    const bool is_late = options_.seconds > 0 && seconds_of(spent_time()) > options_.seconds;
    return has_stop() || is_late || is_device_given_up() || is_given_up_;
  }
  // After a stop finds are no longer minimized: those in small programs are kept as they are.
  bool is_put_away_soon() const {
    // A pass outside of this process is asked nothing any more.
    const bool is_external = has_external_pass(chain_of(options_));
    return options_.generator.max_dispatches <= kDispatchesAfterStopMax && !is_external;
  }

  // --- The folder -------------------------------------------------------------------------------

  // Takes again what campaigns of this subject came to. Where a stop ended that, what is known is
  // not all, and nothing may be written.
  Result<Success> open_folder() {
    auto folder = CampaignFolder::open(options_);
    if (!folder) return folder.error();
    folder_ = std::move(*folder);
    is_recalling_ = true;
    keeper_.begin_recall();
    auto recalled = folder_->recall(*this, options_.stop);
    if (!recalled || has_stop()) return recalled;
    is_recalling_ = false;
    auto written = keeper_.end_recall();
    if (written && guide_ != nullptr) written = guide_->end_recall();
    if (!written) return written;
    folder_->remove_provisional_files({&report_, &others_});
    if (options_.on_recall && (report_.run_count > 0 || !report_.finds.empty())) {
      options_.on_recall(progress());
    }
    return Success{};
  }

  void begin_campaign(const JournalCampaign& campaign, size_t index) override {
    has_own_seed_ = campaign.seed == own_seed_;
    options_.seed = campaign.seed;
    options_.find_limit = campaign.find_limit;
    keeper_.begin_campaign(index);
    tally_ = index == 0 ? &report_ : &others_;
  }

  Result<Success> take_again(const JournalBlock& block) override {
    const uint64_t end = block.first_run + block.outcomes.size();
    if (has_own_seed_ && done_.free_count(block.first_run, end) != block.outcomes.size()) {
      return folder_->told_twice(block.first_run);
    }
    const uint64_t run_count = tally_->run_count;
    auto taken = take_block(block.first_run, block.outcomes);
    if (!taken) return taken;
    if (has_own_seed_) done_.add(block.first_run, tally_->run_count - run_count);
    if (tally_ != &report_) return Success{};
    spent_ = std::chrono::milliseconds(block.milliseconds);
    is_finished_ = keeper_.has_enough_with_pending(block.first_run + block.outcomes.size());
    return Success{};
  }

  Result<Success> end_again() override {
    if (tally_ == &report_) report_.was_complete = is_ended_ = true;
    return keeper_.finish();
  }

  // Before it is taken. A block that a stop cut short is judged again, and so is one in which
  // methods disagree.
  Result<Success> record_block(uint64_t first_run, std::span<const RunOutcome> outcomes,
                               bool is_whole) {
    const bool disagrees = std::ranges::any_of(
        outcomes, [](const RunOutcome& outcome) { return !outcome.disagreements.empty(); });
    if (folder_ == nullptr || disagrees || (!is_whole && has_stop())) return Success{};
    JournalBlock block{first_run, {outcomes.begin(), outcomes.end()}, 0};
    if (options_.seconds > 0) {
      const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(spent_time());
      block.milliseconds = static_cast<uint64_t>(spent.count() + 1);
    }
    return folder_->append(block);
  }

  Result<Success> put_file(const std::string& path, const std::string& text) {
    return folder_->write(path, text, has_stop() && !is_ended_ && !is_recalling_);
  }

  // --- The runs ---------------------------------------------------------------------------------

  // Those that no campaign of the folder has made, and what they leave.
  Result<Success> run_rest() {
    const uint64_t first_run = options_.first_run;
    const uint64_t run_count = options_.seconds > 0 ? UINT64_MAX : options_.run_count;
    const uint64_t end = first_run + std::min(run_count, UINT64_MAX - first_run);
    uint64_t ahead_runs = kBlockRuns;
    recalled_run_count_ = report_.run_count;
    if (options_.seconds <= 0) {
      planned_run_count_ = recalled_run_count_ + done_.free_count(first_run, end);
    }
    start_ = last_new_ = Clock::now();
    if (options_.next_block && !is_ended_) {
      auto taken = take_blocks();
      if (!taken) return taken;
    }
    for (uint64_t run = done_.next_free(first_run);
         !options_.next_block && run < end && !is_ended_ && !is_finished_ && !wants_stop();
         run = done_.next_free(run)) {
      auto ready = make_ready(run);
      if (!ready) return ready;
      const Clock::time_point start = Clock::now();
      const uint64_t at_once =
          std::min(ahead_runs, guide_ != nullptr ? guide_->runs_at_once(run) : UINT64_MAX);
      const uint64_t count = std::min(at_once, std::min(end, done_.end_of_free(run)) - run);
      auto taken = take_runs(run, count, judge_runs(run, count));
      if (!taken) return taken;
      run += count;
      // A device that fails is given up after so many programs in a row, and no later.
      const bool may_grow = options_.oracles.device.backend == nullptr && count == ahead_runs;
      const auto taken_time = Clock::now() - start;
      if (may_grow && taken_time < kProgressPeriod / 2) ahead_runs *= 2;
      if (taken_time > 2 * kProgressPeriod) ahead_runs = std::max(kBlockRuns, ahead_runs / 2);
    }
    report_.was_stopped = has_stop();
    report_.device.is_given_up = is_device_given_up();
    report_.is_given_up = is_given_up_;
    const bool is_over = !report_.was_stopped && !report_.device.is_given_up && !is_given_up_ &&
                         report_.disagreements.empty();
    if (folder_ != nullptr && is_over && !is_ended_) {
      is_ended_ = true;
      auto ended = folder_->append(JournalEnd{});
      if (!ended) return ended;
    }
    return keeper_.finish();
  }

  // What runs up to this one are made of.
  Result<Success> make_ready(uint64_t run_index) {
    if (guide_ == nullptr || !guide_->waits_for_count(run_index)) return Success{};
    return guide_->count_first_generation(*subject_, is_recalling_);
  }

  // Of runs that were judged elsewhere.
  Result<Success> take_blocks() {
    while (!has_stop()) {
      auto block = options_.next_block();
      if (!block) return block.error();
      if (!*block) break;
      const uint64_t first_run = (*block)->first_run;
      const uint64_t end = first_run + (*block)->outcomes.size();
      for (uint64_t run = done_.next_free(first_run); run < end; run = done_.next_free(run)) {
        const uint64_t count = std::min(end, done_.end_of_free(run)) - run;
        const auto outcomes = std::span((*block)->outcomes).subspan(run - first_run, count);
        auto recorded = record_block(run, outcomes, true);
        if (!recorded) return recorded;
        auto taken = take_block(run, outcomes);
        if (!taken) return taken;
        run += count;
      }
      show_progress(false);
    }
    return Success{};
  }

  RunOutcome judge(uint64_t run_index) {
    const StopScope scope(options_.stop);
    RunOutcome outcome = subject_->judge(run_index);
    if (has_stop()) {
      outcome.ran = false;  // A run that a stop cut short is none.
    } else if (outcome.is_not_asked) {
      is_given_up_ = true;
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
    if (guide_ != nullptr) guide_->keep_only_new(outcomes);
    return outcomes;
  }

  // Block by block; after one that ends the campaign the rest is as if it had never run.
  Result<Success> take_runs(uint64_t first_run, uint64_t run_count,
                            std::span<const RunOutcome> outcomes) {
    const uint64_t end = first_run + run_count;
    while (!outcomes.empty() && !is_finished_) {
      const size_t count = std::min<size_t>(kBlockRuns, outcomes.size());
      const bool is_whole = count == std::min(kBlockRuns, end - first_run);
      auto recorded = record_block(first_run, outcomes.first(count), is_whole);
      if (!recorded) return recorded;
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
    auto ready = make_ready(first_run + outcomes.size() - 1);
    if (!ready) return ready;
    const bool is_ready =
        guide_ == nullptr || !guide_->waits_for_count(first_run + outcomes.size() - 1);
    if (!is_ready) return Success{};  // A stop came.
    for (uint64_t i = 0; i < outcomes.size(); ++i) {
      const RunOutcome& outcome = outcomes[i];
      if (has_stop() && !is_put_away_soon()) return Success{};
      ++tally_->run_count;
      tally_->cpu_run_count += outcome.ran_on_cpu;
      auto device = failed_runs_.take(first_run + i, outcome, tally_->device, is_recalling_);
      if (!device) return device;
      // After a stop nothing goes on from a parent; that which the journal tells is written when it
      // is read.
      if (guide_ != nullptr && (is_recalling_ || !has_stop())) {
        auto kept = guide_->take(first_run + i, outcome, *subject_, is_recalling_);
        if (!kept) return kept;
      }
      for (const InternalDisagreement& disagreement : outcome.disagreements) {
        auto taken = failed_runs_.take(first_run + i, disagreement, is_recalling_);
        if (!taken) return taken.error();
        report_.disagreements.push_back(std::move(*taken));
      }
      if (!report_.disagreements.empty()) return Success{};
      if (outcome.signatures.empty()) continue;
      ++tally_->failing_run_count;
      for (const std::string& signature : outcome.signatures) {
        if (has_stop() && !is_put_away_soon()) return Success{};
        auto taken = keeper_.take(first_run + i, signature);
        if (!taken) return taken.error();
        if (keeper_.has_enough()) return Success{};
      }
    }
    return Success{};
  }

  void show_progress(bool is_last) {
    if (!options_.on_progress) return;
    const Clock::time_point now = Clock::now();
    if (!is_last && now - last_progress_ < kProgressPeriod) return;
    last_progress_ = now;
    options_.on_progress(progress());
  }

  CampaignProgress progress() {
    const auto seconds_since = [now = Clock::now()](auto time) { return seconds_of(now - time); };
    const uint64_t cell_count =
        guide_ != nullptr ? guide_->cells().size() : keeper_.signature_count();
    const size_t known_count = cell_count + report_.finds.size();
    if (known_count != known_count_) last_new_ = Clock::now();
    known_count_ = known_count;
    return {.run_count = report_.run_count,
            .planned_run_count = planned_run_count_,
            .failing_run_count = report_.failing_run_count,
            .find_count = report_.finds.size(),
            .findings = keeper_.findings(),
            .cell_count = cell_count,
            .seconds = seconds_since(start_),
            .judged_run_count = report_.run_count - recalled_run_count_,
            .seconds_left = std::max(0.0, options_.seconds - seconds_of(spent_time())),
            .seconds_since_new = seconds_since(last_new_)};
  }

  CampaignOptions options_;
  CampaignReport report_;
  const std::unique_ptr<Guide> guide_ =
      options_.is_guided ? std::make_unique<Guide>(options_) : nullptr;
  const std::unique_ptr<Subject> subject_ = subject_of(options_);
  FindKeeper keeper_{
      options_, *subject_, report_.finds,
      [this](const std::string& path, const std::string& text) { return put_file(path, text); }};
  const FailedRuns failed_runs_{
      options_, *subject_,
      [this](const std::string& path, const std::string& text) { return put_file(path, text); }};
  Workers workers_{options_.job_count};
  bool is_finished_ = false;  // Enough was found.
  std::unique_ptr<CampaignFolder> folder_;
  bool is_recalling_ = false;
  bool is_ended_ = false;  // So the journal says.
  const uint64_t own_seed_ = options_.seed;
  bool has_own_seed_ = true;           // The campaign that is recalled.
  CampaignReport others_;              // Of the other campaigns.
  CampaignReport* tally_ = &report_;   // Where runs are counted that are taken.
  RunRanges done_;                     // Runs of this seed.
  std::chrono::nanoseconds spent_{0};  // In earlier processes.
  std::atomic<uint64_t> device_failures_in_a_row_{0};
  std::atomic<bool> is_given_up_{false};  // As in CampaignReport.
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_ = start_;
  Clock::time_point last_new_ = start_;
  size_t known_count_ = 0;           // Signatures and finds, when progress was last told.
  uint64_t planned_run_count_ = 0;   // As in CampaignProgress.
  uint64_t recalled_run_count_ = 0;  // Of this campaign.
};

}  // namespace

Result<CampaignReport> run_campaign(const CampaignOptions& options) {
  return CampaignRunner(options).run();
}

}  // namespace interlock
