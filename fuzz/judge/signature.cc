#include "fuzz/judge/signature.h"

#include <array>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "fuzz/judge/gradient_evidence.h"
#include "fuzz/judge/lifetime_evidence.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kShapeWords = {"same_range", "overlap", "donation",
                                                         "view", "slot_reuse"};

// The values whose bytes `tensor` took over, directly or not, itself included.
bool descends_from(const Program& program, TensorId tensor, TensorId ancestor) {
  while (tensor.is_some()) {
    const TensorId root = program.tensor(tensor).root;
    if (root == ancestor) return true;
    tensor = program.tensor(root).source;  // None unless the root is a donation.
  }
  return false;
}

}  // namespace

std::string kernel_word(const Program& program, DispatchId id) {
  if (!id.is_some()) return "end";
  const Dispatch& dispatch = program.dispatch(id);
  return is_opaque(program, dispatch) ? "Opaque" : std::string(program.name(dispatch.kernel_name));
}

std::string_view word_of(AliasShape shape) { return kShapeWords[static_cast<size_t>(shape)]; }

AliasShape alias_shape_of(const Program& program, const Fact& fact) {
  const bool is_of_two =
      std::holds_alternative<Hazard>(fact) || std::holds_alternative<AliasViolation>(fact);
  if (!is_of_two) return AliasShape::kSameRange;
  const FactPlace place = place_of(program, fact);
  const Access& first = access_of(program, place.first);
  const Access& second = access_of(program, *place.second);
  if (first.tensor.is_some() && second.tensor.is_some()) {
    const TensorId a = program.tensor(first.tensor).root;
    const TensorId b = program.tensor(second.tensor).root;
    if (a != b) {
      const bool donates = descends_from(program, a, b) || descends_from(program, b, a);
      return donates ? AliasShape::kDonation : AliasShape::kSlotReuse;
    }
    if (first.tensor != second.tensor) return AliasShape::kView;
  }
  return first.range == second.range ? AliasShape::kSameRange : AliasShape::kOverlap;
}

std::string signature_of(const Program& program, const Fact& fact, SignatureDetail detail) {
  if (std::holds_alternative<ExcessBarriers>(fact)) return "excess";
  if (const auto* finding = std::get_if<LifetimeFinding>(&fact)) {
    return lifetime_signature_of(program, *finding, detail);
  }
  if (const auto* finding = std::get_if<GradientFinding>(&fact)) {
    return gradient_signature_of(program, *finding);
  }
  std::string text(word_of(kind_of(fact)));
  const auto* const hazard = std::get_if<Hazard>(&fact);
  if (hazard != nullptr && hazard->is_ordered) text += "-ordered";
  text += '-';
  text += word_of(alias_shape_of(program, fact));
  if (detail == SignatureDetail::kShape) return text;
  text += '-';
  // A read that goes wrong speaks for itself: who wrote what it sees varies.
  const auto* const read = std::get_if<ReorderedRead>(&fact);
  if (read != nullptr) return text + kernel_word(program, read->reader);
  const FactPlace place = place_of(program, fact);
  text += kernel_word(program, place.first.dispatch);
  const bool has_other = place.second && place.second->dispatch != place.first.dispatch;
  if (has_other) {
    text += '-';
    text += kernel_word(program, place.second->dispatch);
  }
  return text;
}

}  // namespace interlock
