#include "capture/convert/captured_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "capture/convert/barrier_text.h"
#include "encoder/program/draft.h"
#include "encoder/program/sync_step.h"

namespace interlock {
namespace {

// Gives `visit` what these commands execute, one after the other, until it says that it is enough.
// Returns whether it did.
template <typename Visit>
bool visit_until(std::span<const Command> commands, const Visit& visit) {
  for (const Command& command : commands) {
    if (const auto* const execute = std::get_if<ExecuteCommand>(&command)) {
      // What it executes has none of these.
      for (const Command& inner : execute->secondary->commands) {
        if (visit(inner)) return true;
      }
    } else if (visit(command)) {
      return true;
    }
  }
  return false;
}

// What a wait says, after the stages that the set names. The wait has that of all its events.
std::vector<CapturedDependency> dependencies_of_set(const std::vector<CapturedDependency>& set,
                                                    const WaitEventsCommand& wait) {
  std::vector<CapturedDependency> dependencies = wait.dependencies;
  for (CapturedDependency& dependency : dependencies) {
    dependency.fields.source_stages = set.empty() ? 0 : set.front().fields.source_stages;
  }
  return dependencies;
}

}  // namespace

std::vector<std::vector<CapturedDependency>> CapturedEvents::waits_for(
    const SetEventCommand& command, const RestOfSubmission& rest) const {
  std::vector<std::vector<CapturedDependency>> waits;
  const auto take = [&](const Command& later) {
    writer_.add_steps(1);
    if (writer_.is_full()) return true;
    if (const auto* const set = std::get_if<SetEventCommand>(&later)) {
      return set->event == command.event;
    }
    if (const auto* const reset = std::get_if<ResetEventCommand>(&later)) {
      return reset->event == command.event;
    }
    const auto* const wait = std::get_if<WaitEventsCommand>(&later);
    if (wait == nullptr || std::ranges::count(wait->events, command.event) == 0) return false;
    writer_.add_steps(wait->dependencies.size());
    waits.push_back(dependencies_of_set(command.dependencies, *wait));
    return false;
  };
  for (size_t i = rest.begun.size(); i-- > 0;) {
    if (visit_until(rest.begun[i], take)) return waits;
  }
  for (const auto& list : rest.lists) {
    if (list != nullptr && visit_until(list->commands, take)) break;
  }
  return waits;
}

std::string CapturedEvents::add_set(const std::vector<CapturedDependency>& dependencies,
                                    const PassPlace& place, const std::string& label) {
  SyncDraft draft;
  draft.kind = SyncKind::kSet;
  draft.barrier_kind = BarrierKind::kScoped;
  draft.dependencies = dependencies_of(dependencies, {place.family, true}, writer_, summary_);
  if (draft.dependencies.empty()) return {};
  draft.label = label;
  draft.queue = place.queue;
  draft.event = fmt::format("e{}", ++count_);
  std::string name = draft.event;
  writer_.add(std::move(draft));
  return name;
}

void CapturedEvents::forget(uint64_t event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  const bool has_place = found->second.has_place && found->second.window == writer_.window();
  events_.erase(found);
  if (has_place) writer_.close_place();
}

void CapturedEvents::apply(const HostEventRecord& record) {
  forget(record.event);
  if (record.is_set == 0) return;
  Event event;
  event.is_of_host = true;
  events_.emplace(record.event, std::move(event));
}

void CapturedEvents::set(const SetEventCommand& command, const PassPlace& place,
                         const RestOfSubmission& rest) {
  forget(command.event);
  Event event;
  event.queue = place.queue;
  event.window = writer_.window();
  event.is_for_all = command.has_dependencies;
  if (command.has_dependencies) {
    event.names.push_back(add_set(command.dependencies, place, place.label));
  } else {
    const auto waits = waits_for(command, rest);
    for (size_t i = 0; i < waits.size(); ++i) {
      const std::string label =
          waits.size() == 1 ? place.label : fmt::format("{}.e{}", place.label, i);
      event.names.push_back(add_set(waits[i], place, label));
    }
    event.source = command.dependencies;
    event.place = place;
    event.has_place = true;
    event.place_in_text = writer_.open_place();
    event.set_count = waits.size();
  }
  events_.emplace(command.event, std::move(event));
}

std::string CapturedEvents::add_set_for(const WaitEventsCommand& wait, Event& event) {
  writer_.add_steps(1 + wait.dependencies.size());
  const std::string label = event.set_count == 0
                                ? event.place.label
                                : fmt::format("{}.e{}", event.place.label, event.set_count);
  ++event.set_count;
  writer_.insert_at(event.place_in_text);
  std::string name = add_set(dependencies_of_set(event.source, wait), event.place, label);
  writer_.insert_at_end();
  return name;
}

void CapturedEvents::add_await(const std::string& name, const PassPlace& place,
                               const std::string& label) {
  if (name.empty()) return;
  SyncDraft draft;
  draft.kind = SyncKind::kAwait;
  draft.label = label;
  draft.queue = place.queue;
  draft.event = name;
  writer_.add(std::move(draft));
}

void CapturedEvents::wait(const WaitEventsCommand& command, const PassPlace& place) {
  bool is_known = true;
  for (size_t i = 0; i < command.events.size(); ++i) {
    const auto found = events_.find(command.events[i]);
    if (found == events_.end()) {
      is_known = false;
      continue;
    }
    Event& event = found->second;
    if (event.is_of_host) continue;
    if (event.queue != place.queue) {
      summary_.remark(
          "waits for events that another queue set (Vulkan 1.3, 7.5: these must not order commands "
          "of different queues; here they order nothing)");
      continue;
    }
    // What was before the set is before this window.
    if (event.window != writer_.window()) continue;
    if (event.names.empty()) event.names.push_back(add_set_for(command, event));
    std::string label = place.label;
    if (command.events.size() > 1) label += fmt::format(".e{}", i);
    add_await(event.names.front(), place, label);
    if (!event.is_for_all) event.names.pop_front();
  }
  if (is_known) return;
  summary_.note("a wait for an event whose set is not known (it is taken for a barrier)");
  BarrierDraft draft;
  draft.label = place.label;
  draft.queue = place.queue;
  draft.kind = BarrierKind::kScoped;
  draft.dependencies =
      dependencies_of(command.dependencies, {place.family, true}, writer_, summary_);
  if (!draft.dependencies.empty()) writer_.add(std::move(draft));
}

}  // namespace interlock
