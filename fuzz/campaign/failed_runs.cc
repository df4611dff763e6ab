#include "fuzz/campaign/failed_runs.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "encoder/assemble/build.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/campaign/device_tally.h"

namespace interlock {
namespace {

// Programs kept that a device failed on.
constexpr uint64_t kDeviceFailuresMax = 100;

}  // namespace

FailedRuns::FailedRuns(const CampaignOptions& options, const Subject& subject, FileSink sink)
    : options_(options), subject_(subject), sink_(std::move(sink)) {}

Result<Success> FailedRuns::write(const std::string& name, const std::string& text, bool is_told,
                                  std::string& path) const {
  if (options_.out_dir.empty()) return Success{};
  path = path_of_file(options_, name);
  if (is_told && std::filesystem::exists(path)) return Success{};
  return sink_(path, text);
}

Result<std::string> FailedRuns::take(uint64_t run_index, const InternalDisagreement& disagreement,
                                     bool is_told) const {
  std::string message = fmt::format("Run {} of seed {}, stage {}: {}", run_index, options_.seed,
                                    word_of(disagreement.stage), disagreement.message);
  const bool has_program = build(subject_.draft(run_index)).has_value();
  if (!has_program || options_.out_dir.empty()) return message;
  const MinimizedDisagreement minimized =
      subject_.minimized_disagreement(run_index, disagreement.stage);
  const std::string text = file_text_of(options_, minimized.program, run_index, message);
  std::string path;
  auto written = write(fmt::format("disagreement-{}-{}", word_of(disagreement.stage), run_index),
                       text, is_told, path);
  if (!written) return written.error();
  return message + fmt::format(" The program, minimized from {} to {} dispatches: {}.",
                               minimized.original_dispatch_count,
                               minimized.program.dispatches.size(), path);
}

Result<Success> FailedRuns::take(uint64_t run_index, const RunOutcome& outcome,
                                 DeviceSummary& device, bool is_told) const {
  const DeviceReport& run = outcome.device;
  add(device, run, outcome.has_hazard);
  if (run.failure.empty()) return Success{};
  if (device.failure_count++ >= kDeviceFailuresMax) return Success{};
  DeviceFailure failure{run_index, run.failure, ""};
  const std::string text =
      file_text_of(options_, subject_.program(run_index), run_index, run.failure);
  auto written = write(fmt::format("device-failure-{}", run_index), text, is_told, failure.path);
  if (!written) return written;
  device.failures.push_back(std::move(failure));
  if (options_.on_device_failure && !is_told) options_.on_device_failure(device.failures.back());
  return Success{};
}

}  // namespace interlock
