// The basic idea is to take whole sorts of things out of a find, one after the other, as long as
// the passes still go wrong: what has to stay is what they mistake. How the damage shows, as a
// clobber, say, or as a value of freed bytes, is chance.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/judge/cause.h"
#include "fuzz/judge/pass_oracle.h"
#include "fuzz/judge/signature.h"

namespace interlock {
namespace {

template <LifetimeKind... kKinds>
ProgramDraft without_lifetimes(const ProgramDraft& draft) {
  ProgramDraft rest = draft;
  std::erase_if(rest.items, [](const ItemDraft& item) {
    const auto* lifetime = std::get_if<LifetimeDraft>(&item);
    return lifetime != nullptr && ((lifetime->kind == kKinds) || ...);
  });
  return rest;
}

// Values that began on the bytes of others get bytes of their own.
ProgramDraft without_donations(const ProgramDraft& draft) {
  ProgramDraft rest = draft;
  for (TensorDraft* tensor : items_of<TensorDraft>(rest)) {
    if (tensor->placement != Placement::kDonation) continue;
    tensor->placement = Placement::kUnplaced;
    tensor->base.clear();
  }
  return rest;
}

// One value instead of those that took its bytes over.
ProgramDraft without_donated_names(const ProgramDraft& draft) {
  ProgramDraft rest;
  std::map<std::string, std::string> first_name;
  for (ItemDraft item : draft.items) {
    if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
      const auto base = first_name.find(tensor->base);
      const std::string& source = base == first_name.end() ? tensor->base : base->second;
      if (tensor->placement == Placement::kDonation) {
        first_name.emplace(tensor->name, source);
        continue;
      }
    }
    for_each_operand(item, [&](OperandDraft& operand) {
      const auto found = first_name.find(operand.name);
      if (found != first_name.end()) operand.name = found->second;
    });
    rest.items.push_back(std::move(item));
  }
  return rest;
}

// The additions that replay policies are about stay.
ProgramDraft without_kernels(const ProgramDraft& draft) {
  const bool has_replays = !positions_of<ReplayDraft>(draft).empty();
  ProgramDraft rest = draft;
  for (DispatchDraft* dispatch : items_of<DispatchDraft>(rest)) {
    if (has_replays && dispatch->kernel == "accumulate") continue;
    dispatch->kernel = "Opaque";
    if (!has_atomics(*dispatch)) dispatch->attributes.clear();
  }
  return rest;
}

// A visitor writes values of the sizes of the results of a dispatch just before it. Where that
// costs the dispatch an operand, its bytes were given away before it, not to a result in place.
ProgramDraft with_visitor_before(const ProgramDraft& draft, size_t position) {
  const auto& dispatch = std::get<DispatchDraft>(draft.items[position]);
  DispatchDraft visitor{.kernel = "Opaque"};
  ProgramDraft result;
  for (const ItemDraft& item : draft.items) {
    const auto* const tensor = std::get_if<TensorDraft>(&item);
    const bool is_result =
        tensor != nullptr && std::ranges::any_of(dispatch.operands, [&](const auto& operand) {
          return operand.mode == AccessMode::kWrite && operand.name == tensor->name;
        });
    result.items.push_back(item);
    if (!is_result) continue;
    TensorDraft visited{.name = "visitor." + tensor->name,
                        .dtype = tensor->dtype,
                        .shape = tensor->shape,
                        .placement = Placement::kUnplaced};
    visitor.operands.push_back({AccessMode::kWrite, visited.name, std::nullopt, false});
    result.items.emplace_back(std::move(visited));
  }
  const size_t added = result.items.size() - draft.items.size();
  if (added > 0) insert_at(result.items, position + added, ItemDraft(std::move(visitor)));
  return result;
}

struct Ingredient {
  std::string_view word;
  ProgramDraft (*without)(const ProgramDraft&);
  ProgramDraft (*or_else)(const ProgramDraft&);  // Another way to do without, or null.
};

constexpr Ingredient kIngredients[] = {
    {"free", without_lifetimes<LifetimeKind::kFree, LifetimeKind::kDestroy>, nullptr},
    {"pin", without_lifetimes<LifetimeKind::kPin, LifetimeKind::kUnpin>, nullptr},
    {"kernels", without_kernels, nullptr},
    {"donation", without_donations, without_donated_names},
    {"reset", without_lifetimes<LifetimeKind::kReset>, nullptr}};

// Kernels whose contracts keep results off operands, a dispatch each on operands of one size.
constexpr std::string_view kContractProbes[] = {
    "interlock 1\ntensor y f32[2,2] = random(1)\ntensor g f32[2,2] = random(2)\n"
    "tensor gx f32[2,2]\noutput gx g\ndispatch softmax_vjp_stream reads y g writes gx\n",
    "interlock 1\ntensor x f32[1,1] = random(1)\ntensor w f32[1] = random(2)\n"
    "tensor g f32[1,1] = random(3)\ntensor gx f32[1,1]\ntensor gw f32[1,1]\noutput gx gw\n"
    "dispatch rms_norm_vjp_stream reads x w g writes gx gw\n",
    "interlock 1\ntensor x f32[2,2] = random(1)\ntensor w f32[2,2] = random(2)\n"
    "tensor y f32[2,2]\noutput y\ndispatch matmul_nn reads x w writes y\n",
    "interlock 1\ntensor x f32[2,2] = random(1)\ntensor w f32[2,2] = random(2)\n"
    "tensor y f32[2,2]\noutput y\ndispatch matmul_nt reads x w writes y\n"};

// Forward passes in which a value is read in more and more ways, the widest first.
struct GradientProbe {
  std::string_view word;
  std::string_view text;
  uint64_t readers;  // Dispatches that read the value.
  uint64_t reads;    // Of one dispatch, at most.
};

constexpr GradientProbe kGradientProbes[] = {
    {"",
     "interlock 1\ntensor x f32[1] = random(1)\ntensor w f32[1] = random(2)\ntensor y f32[1]\n"
     "dispatch mul reads x w writes y\nbackward y wrt w\n",
     1, 1},
    {"-twice_in_one",
     "interlock 1\ntensor w f32[1] = random(1)\ntensor y f32[1]\n"
     "dispatch mul reads w w writes y\nbackward y wrt w\n",
     1, 2},
    {"-on_two_paths",
     "interlock 1\ntensor x f32[1] = random(1)\ntensor w f32[1] = random(2)\ntensor a f32[1]\n"
     "tensor b f32[1]\ntensor y f32[1]\ndispatch mul reads x w writes a\n"
     "dispatch mul reads w x writes b\ndispatch add reads a b writes y\nbackward y wrt w\n",
     2, 1},
    {"-along_a_path",
     "interlock 1\ntensor x f32[1] = random(1)\ntensor w f32[1] = random(2)\ntensor a f32[1]\n"
     "tensor y f32[1]\ndispatch mul reads x w writes a\ndispatch mul reads a w writes y\n"
     "backward y wrt w\n",
     2, 1}};

class Experiments {
 public:
  Experiments(const PassChain& chain, const PlanOptions& plan) : chain_(chain), plan_(plan) {}

