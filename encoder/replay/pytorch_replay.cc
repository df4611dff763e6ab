// The basic idea is one pass over the draft that knows which tensors a capture writes, and which
// ones something has touched.
#include "encoder/replay/pytorch_replay.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"

namespace interlock {
namespace {

enum class FirstGradient : uint8_t { kAdopted, kCopied };

class ReplayPass {
 public:
  ReplayPass(const Program& program, FirstGradient first)
      : first_(first), draft_(draft_of(program)) {}

  Result<Program> run();

 private:
  struct Value {
    size_t position = 0;  // Of its declaration, in the draft.
    std::string base;     // The tensor whose bytes it has: itself, or what it views or donates.
    bool is_view = false;
  };

  void declare(size_t position, const TensorDraft& tensor);
  void touch(const OperandDraft& operand);
  bool is_first_accumulation(const DispatchDraft& dispatch) const;
  ItemDraft first_gradient(const DispatchDraft& dispatch);

  const FirstGradient first_;
  ProgramDraft draft_;
  std::map<std::string, Value> values_;
  std::set<std::string> touched_;   // By base.
  std::set<std::string> recorded_;  // By base: written in a capture.
  bool is_recording_ = false;
};

void ReplayPass::declare(size_t position, const TensorDraft& tensor) {
  const bool has_source =
      tensor.placement == Placement::kView || tensor.placement == Placement::kDonation;
  const auto source = has_source ? values_.find(tensor.base) : values_.end();
  Value value{position, source == values_.end() ? tensor.name : source->second.base,
              tensor.placement == Placement::kView};
  values_.emplace(tensor.name, std::move(value));
}

void ReplayPass::touch(const OperandDraft& operand) {
  const auto value = values_.find(operand.name);
  if (value == values_.end()) return;
  touched_.insert(value->second.base);
  const bool is_written = operand.mode == AccessMode::kWrite || operand.mode == AccessMode::kUpdate;
  if (is_recording_ && is_written) recorded_.insert(value->second.base);
}

bool ReplayPass::is_first_accumulation(const DispatchDraft& dispatch) const {
  if (is_recording_ || dispatch.kernel != "accumulate" || dispatch.operands.size() != 2) {
    return false;
  }
  for (const OperandDraft& operand : dispatch.operands) {
    if (operand.slice || values_.count(operand.name) == 0) return false;
  }
  const Value& gradient = values_.at(dispatch.operands[0].name);
  const Value& sum = values_.at(dispatch.operands[1].name);
  const auto& source = std::get<TensorDraft>(draft_.items[gradient.position]);
  const auto& target = std::get<TensorDraft>(draft_.items[sum.position]);
  const bool is_static_buffer = !gradient.is_view && recorded_.count(gradient.base) > 0;
  return is_static_buffer && target.placement == Placement::kUnplaced &&
         target.initial.kind == InitialKind::kZeros && touched_.count(sum.base) == 0 &&
         source.shape == target.shape;
}

ItemDraft ReplayPass::first_gradient(const DispatchDraft& dispatch) {
  const std::string& gradient = dispatch.operands[0].name;
  const std::string& sum = dispatch.operands[1].name;
  std::get<TensorDraft>(draft_.items[values_.at(sum).position]).initial = {};
  if (first_ == FirstGradient::kAdopted) {
    return LifetimeDraft{dispatch.label, LifetimeKind::kAdopt, sum, gradient};
  }
  return DispatchDraft{.label = dispatch.label,
                       .kernel = "copy",
                       .operands = {{AccessMode::kRead, gradient}, {AccessMode::kWrite, sum}}};
}

Result<Program> ReplayPass::run() {
  for (size_t i = 0; i < draft_.items.size(); ++i) {
    ItemDraft& item = draft_.items[i];
    if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
      declare(i, *tensor);
    } else if (std::holds_alternative<CaptureDraft>(item)) {
      is_recording_ = true;
    } else if (std::holds_alternative<EndDraft>(item)) {
      is_recording_ = false;
    } else if (const auto* lifetime = std::get_if<LifetimeDraft>(&item)) {
      touch({AccessMode::kRead, lifetime->name, {}});
      touch({AccessMode::kRead, lifetime->source, {}});
    } else if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      const std::vector<OperandDraft> operands = dispatch->operands;
      if (is_first_accumulation(*dispatch)) item = first_gradient(*dispatch);
      for (const OperandDraft& operand : operands) touch(operand);
    }
  }
  return build(without_evidence(std::move(draft_)));
}

}  // namespace

Result<Program> replay_pytorch_181723(const Program& program) {
  return ReplayPass(program, FirstGradient::kAdopted).run();
}

Result<Program> replay_pytorch(const Program& program) {
  return ReplayPass(program, FirstGradient::kCopied).run();
}

}  // namespace interlock
