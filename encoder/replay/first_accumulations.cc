// The basic idea is one pass over the draft that knows which tensors a capture writes, and which
// ones something has touched.
#include "encoder/replay/first_accumulations.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace interlock {
namespace {

class AccumulationScan {
 public:
  explicit AccumulationScan(const ProgramDraft& draft) : draft_(draft) {}

  std::vector<size_t> run();

 private:
  struct Value {
    size_t position = 0;  // Of its declaration, in the draft.
    std::string base;     // The tensor whose bytes it has: itself, or what it views or donates.
    bool is_view = false;
  };

  void declare(size_t position, const TensorDraft& tensor);
  void touch(const OperandDraft& operand);
  bool is_first(const DispatchDraft& dispatch) const;

  const ProgramDraft& draft_;
  std::map<std::string, Value> values_;
  std::set<std::string> touched_;   // By base.
  std::set<std::string> recorded_;  // By base: written in a capture.
  bool is_recording_ = false;
};

void AccumulationScan::declare(size_t position, const TensorDraft& tensor) {
  const bool has_source =
      tensor.placement == Placement::kView || tensor.placement == Placement::kDonation;
  const auto source = has_source ? values_.find(tensor.base) : values_.end();
  Value value{position, source == values_.end() ? tensor.name : source->second.base,
              tensor.placement == Placement::kView};
  values_.emplace(tensor.name, std::move(value));
}

void AccumulationScan::touch(const OperandDraft& operand) {
  const auto value = values_.find(operand.name);
  if (value == values_.end()) return;
  touched_.insert(value->second.base);
  const bool is_written = operand.mode == AccessMode::kWrite || operand.mode == AccessMode::kUpdate;
  if (is_recording_ && is_written) recorded_.insert(value->second.base);
}

bool AccumulationScan::is_first(const DispatchDraft& dispatch) const {
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

std::vector<size_t> AccumulationScan::run() {
  std::vector<size_t> positions;
  for (size_t i = 0; i < draft_.items.size(); ++i) {
    const ItemDraft& item = draft_.items[i];
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
      if (is_first(*dispatch)) positions.push_back(i);
      for (const OperandDraft& operand : dispatch->operands) touch(operand);
    }
  }
  return positions;
}

}  // namespace

std::vector<size_t> first_accumulations(const ProgramDraft& draft) {
  return AccumulationScan(draft).run();
}

}  // namespace interlock
