// The parts of a signature, read from its text: those of campaigns are known by their text alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/finding_kind.h"
#include "fuzz/judge/signature.h"

namespace interlock {

// "WAR" of "WAR-donation-copy-fill", "RAW-ordered" of "RAW-ordered-view-copy-fill".
std::string kind_of_signature(const std::string& signature);

// "WAR-donation" of "WAR-donation-copy-fill": shapes and kernels hold no '-'. All of what has no
// shape.
std::string shape_of_signature(const std::string& signature);

// Of a signature of hazards: which kind, how the two came to share bytes, and their kernels.
struct HazardSignature {
  FindingKind kind = FindingKind::kReadAfterWrite;
  AliasShape shape = AliasShape::kSameRange;
  std::vector<std::string> kernels;  // One or two, as the signature names them.
};

// None: the text is no signature of a hazard with kernels. Whether the accesses are ordered, or the
// hazard is only possible, is not kept.
std::optional<HazardSignature> hazard_signature_of(std::string_view signature);

}  // namespace interlock
