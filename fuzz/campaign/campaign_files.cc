#include "fuzz/campaign/campaign_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "backends/interface/backend.h"
#include "encoder/plan/plan_by.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/queue_oracle.h"

namespace interlock {
namespace {

// After the header line, which stays the first.
std::string with_comments(const std::string& text, const std::string& comments) {
  const size_t header_end = text.find('\n') + 1;
  return text.substr(0, header_end) + comments + text.substr(header_end);
}

// Every line of a message becomes a comment.
std::string comment_of(const std::string& message) {
  std::string comment = "# ";
  for (const char c : message) {
    comment += c;
    if (c == '\n') comment += "# ";
  }
  return comment + "\n";
}

// A file lists the signatures of its cause that were seen most often.
constexpr size_t kSignaturesMax = 12;

constexpr std::string_view kFoundWith = "# Found with: ";

// The comments at the head of a file name the command that wrote it.
bool is_written_with(std::ifstream& file, const std::string& command) {
  const std::string start = std::string(kFoundWith) + command;
  std::string line;
  std::getline(file, line);  // The header of the format.
  while (std::getline(file, line) && line.starts_with('#')) {
    if (line.starts_with(start)) return true;
  }
  return false;
}

// A guided run is made of those before it.
std::string one_run(const CampaignOptions& options, uint64_t seed, uint64_t run_index) {
  if (options.is_guided) return fmt::format(" --seed={} --runs={}", seed, run_index + 1);
  return fmt::format(" --seed={} --first-run={} --runs=1", seed, run_index);
}

// Up to a thousand years.
uint64_t milliseconds_of(double seconds) {
  return static_cast<uint64_t>(std::clamp(std::ceil(seconds * 1e3), 1.0, 3e13));
}

// What the find stands for.
std::string cause_comments(const CampaignOptions& options, const CampaignFind& find) {
  if (find.signatures.empty()) return "";
  std::string comments;
  const std::string names = names_of(chain_of(options));
  if (find.cause.probe == print(find.given)) {
    comments += fmt::format("# The cause is {}: nothing wider was found.\n", find.cause.name);
  } else if (!find.cause.probe.empty()) {
    comments +=
        fmt::format("# The cause is {}: {} goes wrong on this already:\n", find.cause.name, names);
    std::istringstream lines(find.cause.probe);
    for (std::string line; std::getline(lines, line);) comments += comment_of("  " + line);
  }
  if (find.signatures.size() == 1 && find.cause.name == find.signature) return comments;
  comments += "# Findings with this cause, by signature:\n";
  size_t count = 0;
  for (const SignatureCount& other : find.signatures) {
    if (++count > kSignaturesMax) break;
    comments += fmt::format("#   {}: in {} program{}\n", other.signature, other.run_count,
                            other.run_count == 1 ? "" : "s");
  }
  if (find.signatures.size() > kSignaturesMax) {
    comments += fmt::format("#   and {} more\n", find.signatures.size() - kSignaturesMax);
  }
  return comments;
}

// " --loss=y --wrt=x,w", of the first statement `backward`.
std::string flags_of_request(const Program& program) {
  const Backward& request = program.backwards.front();
  const auto name = [&](TensorId id) { return program.name(program.tensor(id).name); };
  std::vector<std::string_view> wrt;
  for (const TensorId id : request.wrt) wrt.push_back(name(id));
  return fmt::format(" --loss={} --wrt={}", name(request.loss), fmt::join(wrt, ","));
}

}  // namespace

std::string path_of_file(const CampaignOptions& options, const std::string& name) {
  const std::filesystem::path folder(options.out_dir);
  // Without its seed and run.
  const bool on_device = options.oracles.device.backend != nullptr;
  const auto command_of = [&](bool is_on_device) {
    return command_of_subject(options, is_on_device) + " --seed=";
  };
  for (uint64_t number = 1;; ++number) {
    const std::string suffix = number == 1 ? "" : fmt::format(".{}", number);
    const std::filesystem::path path = folder / (name + suffix + ".ilk");
    for (const bool is_on_device : {false, on_device}) {
      std::ifstream file(path);
      if (!file.is_open() || is_written_with(file, command_of(is_on_device))) return path.string();
    }
  }
}

std::string command_of_subject(const CampaignOptions& options, bool on_device) {
  std::string command = "interlock fuzz" + options.encoder_flags;
  if (on_device) {
    const DeviceOracleOptions& device = options.oracles.device;
    command += fmt::format(" --backend={}", device.backend->name());
    if (device.overlap_trial_count != DeviceOracleOptions{}.overlap_trial_count) {
      command += fmt::format(" --overlap-trials={}", device.overlap_trial_count);
    }
  }
  command += flags_of(chain_of(options));
  if (options.generator.has_queues) command += " --queues";
  if (options.generator.max_dispatches != GeneratorOptions{}.max_dispatches) {
    command += fmt::format(" --max-dispatches={}", options.generator.max_dispatches);
  }
  if (options.oracles.judges_excess) command += " --deny-excess";
  if (options.keeps_all_signatures) command += " --all-signatures";
  if (options.is_guided) command += " --guided";
  if (!options.corpus_name.empty()) command += " --corpus=" + shell_word(options.corpus_name);
  return command;
}

std::string command_of_run(const CampaignOptions& options, uint64_t run_index, bool on_device) {
  return command_of_subject(options, on_device) + one_run(options, options.seed, run_index);
}

std::string command_of_find(const CampaignOptions& options, const CampaignFind& find) {
  return command_of_subject(options, false) + one_run(options, find.seed, find.run_index);
}

JournalCampaign journal_campaign(const CampaignOptions& options) {
  std::string subject = command_of_subject(options, options.oracles.device.backend != nullptr);
  if (options.oracles.device.period != DeviceOracleOptions{}.period) {
    subject += fmt::format(" --device-period={}", options.oracles.device.period);
  }
  // No options of the command line.
  if (options.unguided_run_count != CampaignOptions{}.unguided_run_count) {
    subject += fmt::format(" unguided-runs={}", options.unguided_run_count);
  }
  if (options.finds_per_shape != CampaignOptions{}.finds_per_shape) {
    subject += fmt::format(" finds-per-shape={}", options.finds_per_shape);
  }
  if (options.encoder_digest != 0)
    subject += fmt::format(" digest={:016x}", options.encoder_digest);
  if (options.corpus_digest != 0) subject += fmt::format(" corpus={:016x}", options.corpus_digest);
  const bool ends_by_time = options.seconds > 0;
  return {.seed = options.seed,
          .first_run = options.first_run,
          .run_count = ends_by_time ? 0 : options.run_count,
          .milliseconds = ends_by_time ? milliseconds_of(options.seconds) : 0,
          .find_limit = options.find_limit,
          .subject = std::move(subject),
          .whole_begin = options.whole_begin,
          .whole_end = options.whole_end};
}

std::string command_of_failure(const CampaignOptions& options, const CampaignFind& find,
                               const std::string& path) {
  PassChain chain = chain_of(options);
  const bool is_asked_again = chain.backward != nullptr && chain.backward->external != nullptr &&
                              !find.given.backwards.empty();
  // Of a pass of this build the file says which it is.
  if (!is_asked_again) chain.backward = nullptr;
  const std::string plan_flags = chain.planner != nullptr ? flags_of(find.plan) : "";
  const std::string request = is_asked_again ? flags_of_request(find.given) : "";
  // A campaign asks for another number of queues in each run.
  const uint32_t queue_count =
      chain.queue_encoder != nullptr ? queue_count_of(*chain.queue_encoder, find.run_index) : 0;
  const std::string queues = queue_count > 0 ? fmt::format(" --queues={}", queue_count) : "";
  return "interlock encode" + flags_of(chain) + queues + request + plan_flags +
         options.encoder_flags + " " + path;
}

std::string file_text_of(const CampaignOptions& options, const CampaignFind& find) {
  const std::string names = names_of(chain_of(options));
  std::string comments = fmt::format("# {}{}, minimized from {} to {} dispatches.\n",
                                     find.signature, names.empty() ? "" : " by " + names,
                                     find.original_dispatch_count, find.dispatch_count);
  comments += fmt::format("{}{}\n", kFoundWith, command_of_find(options, find));
  std::string file = std::filesystem::path(find.path).filename().string();
  if (file.empty()) file = find.signature + ".ilk";
  if (!find.program.witness.empty()) {
    comments += fmt::format("# Replay with: interlock replay {}\n", file);
  }
  if (!find.failure.empty()) {
    comments += comment_of(find.failure) +
                comment_of("Again with: " + command_of_failure(options, find, file));
  }
  comments += cause_comments(options, find);
  for (const std::string& note : find.notes) comments += comment_of(note);
  return with_comments(print(find.program), comments);
}

std::string file_text_of(const CampaignOptions& options, const Program& program, uint64_t run_index,
                         const std::string& reason) {
  const bool on_device = options.oracles.device.backend != nullptr;
  return with_comments(
      print(program),
      comment_of(reason) +
          fmt::format("{}{}\n", kFoundWith, command_of_run(options, run_index, on_device)));
}

}  // namespace interlock
