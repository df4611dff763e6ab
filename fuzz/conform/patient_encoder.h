// PatientEncoder: an encoder that is waited for so often and no longer. One that hangs on part of
// its programs would else take the whole time that an answer may have for each of them, minutes or
// hours in all.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "encoder/sync/external_encoder.h"

namespace interlock {

// For one program that hangs to be made small (kHangsWhileMinimizing), and as much again.
inline constexpr uint64_t kHangsInAllMax = 32;

class PatientEncoder final : public ExternalEncoder {
 public:
  // Requires: `encoder` outlives this.
  explicit PatientEncoder(ExternalEncoder& encoder) : encoder_(encoder) {}

  // As those of `encoder`; after kHangsInAllMax hangs, or where that one asks no more, kNotAsked.
  Encoding encode(const Program& program) override;
  Encoding encode_afresh(const Program& program) override;

  bool collect_branches() override { return encoder_.collect_branches(); }
  std::optional<uint64_t> resident_bytes() override { return encoder_.resident_bytes(); }

  // Whether nothing is asked any more.
  bool is_given_up() const { return is_given_up_; }

 private:
  Encoding asked(Encoding (ExternalEncoder::*ask)(const Program&), const Program& program);

  ExternalEncoder& encoder_;
  std::atomic<uint64_t> hang_count_{0};
  std::atomic<bool> is_given_up_{false};
};

}  // namespace interlock
