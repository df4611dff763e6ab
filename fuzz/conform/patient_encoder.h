// PatientEncoder: an encoder that is waited for so often and no longer. One that hangs on part of
// its programs would else take the whole time that an answer may have for each of them, minutes or
// hours in all.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "encoder/queues/external_queue_encoder.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// For one program that hangs to be made small (kHangsWhileMinimizing), and as much again.
inline constexpr uint64_t kHangsInAllMax = 32;

// How often it is still waited for.
class HangAllowance {
 public:
  // The answer of `ask`, or kNotAsked.
  template <typename Ask>
  Encoding asked(const Ask& ask) {
    if (is_given_up_) return not_asked();
    Encoding encoding = ask();
    note(encoding);
    return encoding;
  }

  bool is_given_up() const { return is_given_up_; }

 private:
  static Encoding not_asked();
  void note(const Encoding& encoding);

  std::atomic<uint64_t> hang_count_{0};
  std::atomic<bool> is_given_up_{false};
};

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
  bool is_given_up() const { return allowance_.is_given_up(); }

 private:
  ExternalEncoder& encoder_;
  HangAllowance allowance_;
};

// The same of encoders for several queues.
class PatientQueueEncoder final : public ExternalQueueEncoder {
 public:
  explicit PatientQueueEncoder(ExternalQueueEncoder& encoder) : encoder_(encoder) {}

  Encoding encode(const Program& program, uint32_t queue_count) override;
  Encoding encode_afresh(const Program& program, uint32_t queue_count) override;

  bool is_given_up() const { return allowance_.is_given_up(); }

 private:
  ExternalQueueEncoder& encoder_;
  HangAllowance allowance_;
};

}  // namespace interlock
