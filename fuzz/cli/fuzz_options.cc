#include "fuzz/cli/fuzz_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/hash.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_encoder.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/merge.h"
#include "fuzz/campaign/progress_line.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/cli/amounts.h"
#include "fuzz/cli/campaign_texts.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/report_files.h"

namespace interlock {
namespace {

constexpr double kDeviceTimeoutMaxSeconds = 86'400;
// Short enough to be typed.
constexpr uint64_t kRandomSeedEnd = 1ull << 40;

Result<Success> check_options(const FuzzOptions& options) {
  const double timeout = options.device_timeout_seconds;
  if (!(timeout > 0 && timeout <= kDeviceTimeoutMaxSeconds)) {  // NaN is neither.
    return error_of("--device-timeout={} is not above 0 and up to {} seconds, a day.", timeout,
                    kDeviceTimeoutMaxSeconds);
  }
  const bool has_device = options.backend != "cpu";
  const std::unique_ptr<Subject> subject = subject_of(options.campaign);
  if (has_device && !subject->runs_on_devices()) {
    return Error{
        "--backend executes programs as they stand, and what an encoder makes; other passes are judged "
        "without a device. Give one of them."};
  }
  if (options.judges_excess && !subject->counts_barriers()) {
    return Error{
        "--deny-excess counts the barriers of an encoder for one queue; campaigns of other passes do not. "
        "Give one of them."};
  }
  if (has_device) return Success{};
  for (const CLI::Option* option : options.of_devices) {
    if (option->count() == 0) continue;
    return error_of(
        "{} is about the device of --backend, and the backend is the cpu, which has none.",
        option->get_name());
  }
  return Success{};
}

// Programs as they stand have hazards, which are nobody's fault: who asks for nothing does not want
// to see those.
Result<Success> check_work(FuzzOptions& options) {
  const auto is_given = [](const CLI::Option* option) { return option->count() > 0; };
  if (std::ranges::any_of(options.of_work, is_given)) return Success{};
  return Error{
      "fuzz needs to know what is put to the test. Give one of these:\n"
      "  --encoder=NAME    an encoder; `interlock list encoders` names them\n"
      "  --planner=NAME    a memory planner; `interlock list planners`\n"
      "  --backward=NAME   a backward pass; `interlock list backwards`\n"
      "  --replay=NAME     a replay policy of captures; `interlock list replays`\n"
      "  --queues          the judges of Interlock, on programs of several queues as they stand\n"
      "  --runs=N          the judges of Interlock, on programs of one queue as they stand"};
}

// Before anything runs for hours.
Result<Success> check_reports(FuzzOptions& options) {
  if (!options.report_paths.empty() && options.campaign.out_dir.empty()) {
    return Error{"--report tells what is in the folder of a campaign. Give --out=DIR, too."};
  }
  return check_report_paths(options.report_paths, options.campaign.out_dir);
}

Result<Success> set_shard(FuzzOptions& options) {
  if (options.shard.empty()) return Success{};
  const size_t slash = options.shard.find('/');
  const auto shard = whole_number_in(options.shard.substr(0, slash));
  const auto count =
      slash == std::string::npos ? std::nullopt : whole_number_in(options.shard.substr(slash + 1));
  if (!shard || !count) {
    return error_of("--shard={} is no part of a number of parts, as 2/5 is.", options.shard);
  }
  return take_shard(options.campaign, *shard, *count);
}

Result<Success> set_amounts(FuzzOptions& options) {
  if (!options.seconds.empty()) {
    const auto seconds = seconds_in(options.seconds);
    if (!seconds) {
      return error_of(
          "--seconds={} is no time: a number above 0, and s, m or h after it, as in 90, 2m or 1.5h.",
          options.seconds);
    }
    options.campaign.seconds = *seconds;
  }
  const CampaignOptions& campaign = options.campaign;
  if (campaign.seconds <= 0 && campaign.run_count > UINT64_MAX - campaign.first_run) {
    return error_of(
        "--first-run={} and --runs={} are more programs than have a number: {} is the last.",
        campaign.first_run, campaign.run_count, UINT64_MAX - 1);
  }
  const auto progress_seconds = seconds_in(options.progress);
  if (!progress_seconds) {
    return error_of("--progress={} is no time, as 30s or 1m is.", options.progress);
  }
  options.progress_seconds = *progress_seconds;
  if (options.seed == "random") {
    std::random_device source;
    options.campaign.seed = (uint64_t{source()} << 32 | source()) % kRandomSeedEnd;
    return set_shard(options);
  }
  const auto seed = whole_number_in(options.seed);
  if (!seed) {
    return error_of("--seed={} is neither a whole number of 64 bits nor `random`.", options.seed);
  }
  options.campaign.seed = *seed;
  return set_shard(options);
}

// Before the passes are opened: an error of the command line costs nothing.
Result<Success> check_guided(FuzzOptions& options) {
  const CampaignOptions& campaign = options.campaign;
  if (!campaign.is_guided) {
    if (options.corpus.empty()) return Success{};
    return Error{"--corpus is what a guided campaign begins with. Give --guided, too."};
  }
  const PassNames& passes = options.passes;
  const bool is_of_encoder = !passes.encoder.empty() && passes.backward.empty() &&
                             passes.replay.empty() && passes.planner.empty() &&
                             !campaign.generator.has_queues && options.backend == "cpu";
  if (!is_of_encoder) {
    return Error{
        "--guided is for campaigns of an encoder, without other passes and without a device."};
  }
  if (!options.shard.empty() || campaign.first_run > 0) {
    return Error{
        "--guided makes each program of those that came before, so it begins with the first one, and no "
        "part of its runs can be made elsewhere: it takes no --shard and no --first-run. Give each machine "
        "another --seed."};
  }
  return Success{};
}

// What encoders for several queues take of programs of one.
Result<Success> check_for_queues(const Program& program) {
  if (auto checked = check_count(program); !checked) return checked;
  return check_host_work_of_no_queue(program);
}

Result<Success> set_corpus(FuzzOptions& options) {
  if (options.corpus.empty()) return Success{};
  const QueueEncoderEntry* const queue_encoder = options.campaign.queue_encoder;
  auto corpus = read_corpus(options.corpus, queue_encoder != nullptr ? check_for_queues : nullptr);
  if (!corpus) return corpus.error();
  options.campaign.corpus = std::move(corpus->programs);
  options.campaign.corpus_digest = corpus->digest;
  options.campaign.corpus_name = options.corpus;
  return Success{};
}

// 0 if all of them are of this build.
uint64_t digest_of_passes(const PassNames& names) {
  uint64_t digest = 0;
  for (const std::string& name : {names.backward, names.replay, names.planner, names.encoder}) {
    if (!is_external_name(name)) continue;
    const uint64_t of_pass = digest_of_external(name);
    digest = digest == 0 ? of_pass : fnv1a(digest, fmt::format("{:016x}", of_pass));
  }
  return digest;
}

Result<Success> set_passes(FuzzOptions& options) {
  if (!options.passes.backward.empty() && !options.passes.replay.empty()) {
    return Error{"--backward and --replay are tried on different programs; give one of them."};
  }
  PassNames names = options.passes;
  if (auto checked = check_queue_kind(options.external, names.encoder); !checked) return checked;
  const bool is_for_queues = !options.external.queue_kind.empty();
  const bool is_alone = names.backward.empty() && names.replay.empty() && names.planner.empty();
  if (is_for_queues && !is_alone) {
    return error_of("an encoder for several queues that is a command is tried alone: '{}'.",
                    names.encoder);
  }
  const QueueEncoderEntry* const queue_encoder = find_queue_encoder(names.encoder);
  const bool is_of_one_queue = !names.backward.empty() || !names.replay.empty();
  if (queue_encoder != nullptr && is_of_one_queue) {
    return error_of(
        "the encoder '{}' places sync for several queues, and is tried alone or before a planner.",
        names.encoder);
  }
  if (queue_encoder != nullptr && queue_encoder->is_of_one_queue && !names.planner.empty()) {
    return error_of(
        "the encoder '{}' has one queue, and planners are tried after encoders for several; it is "
        "tried alone.",
        names.encoder);
  }
  const bool has_programs = names.planner.empty() && names.encoder.empty();
  const bool has_planner =
      !names.planner.empty() && (names.encoder.empty() || queue_encoder != nullptr);
  if (options.campaign.generator.has_queues &&
      (is_of_one_queue || !(has_programs || has_planner))) {
    return Error{
        "--queues judges programs with sync of their own, as they stand, or a planner on several "
        "queues. It takes no other pass, and before a planner alone an encoder, for several queues."};
  }
  CampaignOptions& campaign = options.campaign;
  campaign.queue_encoder = queue_encoder;
  if (queue_encoder != nullptr) names.encoder.clear();
  const Result<PassChain> passes = find_passes(names, options.external);
  if (!passes) return passes.error();
  campaign.encoder_flags = options.external.flags();
  campaign.encoder_digest = digest_of_passes(names);
  if (passes->planner != nullptr) {
    const PlannerEntry& planner = *passes->planner;
    const bool is_planner_alone =
        names.encoder.empty() && names.backward.empty() && names.replay.empty();
    campaign.generator.has_queues |=
        queue_encoder != nullptr || (is_planner_alone && planner.is_for_queues);
    if (campaign.generator.has_queues && !planner.takes_queues) {
      return error_of("the planner '{}' plans programs of one queue, and these have several.",
                      planner.name);
    }
    if (planner.is_for_queues && planner.is_broken && !campaign.generator.has_queues) {
      return error_of(
          "the planner '{}' is wrong on several queues alone, and with these passes there is one.",
          planner.name);
    }
  }
  campaign.backward = passes->backward;
  campaign.replay = passes->replay;
  campaign.planner = passes->planner;
  campaign.encoder = passes->encoder;
  if (passes->queue_encoder != nullptr) campaign.queue_encoder = passes->queue_encoder;
  return Success{};
}

void add_device_options(CLI::App& command, FuzzOptions& options) {
  DeviceOracleOptions& device = options.campaign.oracles.device;
  options.of_devices = {
      add_number(command, "--device-period", device.period,
                 "with --backend: executes 1 in so many programs there", 1),
      add_number(command, "--overlap-trials", device.overlap_trial_count,
                 "with --backend: runs of each program with its own sync and no more", 0,
                 1'000'000),
      command
          .add_option("--device-timeout", options.device_timeout_seconds,
                      "with --backend: seconds without an answer until the device is started anew")
          ->capture_default_str(),
      command.add_option(
          "--worker", options.worker,
          "with --backend: another command than `interlock serve` that owns the device")};
}

}  // namespace

Result<Success> set_campaign(FuzzOptions& options) {
  for (const auto set :
       {check_work, check_reports, set_amounts, check_guided, set_passes, set_corpus}) {
    auto done = set(options);
    if (!done) return done;
  }
  CampaignOptions& campaign = options.campaign;
  campaign.generator.has_barriers = campaign.encoder == nullptr;
  campaign.oracles.judges_excess = options.judges_excess;
  return check_options(options);
}

void tell_of_campaign(FuzzOptions& options) {
  CampaignOptions& campaign = options.campaign;
  if (options.is_quiet) return;
  campaign.on_recall = [&campaign](const CampaignProgress& progress) {
    show_progress(text_of_recall(progress, campaign), true);
  };
  // For who looks on a line that is rewritten, for a log one now and then.
  using Clock = std::chrono::steady_clock;
  campaign.on_progress = [&options, last = Clock::now()](const CampaignProgress& progress) mutable {
    if (is_progress_rewritten()) return show_progress(progress_line(progress));
    const std::chrono::duration<double> passed = Clock::now() - last;
    if (passed.count() < options.progress_seconds) return;
    last = Clock::now();
    show_progress(progress_line(progress), true);
  };
  campaign.on_find = [&options](const CampaignFind& find) {
    show_progress(text_of(find, options.campaign, options.is_verbose), true);
  };
  campaign.on_device_failure = [&campaign](const DeviceFailure& failure) {
    show_progress(text_of(failure, campaign), true);
  };
}

void add_telling_options(CLI::App& command, FuzzOptions& options) {
  command
      .add_option("--progress", options.progress,
                  "where standard error is no terminal: the time between two lines of progress")
      ->capture_default_str();
  CLI::Option* const quiet = command.add_flag("-q,--quiet", options.is_quiet,
                                              "one line at the end, and nothing before it");
  command.add_flag("-v,--verbose", options.is_verbose, "each find with its program")
      ->excludes(quiet);
  add_report_option(command, "--report", options.report_paths);
}

void add_fuzz_options(CLI::App& command, FuzzOptions& options) {
  CampaignOptions& campaign = options.campaign;
  options.of_work = {
      command.add_option("--encoder", options.passes.encoder,
                         "the encoder under test, exec:COMMAND for a process, lib:FILE for a "
                         "library; without it programs with sync of their own"),
      command.add_flag(
          "--queues", campaign.generator.has_queues,
          "programs of several queues, semaphores, events, edges and the host, as they stand; with "
          "--planner that planner on several queues"),
      command.add_option(
          "--backward", options.passes.backward,
          "the backward pass under test, on random forward passes; exec:COMMAND for a "
          "process"),
      command.add_option(
          "--replay", options.passes.replay,
          "the replay policy under test, on random programs with captures; exec:COMMAND "
          "for a process"),
      command.add_option(
          "--planner", options.passes.planner,
          "the planner under test, on unplanned programs, exec:COMMAND for a process; `interlock` places the sync unless --encoder is given; "
          "one for several queues comes first"),
      command
          .add_option("--backend", options.backend,
                      "executes the programs on this one, too, and compares")
          ->capture_default_str(),
      command
          .add_option("--seed", options.seed,
                      "same seed, same programs, same files; random: another one each time, which "
                      "is printed")
          ->capture_default_str(),
      add_number(command, "--runs", campaign.run_count, "how many programs, as in 20000 or 1e6", 1),
      add_number(command, "--first-run", campaign.first_run, "number of the first program"),
      command
          .add_option("--seconds", options.seconds,
                      "instead of --runs: for how long, as in 90, 2m or 1.5h")
          ->excludes("--runs")};
  command.add_option("--shard", options.shard,
                     "I/N: part I of N of the runs, which `interlock merge` puts together again");
  command.add_flag("--guided", campaign.is_guided,
                   "programs that reach what none before them has are kept, in DIR/parents, and "
                   "mutated; of an encoder");
  command.add_option("--corpus", options.corpus,
                     "with --guided: programs of yours that it begins with, a file or a folder");
  add_number(command, "--jobs", campaign.job_count, "worker threads; files do not depend on it", 1,
             256);
  command.add_option(
      "--out", campaign.out_dir,
      "folder for minimized finds, none without it; and a journal, so that the same command "
      "goes on where it was ended, and others add to what was found");
  add_exec_options(command, options.external);
  add_queue_kind(command, options.external);
  add_telling_options(command, options);
  add_number(command, "--max-finds", campaign.find_limit,
             "stop after so many distinct finds; 0: never");
  add_number(command, "--max-dispatches", campaign.generator.max_dispatches, "of one program", 1,
             1024);
  command.add_flag("--all-signatures", campaign.keeps_all_signatures,
                   "one file per signature instead of one per cause");
  add_device_options(command, options);
  command.add_flag("--deny-excess", options.judges_excess,
                   "more barriers than the proven minimum is a finding too");
}

}  // namespace interlock
