#include "fuzz/conform/patient_encoder.h"

#include <fmt/format.h>

namespace interlock {

Encoding HangAllowance::not_asked() {
  return {{},
          EncodeFailure{EncodeFailureKind::kNotAsked,
                        fmt::format("The encoder did not answer {} times, and is not asked any "
                                    "more.",
                                    kHangsInAllMax)},
          {}};
}

void HangAllowance::note(const Encoding& encoding) {
  if (!encoding.failure) return;
  const bool is_hang = encoding.failure->kind == EncodeFailureKind::kHang;
  const bool is_spent = is_hang && ++hang_count_ >= kHangsInAllMax;
  if (is_spent || encoding.failure->kind == EncodeFailureKind::kNotAsked) is_given_up_ = true;
}

Encoding PatientEncoder::encode(const Program& program) {
  return allowance_.asked([&] { return encoder_.encode(program); });
}

Encoding PatientEncoder::encode_afresh(const Program& program) {
  return allowance_.asked([&] { return encoder_.encode_afresh(program); });
}

Encoding PatientQueueEncoder::encode(const Program& program, uint32_t queue_count) {
  return allowance_.asked([&] { return encoder_.encode(program, queue_count); });
}

Encoding PatientQueueEncoder::encode_afresh(const Program& program, uint32_t queue_count) {
  return allowance_.asked([&] { return encoder_.encode_afresh(program, queue_count); });
}

}  // namespace interlock