  Cause of_hazard(const Program& unplanned, const std::string& signature) const {
    const auto passed = run_passes(chain_, unplanned, plan_);
    if (!passed || passed->failure) return {signature, "", false};
    const bool is_encoder_last =
        chain_.encoder != nullptr && (chain_.planner == nullptr || !chain_.planner->plans_encoded);
    for (const SignedFact& found : find_signed(passed->placed)) {
      if (found.signature != signature) continue;
      if (is_encoder_last)
        return CauseFinder(*chain_.encoder).cause_of(passed->placed, passed->placed, found.fact);
      return {std::string(word_of(alias_shape_of(passed->placed, found.fact))), "", false};
    }
    return {signature, "", false};
  }

  Cause of_lifetimes(const Program& unplanned, const std::string& signature) const {
    ProgramDraft draft = without_evidence(draft_of(unplanned));
    std::optional<Program> lost;
    const auto attempt = [&](ProgramDraft smaller) {
      auto program = build(smaller);
      if (!program || !loses_a_value(*program)) return false;
      draft = std::move(smaller);
      lost = std::move(program).value();
      return true;
    };
    bool is_lost = attempt(draft);
    const std::vector<size_t> dispatches = positions_of<DispatchDraft>(draft);
    for (size_t i = 0; i < dispatches.size() && !is_lost; ++i) {
      is_lost = attempt(with_visitor_before(draft, dispatches[i]));
    }
    if (!is_lost) {
      const bool are_several =
          signature.starts_with(word_of(FindingKind::kAlias)) && breaks_contracts(signature);
      return {are_several ? std::string(word_of(FindingKind::kAlias)) : signature, "", false};
    }
    std::string name = "lifetime";
    for (const Ingredient& ingredient : kIngredients) {
      const ProgramDraft smaller = ingredient.without(draft);
      if (print(smaller) == print(draft) || attempt(smaller)) continue;
      if (ingredient.or_else != nullptr && attempt(ingredient.or_else(draft))) continue;
      name += '-';
      name += ingredient.word;
    }
    if (!lost->replays.empty()) name += "-replay";
    return {name, print(*lost), false};
  }

