#include "fuzz/judge/pass_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/plan/plan_by.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/replay/replay_by.h"
#include "fuzz/judge/gradient_numbers.h"
#include "fuzz/judge/oracles.h"
#include "simulator/order/text_in_run_order.h"

namespace interlock {
namespace {

const PlannerEntry& planner_of(const PassChain& chain) {
  static const PlannerEntry* const fresh = find_planner("fresh");
  INTERLOCK_CHECK(fresh != nullptr);
  return chain.planner != nullptr ? *chain.planner : *fresh;
}

const EncoderEntry& encoder_of(const PassChain& chain) {
  static const EncoderEntry* const interlock = find_encoder("interlock");
  INTERLOCK_CHECK(interlock != nullptr);
  return chain.encoder != nullptr ? *chain.encoder : *interlock;
}

// A reset of a memory that holds nothing only told the planner where a region ends.
Program without_empty_resets(const Program& program) {
  std::set<std::string_view> used;
  const auto use = [&](MemoryId id) { used.insert(program.name(program.memory(id).name)); };
  for (const Tensor& tensor : program.tensors) use(tensor.memory);
  for (const Dispatch& dispatch : program.dispatches) {
    for (const Access& access : program.accesses_of(dispatch)) use(access.memory);
  }
  const bool has_empty_reset =
      std::ranges::any_of(program.lifetimes, [&](const Lifetime& lifetime) {
        return lifetime.kind == LifetimeKind::kReset &&
               !used.contains(program.name(program.memory(lifetime.memory).name));
      });
  if (!has_empty_reset) return program;
  ProgramDraft draft = draft_of(program);
  std::erase_if(draft.items, [&](const ItemDraft& item) {
    if (const auto* memory = std::get_if<MemoryDraft>(&item)) return !used.contains(memory->name);
    const auto* lifetime = std::get_if<LifetimeDraft>(&item);
    return lifetime != nullptr && lifetime->kind == LifetimeKind::kReset &&
           !used.contains(lifetime->name);
  });
  return build(draft).value();
}

// A full barrier before everything that executes, inside of recordings too: so captures and replays
// stay what they are, which an encoder would spell out.
Program with_barriers(const Program& program) {
  ProgramDraft draft;
  bool is_first = true;
  for (ItemDraft& item : draft_of(program).items) {
    if (std::holds_alternative<CaptureDraft>(item)) is_first = true;
    const bool executes =
        std::holds_alternative<DispatchDraft>(item) || std::holds_alternative<ReplayDraft>(item);
    if (executes && !is_first) draft.items.emplace_back(BarrierDraft{});
    if (executes) is_first = false;
    draft.items.push_back(std::move(item));
  }
  return build(draft).value();
}

PassedProgram failed(EncodeFailure failure) { return {{}, {}, std::move(failure)}; }

}  // namespace

Result<Program> with_backward_mode(const Program& program, std::string_view mode) {
  ProgramDraft draft = without_evidence(draft_of(program));
  for (ItemDraft& item : draft.items) {
    if (auto* backward = std::get_if<BackwardDraft>(&item)) backward->mode = mode;
  }
  return build(draft);
}

PlanOptions plan_options_of_campaign() {
  return {.alignment_bytes = 4, .region_dispatches = UINT32_MAX};
}

Result<PassedProgram> run_passes(const PassChain& chain, const Program& program,
                                 const PlanOptions& options) {
  PassedProgram passed{program, {}, std::nullopt};
  if (chain.backward != nullptr && chain.backward->external != nullptr) {
    auto differentiated = with_backward_of_others(passed.meant, *chain.backward);
    if (!differentiated) return differentiated.error();
    if (differentiated->failure) return failed(std::move(*differentiated->failure));
    passed.meant = std::move(differentiated->program);
  } else if (chain.backward != nullptr) {
    auto differentiated = with_backward_mode(passed.meant, chain.backward->name);
    if (!differentiated) return differentiated.error();
    passed.meant = std::move(differentiated).value();
  }
  if (chain.replay != nullptr) {
    auto replayed = replay_by(passed.meant, *chain.replay);
    if (!replayed) return replayed.error();
    if (replayed->failure) return failed(std::move(*replayed->failure));
    passed.meant = std::move(replayed->program);
  }
  const bool is_replay_alone =
      chain.replay != nullptr && chain.planner == nullptr && chain.encoder == nullptr;
  if (is_replay_alone) {
    passed.placed = with_barriers(passed.meant);
    return passed;
  }
  const PlannerEntry& planner = planner_of(chain);
  if (chain.queue_encoder != nullptr) {
    INTERLOCK_CHECK(planner.takes_queues);
    const auto in_order = text_in_run_order(passed.meant);
    if (!in_order) return in_order.error();
    auto encoded = encode_by(*in_order, chain.queue_count, *chain.queue_encoder);
    if (!encoded) return encoded.error();
    if (encoded->failure) return failed(std::move(*encoded->failure));
    auto planned = plan_by(encoded->program, options, planner);
    if (!planned) return planned.error();
    if (planned->failure) return failed(std::move(*planned->failure));
    passed.placed = std::move(planned->program);
    return passed;
  }
  const EncoderEntry& encoder = encoder_of(chain);
  // Some planners are about what the sync lets overlap: it comes first.
  std::optional<EncodeFailure> failure;
  const auto encoded_by = [&](const Program& given) {
    Encoding encoding = encode_by(given, encoder);
    failure = std::move(encoding.failure);
    return std::move(encoding.program);
  };
  const Program to_plan = planner.plans_encoded ? encoded_by(passed.meant) : passed.meant;
  if (failure) return failed(std::move(*failure));
  const auto planned = plan_by(to_plan, options, planner);
  if (!planned) return planned.error();
  if (planned->failure) return failed(*planned->failure);
  const Program placed = without_empty_resets(planned->program);
  passed.placed = planner.plans_encoded ? placed : encoded_by(placed);
  if (failure) return failed(std::move(*failure));
  return passed;
}

bool has_external_pass(const PassChain& chain) {
  return (chain.encoder != nullptr && chain.encoder->external != nullptr) ||
         (chain.queue_encoder != nullptr && chain.queue_encoder->external != nullptr) ||
         (chain.planner != nullptr && chain.planner->external != nullptr) ||
         (chain.backward != nullptr && chain.backward->external != nullptr) ||
         (chain.replay != nullptr && chain.replay->external != nullptr);
}

PassChain reference_chain() { return {}; }

std::string name_of_reference(const PassChain& chain) {
  if (chain.backward != nullptr) return "the backward pass one-shot";
  return chain.replay != nullptr ? "gradients that are added up" : "the planner fresh";
}

std::string shell_word(std::string_view name) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=,+@%";
  if (!name.empty() && name.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(name);
  }
  std::string word = "'";
  for (const char c : name) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string path_word(std::string_view path) {
  const bool is_option = path.size() > 1 && path.starts_with('-');
  return shell_word(is_option ? "./" + std::string(path) : std::string(path));
}

std::string flags_of(const PassChain& chain) {
  std::string flags;
  if (chain.backward != nullptr) flags += " --backward=" + shell_word(chain.backward->name);
  if (chain.replay != nullptr) flags += " --replay=" + shell_word(chain.replay->name);
  if (chain.planner != nullptr) flags += " --planner=" + shell_word(chain.planner->name);
  if (chain.encoder != nullptr) flags += " --encoder=" + shell_word(chain.encoder->name);
  if (chain.queue_encoder != nullptr) {
    flags += " --encoder=" + shell_word(chain.queue_encoder->name);
  }
  return flags;
}

std::string names_of(const PassChain& chain) {
  std::vector<std::string> names;
  if (chain.backward != nullptr)
    names.push_back(fmt::format("backward pass {}", chain.backward->name));
  if (chain.replay != nullptr) names.push_back(fmt::format("replay policy {}", chain.replay->name));
  if (chain.planner != nullptr) names.push_back(fmt::format("planner {}", chain.planner->name));
  if (chain.encoder != nullptr) names.push_back(fmt::format("encoder {}", chain.encoder->name));
  if (chain.queue_encoder != nullptr) {
    names.push_back(fmt::format("encoder {}", chain.queue_encoder->name));
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace interlock
