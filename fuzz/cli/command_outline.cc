#include "fuzz/cli/command_outline.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "backends/registry.h"
#include "encoder/backward/backward.h"
#include "encoder/plan/planner.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "simulator/schedules/strategy.h"

namespace interlock {
namespace {

template <typename Entry>
void add_names(std::span<const Entry> registry, std::vector<std::string>& names) {
  for (const Entry& entry : registry) names.emplace_back(entry.name);
}

// What is named in a registry.
std::vector<std::string> registered_names(std::string_view option) {
  std::vector<std::string> names;
  if (option == "--encoder") {
    add_names(encoder_registry(), names);
    add_names(queue_encoder_registry(), names);
  } else if (option == "--planner") {
    add_names(planner_registry(), names);
  } else if (option == "--backward") {
    add_names(backward_registry(), names);
  } else if (option == "--replay") {
    add_names(replay_registry(), names);
  } else if (option == "--strategy") {
    add_names(strategy_registry(), names);
  } else if (option == "--backend") {
    for (const Backend* const backend : backend_registry()) names.emplace_back(backend->name());
  }
  return names;
}

// Of a type name as CLI11 writes it where a value is one of a few: "TEXT:{json,sarif,text}".
std::vector<std::string> listed_values(std::string_view type_name) {
  std::vector<std::string> values;
  const size_t open = type_name.find('{');
  const size_t close = type_name.find('}', std::min(open, type_name.size()));
  if (close == std::string_view::npos) return values;
  std::string_view list = type_name.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    values.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return values;
}

OptionOutline outline_of_option(const CLI::Option& option) {
  OptionOutline outline;
  for (const std::string& name : option.get_snames()) outline.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) outline.names.push_back("--" + name);
  outline.is_positional = outline.names.empty();
  if (outline.is_positional) outline.names.push_back(option.get_name(true));
  outline.description = option.get_description();
  outline.takes_value = outline.is_positional || option.get_items_expected_max() > 0;
  if (!outline.takes_value) return outline;
  outline.values = listed_values(option.get_type_name());
  if (outline.values.empty()) outline.values = registered_names(outline.names.back());
  return outline;
}

CommandOutline outline_below(const CLI::App& app, const std::string& name) {
  CommandOutline outline{name, app.get_description(), {}, {}};
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_group().empty()) outline.options.push_back(outline_of_option(*option));
  }
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    const std::string& word = command->get_name();
    outline.commands.push_back(outline_below(*command, name.empty() ? word : name + " " + word));
  }
  return outline;
}

}  // namespace

CommandOutline outline_of(const CLI::App& app) { return outline_below(app, ""); }

std::vector<std::string> names_of(const std::vector<CommandOutline>& commands) {
  std::vector<std::string> names;
  for (const CommandOutline& command : commands) {
    names.push_back(command.name.substr(command.name.rfind(' ') + 1));
  }
  return names;
}

}  // namespace interlock