  Cause of_gradient(const Program& unplanned, const std::string& signature) const {
    uint64_t readers_max = 0;
    uint64_t reads_max = 0;
    for (const Tensor& tensor : unplanned.tensors) {
      uint64_t readers = 0;
      for (const Dispatch& dispatch : unplanned.dispatches) {
        uint64_t reads = 0;
        for (const Access& access : unplanned.accesses_of(dispatch)) {
          reads += access.reads_plainly() && access.tensor.is_some() &&
                   &unplanned.tensor(unplanned.tensor(access.tensor).root) == &tensor;
        }
        readers += reads > 0;
        reads_max = std::max(reads_max, reads);
      }
      readers_max = std::max(readers_max, readers);
    }
    for (const GradientProbe& probe : kGradientProbes) {
      if (probe.readers > readers_max || probe.reads > reads_max) continue;
      for (const SignedFact& found : facts_of(parse(probe.text).value())) {
        if (!std::holds_alternative<GradientFinding>(found.fact)) continue;
        return {"gradient" + std::string(probe.word), std::string(probe.text), false};
      }
    }
    return {signature, "", false};
  }

 private:
  // What the passes get wrong in the program, if the reference gets nothing wrong.
  std::vector<SignedFact> facts_of(const Program& program) const {
    const auto passed = run_passes(chain_, program, plan_);
    const auto reference = run_passes(reference_chain(), program, plan_);
    if (!passed || passed->failure || !reference || !find_signed(*reference).empty()) return {};
    return find_signed(*passed);
  }

  bool loses_a_value(const Program& program) const {
    const std::vector<SignedFact> facts = facts_of(program);
    return std::ranges::any_of(facts, [](const SignedFact& fact) {
      return std::holds_alternative<LifetimeFinding>(fact.fact);
    });
  }

  bool breaks_contracts(const std::string& signature) const {
    int count = 0;
    bool is_among_them = false;
    for (const std::string_view text : kContractProbes) {
      for (const SignedFact& found : facts_of(parse(text).value())) {
        if (!std::holds_alternative<AliasViolation>(found.fact)) continue;
        ++count;
        is_among_them |= found.signature == signature;
        break;
      }
    }
    return is_among_them && count > 1;
  }

  const PassChain& chain_;
  const PlanOptions& plan_;
};

}  // namespace

Cause cause_of_passes(const PassChain& chain, const Program& unplanned, const PlanOptions& plan,
                      const std::string& signature) {
  const Experiments experiments(chain, plan);
  if (is_of_gradient(signature)) return experiments.of_gradient(unplanned, signature);
  const std::string word = signature.substr(0, signature.find('-'));
  const auto kind = finding_kind_of(word);
  if (kind && is_hazard(*kind)) return experiments.of_hazard(unplanned, signature);
  return experiments.of_lifetimes(unplanned, signature);
}

}  // namespace interlock
