#include "fuzz/cli/pass_options.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/registry.h"
#include "encoder/queues/queue_encoder.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"

namespace interlock {
namespace {

// Sets `entry` to that of this name; an empty name leaves it. Errors: there is none of this name,
// where `noun` says of what, and `list` is the topic of `interlock list`, which names those of
// `more` too.
template <typename Entry, typename... More>
Result<Success> find_pass(const Entry*& entry, std::span<const Entry> registry,
                          const std::string& name, std::string_view noun, std::string_view list,
                          const More&... more) {
  if (name.empty()) return Success{};
  entry = find_entry(registry, name);
  if (entry != nullptr) return Success{};
  return error_of("there is {} `interlock list {}` names them.",
                  no_entry_text(registry, noun, name, more...), list);
}

const char* const kGroup = "Planner";

// An option that only some planners use: those whose names begin with one of `planners`.
struct OwnOption {
  std::string_view option;
  std::array<std::string_view, 2> planners;
};

constexpr std::array kOwnOptions = {
    OwnOption{"--slack", {"liveness", "liveness"}},
    OwnOption{"--antichain", {"liveness", "liveness"}},
    OwnOption{"--region", {"arena", "ztensor"}},
};

// Before any of them is opened.
Result<Success> check_timeout(ExternalOption& external) {
  const double timeout = external.options.exec_timeout_seconds;
  if (!(timeout > 0 && timeout <= kExecTimeoutMaxSeconds)) {  // NaN is neither.
    return error_of("--exec-timeout={} is not above 0 and up to {} seconds, an hour.", timeout,
                    kExecTimeoutMaxSeconds);
  }
  external.options.stop = &interrupt_stop();
  return Success{};
}

template <typename Opened>
Result<Success> keep(Result<std::unique_ptr<Opened>> opened, std::unique_ptr<Opened>& kept) {
  if (!opened) return opened.error();
  kept = std::move(*opened);
  return Success{};
}

Result<Success> open_external(const PassNames& names, ExternalOption& external) {
  auto done = check_timeout(external);
  if (done && is_external_name(names.replay)) {
    done = keep(open_pass(PassKind::kReplay, names.replay, external.options), external.replay);
  }
  if (done && is_external_name(names.backward)) {
    done =
        keep(open_pass(PassKind::kBackward, names.backward, external.options), external.backward);
  }
  if (done && is_external_name(names.planner)) {
    done = keep(open_pass(PassKind::kPlanner, names.planner, external.options), external.planner);
  }
  const bool has_queues = !external.queue_kind.empty();
  if (done && has_queues && is_external_name(names.encoder)) {
    done = keep(open_queue_encoder(names.encoder, external.queue_kind, external.options),
                external.queue_encoder);
  }
  if (done && !has_queues && is_external_name(names.encoder)) {
    done = keep(open_encoder(names.encoder, external.options), external.opened);
  }
  return done;
}

std::string registered(const std::string& name) { return is_external_name(name) ? "" : name; }

}  // namespace

std::string ExternalOption::flags() const {
  const bool is_asked = opened != nullptr || queue_encoder != nullptr || planner != nullptr ||
                        backward != nullptr || replay != nullptr;
  std::string flags;
  if (is_asked && options.exec_timeout_seconds != kExecTimeoutSeconds) {
    flags += fmt::format(" --exec-timeout={}", options.exec_timeout_seconds);
  }
  if (queue_encoder != nullptr) flags += " --queue-kind=" + queue_kind;
  return flags;
}

void add_exec_options(CLI::App& command, ExternalOption& option) {
  command
      .add_option("--exec-timeout", option.options.exec_timeout_seconds,
                  "of exec:COMMAND: seconds that an answer may take")
      ->capture_default_str();
}

void add_queue_kind(CLI::App& command, ExternalOption& option) {
  command.add_option("--queue-kind", option.queue_kind,
                     "of --encoder=exec:COMMAND: it is for several queues, serial, concurrent or "
                     "graph ones");
}

Result<Success> check_queue_kind(const ExternalOption& option, const std::string& encoder) {
  if (option.queue_kind.empty() || is_external_name(encoder)) return Success{};
  return error_of("--queue-kind={} is for an encoder that is a command, --encoder=exec:COMMAND.",
                  option.queue_kind);
}

bool has_external_name(const PassNames& names) {
  return is_external_name(names.backward) || is_external_name(names.replay) ||
         is_external_name(names.planner) || is_external_name(names.encoder);
}

Result<PassChain> find_passes(const PassNames& names, ExternalOption& external) {
  PassChain passes;
  if (has_external_name(names)) {
    auto opened = open_external(names, external);
    if (!opened) return opened.error();
    if (external.replay != nullptr) passes.replay = &external.replay->replay;
    if (external.backward != nullptr) passes.backward = &external.backward->backward;
    if (external.planner != nullptr) passes.planner = &external.planner->planner;
    if (external.opened != nullptr) passes.encoder = &external.opened->entry;
    if (external.queue_encoder != nullptr) {
      passes.queue_encoder = &external.queue_encoder->entry;
    }
  }
  for (const auto& found : {find_pass(passes.backward, backward_registry(),
                                      registered(names.backward), "backward pass", "backwards"),
                            find_pass(passes.replay, replay_registry(), registered(names.replay),
                                      "replay policy", "replays"),
                            find_pass(passes.planner, planner_registry(), registered(names.planner),
                                      "planner", "planners"),
                            find_pass(passes.encoder, encoder_registry(), registered(names.encoder),
                                      "encoder", "encoders", queue_encoder_registry())}) {
    if (!found) return found.error();
  }
  return passes;
}

void add_plan_options(CLI::App& command, PlanOptions& options) {
  add_number(command, "--align", options.alignment_bytes, "bytes that every value is aligned to", 4,
             1 << 20)
      ->group(kGroup);
  add_number(command, "--slack", options.slack_percent,
             "liveness: memory above the smallest, in percent, that may be spent to save barriers",
             0, 10'000)
      ->group(kGroup);
  command
      .add_flag("--antichain", options.is_antichain,
                "liveness: no reuse between dispatches that nothing orders yet")
      ->group(kGroup);
  command
      .add_flag("--keep-inputs", options.keeps_inputs,
                "values with initial values keep their bytes to the end")
      ->group(kGroup);
  command
      .add_flag("!--no-opaque-in-place", options.is_opaque_in_place,
                "opaque dispatches never write in place")
      ->group(kGroup);
  add_number(command, "--region", options.region_dispatches,
             "arena: dispatches between two resets, if the program has no reset", 1, UINT32_MAX)
      ->group(kGroup);
}

Result<Success> check_plan_options(const CLI::App& command, std::string_view planner) {
  const auto options =
      command.get_options([](const CLI::Option* option) { return option->get_group() == kGroup; });
  for (const CLI::Option* option : options) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    if (planner.empty()) {
      return error_of("{} is for planners; give a --planner, too.", name);
    }
    for (const OwnOption& own : kOwnOptions) {
      const auto [first, second] = own.planners;
      if (own.option != name || planner.starts_with(first) || planner.starts_with(second)) continue;
      // One of others is told all but regions.
      if (is_external_name(planner) && name != "--region") continue;
      return error_of(
          "{} means nothing to the planner '{}'; `interlock encode --help` says whose it is.", name,
          planner);
    }
  }
  return Success{};
}

}  // namespace interlock
