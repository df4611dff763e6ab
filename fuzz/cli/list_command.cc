// interlock list: what can be named on the command line and in programs.
#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/registry.h"
#include "encoder/backward/backward.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/plan/planner.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "simulator/schedules/strategy.h"

namespace interlock {
namespace {

std::string line_of(std::string_view name, std::string_view what, int width = 19) {
  return fmt::format("  {:<{}} {}\n", name, width, what);
}

template <typename Entry>
std::string lines_of(std::span<const Entry> entries, int width = 19) {
  std::string text;
  for (const Entry& entry : entries) text += line_of(entry.name, entry.summary, width);
  return text;
}

// As above, and which of them are known to be wrong.
template <typename Entry>
std::string lines_of_passes(std::span<const Entry> entries) {
  std::string text;
  for (const Entry& entry : entries) {
    text += line_of(entry.name,
                    fmt::format("{}{}", entry.is_broken ? "broken: " : "", entry.summary), 20);
  }
  return text;
}

// The limits of a device, where it has any.
std::string text_of(const Capabilities& capabilities) {
  std::vector<std::string> limits;
  if (capabilities.queue_count > 0) {
    limits.push_back(fmt::format("overlap on {} queues{}", capabilities.queue_count,
                                 capabilities.imports_host_memory ? " (imports host memory)" : ""));
  }
  if (!capabilities.has_byte_access) limits.push_back("operands in words of 4 bytes only");
  if (capabilities.extent_max > 0) {
    limits.push_back(fmt::format("extents up to {}", capabilities.extent_max));
  }
  if (capabilities.operand_bytes_max > 0) {
    limits.push_back(fmt::format("operands up to {} bytes", capabilities.operand_bytes_max));
  }
  if (capabilities.binding_count_max > 0) {
    limits.push_back(fmt::format("mix in one launch up to {} operands and {} bytes",
                                 capabilities.binding_count_max, capabilities.mix_bytes_max));
  }
  return fmt::format("{}", fmt::join(limits, ", "));
}

std::string lines_of_backends() {
  std::string text;
  for (Backend* const backend : backend_registry()) {
    const Availability availability = backend->availability();
    text +=
        line_of(backend->name(), (availability.is_available ? "available: " : "not available: ") +
                                     availability.reason);
    if (!availability.is_available) continue;
    const std::string limits = text_of(backend->capabilities());
    if (!limits.empty()) text += line_of("", limits);
  }
  return text;
}

struct Topic {
  const char* name;
  std::string (*lines)();
};

constexpr Topic kTopics[] = {
    {"encoders", [] { return lines_of(encoder_registry()) + lines_of(queue_encoder_registry()); }},
    {"planners", [] { return lines_of_passes(planner_registry()); }},
    {"backwards", [] { return lines_of_passes(backward_registry()); }},
    {"replays", [] { return lines_of_passes(replay_registry()); }},
    {"kernels", [] { return lines_of(kernel_table()); }},
    {"backends", lines_of_backends},
    {"strategies", [] { return lines_of(strategy_registry(), 16); }},
};

ExitStatus run_list(const std::string& topic) {
  for (const Topic& known : kTopics) {
    if (!topic.empty() && topic != known.name) continue;
    print_out(fmt::format("{}\n{}", known.name, known.lines()));
  }
  return ExitStatus::kNothingFound;
}

}  // namespace

void add_list_command(CLI::App& app, ExitStatus& status) {
  auto [command, topic] = add_subcommand<std::string>(
      app, status, "list",
      "lists encoders, planners, backwards, replays, kernels, backends, strategies", run_list);
  std::vector<std::string> names;
  for (const Topic& known : kTopics) names.emplace_back(known.name);
  command
      .add_option(
          "topic", topic,
          "encoders, planners, backwards, replays, kernels, backends or strategies; all without it")
      ->check(one_of(names));
}

}  // namespace interlock
