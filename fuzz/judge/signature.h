// Signature: what makes two findings the same bug, as a short text that is also a file name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/facts/fact.h"

namespace interlock {

// How the two accesses of a finding come to share bytes.
enum class AliasShape : uint8_t {
  kSameRange,  // Same tensor or raw memory, same bytes.
  kOverlap,    // The ranges differ.
  kDonation,   // One tensor donates, directly or not, its bytes to the other.
  kView,       // Different windows of one logical value.
  kSlotReuse,  // Two logical values on shared bytes, without a donation.
};
inline constexpr std::array kAliasShapes = {AliasShape::kSameRange, AliasShape::kOverlap,
                                            AliasShape::kDonation, AliasShape::kView,
                                            AliasShape::kSlotReuse};
std::string_view word_of(AliasShape shape);

// kSameRange of what is not between two operands.
AliasShape alias_shape_of(const Program& program, const Fact& fact);

// The same of two accesses of `program` that share a byte.
AliasShape alias_shape_of(const Program& program, const Access& first, const Access& second);

enum class SignatureDetail : uint8_t {
  kShape,    // "WAR-donation", "RAW-ordered-same_range", "excess"
  kKernels,  // "WAR-donation-col_sum-layer_norm_vjp"; opaque kernels count as "Opaque".
};

// Stable under renaming, reordering of unrelated items, and changes of size.
// Letters, digits, '_' and '-' only.
std::string signature_of(const Program& program, const Fact& fact,
                         SignatureDetail detail = SignatureDetail::kKernels);

// True iff that of a wrong gradient.
bool is_of_gradient(std::string_view signature);

}  // namespace interlock
