// interlock list: what can be named on the command line and in programs.
#include <fmt/format.h>

#include <string>

#include "backends/registry.h"
#include "encoder/backward/backward.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/plan/planner.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "simulator/schedules/strategy.h"

namespace interlock {
namespace {

constexpr std::string_view kLine = "  {:<19} {}\n";

std::string list_encoders() {
  std::string text = "encoders\n";
  for (const EncoderEntry& entry : encoder_registry()) {
    text += fmt::format(fmt::runtime(kLine), entry.name, entry.summary);
  }
  return text;
}

std::string list_planners() {
  std::string text = "planners\n";
  for (const PlannerEntry& entry : planner_registry()) {
    text += fmt::format("  {:<20} {}{}\n", entry.name, entry.is_broken ? "broken: " : "",
                        entry.summary);
  }
  return text;
}

std::string list_backwards() {
  std::string text = "backwards\n";
  for (const BackwardEntry& entry : backward_registry()) {
    text += fmt::format("  {:<20} {}{}\n", entry.name, entry.is_broken ? "broken: " : "",
                        entry.summary);
  }
  return text;
}

std::string list_replays() {
  std::string text = "replays\n";
  for (const ReplayEntry& entry : replay_registry()) {
    text += fmt::format("  {:<20} {}{}\n", entry.name, entry.is_broken ? "broken: " : "",
                        entry.summary);
  }
  return text;
}

std::string list_kernels() {
  std::string text = "kernels\n";
  for (const KernelEntry& entry : kernel_table()) {
    text += fmt::format(fmt::runtime(kLine), entry.name, entry.summary);
  }
  return text;
}

// The limits of a device, where it has any.
std::string text_of(const Capabilities& capabilities) {
  std::string text;
  const auto say = [&](std::string_view what) {
    text += text.empty() ? "" : ", ";
    text += what;
  };
  if (capabilities.queue_count > 0) {
    say(fmt::format("overlap on {} queues{}", capabilities.queue_count,
                    capabilities.imports_host_memory ? " (imports host memory)" : ""));
  }
  if (!capabilities.has_byte_access) say("operands in words of 4 bytes only");
  if (capabilities.extent_max > 0) say(fmt::format("extents up to {}", capabilities.extent_max));
  if (capabilities.operand_bytes_max > 0) {
    say(fmt::format("operands up to {} bytes", capabilities.operand_bytes_max));
  }
  if (capabilities.binding_count_max > 0) {
    say(fmt::format("mix in one launch up to {} operands and {} bytes",
                    capabilities.binding_count_max, capabilities.mix_bytes_max));
  }
  return text;
}

std::string list_backends() {
  std::string text = "backends\n";
  for (Backend* const backend : backend_registry()) {
    const Availability availability = backend->availability();
    text += fmt::format(
        fmt::runtime(kLine), backend->name(),
        (availability.is_available ? "available: " : "not available: ") + availability.reason);
    if (!availability.is_available) continue;
    const std::string limits = text_of(backend->capabilities());
    if (!limits.empty()) text += fmt::format(fmt::runtime(kLine), "", limits);
  }
  return text;
}

std::string list_strategies() {
  std::string text = "strategies\n";
  for (const StrategyEntry& entry : strategy_registry()) {
    text += fmt::format("  {:<16} {}\n", entry.name, entry.summary);
  }
  return text;
}

}  // namespace

void add_list_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command = app.add_subcommand(
      "list", "lists encoders, planners, backwards, replays, kernels, backends, strategies");
  auto topic = std::make_shared<std::string>();
  command
      ->add_option(
          "topic", *topic,
          "encoders, planners, backwards, replays, kernels, backends or strategies; all without it")
      ->check(CLI::IsMember(
          {"encoders", "planners", "backwards", "replays", "kernels", "backends", "strategies"}));
  command->callback([topic, &status] {
    const auto wants = [&](std::string_view name) { return topic->empty() || *topic == name; };
    if (wants("encoders")) print_out(list_encoders());
    if (wants("planners")) print_out(list_planners());
    if (wants("backwards")) print_out(list_backwards());
    if (wants("replays")) print_out(list_replays());
    if (wants("kernels")) print_out(list_kernels());
    if (wants("backends")) print_out(list_backends());
    if (wants("strategies")) print_out(list_strategies());
    status = ExitStatus::kNothingFound;
  });
}

}  // namespace interlock
