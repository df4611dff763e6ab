#include "fuzz/judge/signature_parts.h"

#include <algorithm>
#include <array>

namespace interlock {
namespace {

size_t end_of_kind(std::string_view signature) {
  const size_t end = signature.find('-');
  if (end == std::string_view::npos) return signature.size();
  const size_t next = std::min(signature.find('-', end + 1), signature.size());
  return signature.substr(end + 1, next - end - 1) == "ordered" ? next : end;
}

// Takes what stands before the next '-' from the front, and the '-'.
std::string_view take_signature_part(std::string_view& text) {
  const size_t end = std::min(text.find('-'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::string kind_of_signature(const std::string& signature) {
  return signature.substr(0, end_of_kind(signature));
}

std::string shape_of_signature(const std::string& signature) {
  const size_t kind_end = end_of_kind(signature);
  if (kind_end == signature.size()) return signature;
  return signature.substr(0, signature.find('-', kind_end + 1));
}

std::optional<HazardSignature> hazard_signature_of(std::string_view signature) {
  constexpr std::array kKinds = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                 FindingKind::kWriteAfterWrite};
  constexpr std::string_view kPossible = "possible-";
  constexpr std::string_view kOrdered = "ordered-";
  if (signature.starts_with(kPossible)) signature.remove_prefix(kPossible.size());
  const std::string_view kind_word = take_signature_part(signature);
  const auto kind = std::ranges::find(kKinds, kind_word, [](FindingKind k) { return word_of(k); });
  if (kind == kKinds.end()) return std::nullopt;
  if (signature.starts_with(kOrdered)) signature.remove_prefix(kOrdered.size());
  HazardSignature result{*kind, AliasShape::kSameRange, {}};
  const std::string_view shape_word = take_signature_part(signature);
  const auto is_named = [&](AliasShape shape) { return word_of(shape) == shape_word; };
  const auto shape = std::ranges::find_if(kAliasShapes, is_named);
  if (shape == kAliasShapes.end() || signature.empty()) return std::nullopt;
  result.shape = *shape;
  while (!signature.empty()) result.kernels.emplace_back(take_signature_part(signature));
  const bool has_kernels = result.kernels.size() <= 2 &&
                           std::ranges::find(result.kernels, std::string()) == result.kernels.end();
  return has_kernels ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace interlock
