// Finds of what passes that are no part of this build do instead of answering.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/campaign/campaign.h"

namespace interlock {

// Each costs the whole time that an answer may take, so that so many are tried.
inline constexpr uint64_t kHangsWhileMinimizing = 12;

// Whether it is the word of an EncodeFailureKind.
bool is_failure_word(std::string_view signature);

// A find whose program, `small`, is what was asked; `message` says what happened then.
CampaignFind find_of_failure(const std::string& signature, std::string cause, std::string message,
                             const Program& program, const Program& small);

// The find of a program that gave this signature, where asking for it again did not: the pass does
// something else this time (`failure`, or none: it answers), so that it keeps a state between
// programs or throws dice, and the cause is "unrepeatable"; or it was not asked again, and nothing
// is said of it: the cause is "not-asked", or after a stop the signature. The program is as it was.
// `noun` is what the pass is.
CampaignFind find_that_does_not_repeat(const Program& program, const std::string& signature,
                                       const std::optional<EncodeFailure>& failure,
                                       std::string_view noun);

}  // namespace interlock
