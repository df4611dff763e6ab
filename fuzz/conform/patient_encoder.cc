#include "fuzz/conform/patient_encoder.h"

#include <fmt/format.h>

namespace interlock {

Encoding PatientEncoder::asked(Encoding (ExternalEncoder::*ask)(const Program&),
                               const Program& program) {
  if (is_given_up_) {
    return {{},
            EncodeFailure{EncodeFailureKind::kNotAsked,
                          fmt::format("The encoder did not answer {} times, and is not asked any "
                                      "more.",
                                      kHangsInAllMax)},
            {}};
  }
  Encoding encoding = (encoder_.*ask)(program);
  if (!encoding.failure) return encoding;
  const bool is_hang = encoding.failure->kind == EncodeFailureKind::kHang;
  const bool is_spent = is_hang && ++hang_count_ >= kHangsInAllMax;
  if (is_spent || encoding.failure->kind == EncodeFailureKind::kNotAsked) is_given_up_ = true;
  return encoding;
}

Encoding PatientEncoder::encode(const Program& program) {
  return asked(&ExternalEncoder::encode, program);
}

Encoding PatientEncoder::encode_afresh(const Program& program) {
  return asked(&ExternalEncoder::encode_afresh, program);
}

}  // namespace interlock
