#include "fuzz/judge/signature.h"

#include <array>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

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

std::string_view kernel_word(const Program& program, DispatchId id) {
  const Dispatch& dispatch = program.dispatch(id);
  return is_opaque(program, dispatch) ? "Opaque" : program.name(dispatch.kernel_name);
}

}  // namespace

std::string_view word_of(AliasShape shape) { return kShapeWords[static_cast<size_t>(shape)]; }

AliasShape alias_shape_of(const Program& program, const OracleFinding& finding) {
  if (!finding.second) return AliasShape::kSameRange;
  const Access& first = access_of(program, finding.first);
  const Access& second = access_of(program, *finding.second);
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

std::string signature_of(const Program& program, const OracleFinding& finding,
                         SignatureDetail detail) {
  if (finding.is_excess) return "excess";
  std::string text(word_of(finding.kind));
  if (finding.is_ordered) text += "-ordered";
  text += '-';
  text += word_of(alias_shape_of(program, finding));
  if (detail == SignatureDetail::kShape) return text;
  text += '-';
  text += finding.first.dispatch.is_some() ? kernel_word(program, finding.first.dispatch) : "end";
  const bool has_other = finding.second && finding.second->dispatch != finding.first.dispatch;
  if (has_other) {
    text += '-';
    text += kernel_word(program, finding.second->dispatch);
  }
  return text;
}

}  // namespace interlock
