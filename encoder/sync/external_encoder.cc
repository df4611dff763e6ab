#include "encoder/sync/external_encoder.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "encoder/program/result.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 8> kFailureWords = {
    "illegal-answer", "long-answer", "crash",     "early-end",
    "hang",           "stopped",     "not-asked", "wrong-gradient"};

}  // namespace

std::string_view word_of(EncodeFailureKind kind) {
  return kFailureWords[static_cast<size_t>(kind)];
}

Encoding encode_by(const Program& program, const EncoderEntry& encoder) {
  if (encoder.external != nullptr) return encoder.external->encode(program);
  Result<Program> encoded = try_encode(program, *encoder.create());
  if (encoded) return {std::move(*encoded), std::nullopt};
  return {{}, EncodeFailure{EncodeFailureKind::kIllegal, encoded.error().message}};
}

}  // namespace interlock
