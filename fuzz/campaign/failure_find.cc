#include "fuzz/campaign/failure_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace interlock {
namespace {

constexpr std::array kFailureKinds = {
    EncodeFailureKind::kIllegal,  EncodeFailureKind::kLongAnswer,   EncodeFailureKind::kCrash,
    EncodeFailureKind::kEarlyEnd, EncodeFailureKind::kHang,         EncodeFailureKind::kStopped,
    EncodeFailureKind::kNotAsked, EncodeFailureKind::kWrongGradient};

}  // namespace

bool is_failure_word(std::string_view signature) {
  return std::ranges::any_of(kFailureKinds,
                             [&](EncodeFailureKind kind) { return word_of(kind) == signature; });
}

CampaignFind find_of_failure(const std::string& signature, std::string cause, std::string message,
                             const Program& program, const Program& small) {
  return {.signature = signature,
          .cause = {std::move(cause), "", false},
          .program = small,
          .given = small,
          .original_dispatch_count = program.dispatches.size(),
          .dispatch_count = small.dispatches.size(),
          .failure = std::move(message)};
}

CampaignFind find_that_does_not_repeat(const Program& program, const std::string& signature,
                                       const std::optional<EncodeFailure>& failure,
                                       std::string_view noun) {
  if (failure && failure->kind == EncodeFailureKind::kStopped) {
    return find_of_failure(signature, signature, "A stop came before it was looked at.", program,
                           program);
  }
  if (failure && failure->kind == EncodeFailureKind::kNotAsked) {
    return find_of_failure(
        signature, std::string(word_of(EncodeFailureKind::kNotAsked)),
        fmt::format("This program gave {}. The {} hung on too many after that to "
                    "be asked again, so that it was not made small.",
                    signature, noun),
        program, program);
  }
  const std::string then = failure ? "there was " + std::string(word_of(failure->kind)) : "not";
  return find_of_failure(
      signature, "unrepeatable",
      fmt::format("The {} was asked for this program twice and did not do the same: once there was "
                  "{}, and then {}. It keeps something from one program to the next, or throws "
                  "dice.",
                  noun, signature, then),
      program, program);
}

}  // namespace interlock
