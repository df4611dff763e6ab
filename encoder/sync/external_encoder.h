// ExternalEncoder: an encoder that is no part of this build, such as another process or a library
// that is loaded. It is given whole programs and may fail at any: it crashes, it is silent, it
// answers with another program. That is told, and ends nothing here. ExternalPass is the same of
// the passes before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"

namespace interlock {

enum class EncodeFailureKind : uint8_t {
  kIllegal,     // What it made is not the program that it was given, with sync.
  kLongAnswer,  // What it made is larger than any sync could make it.
  kCrash,       // A signal ended it, or it ended with a status that says so.
  kEarlyEnd,    // It ended, or ended its output, as if it were done.
  kHang,        // It did not answer in time.
  kStopped,     // Nobody waits for the answer any more. Says nothing about the encoder.
  // It hung on so many programs before this one that it was not given it. Says nothing about what
  // it would have done: no judge compares it with an answer, nor with a failure.
  kNotAsked,
  kWrongGradient,  // What a backward pass appended is no gradient.
};

// "illegal-answer", "long-answer", "crash", "early-end", "hang", "stopped", "not-asked",
// "wrong-gradient".
std::string_view word_of(EncodeFailureKind kind);

struct EncodeFailure {
  EncodeFailureKind kind = EncodeFailureKind::kIllegal;
  std::string message;  // A complete sentence.
};

// What became of a program. After a failure `program` has no dispatch.
struct Encoding {
  Program program;
  std::optional<EncodeFailure> failure;
  // Which branches it took, and how often, as numbers; of one that was asked to collect them.
  std::vector<uint64_t> branches;
};

class ExternalEncoder {
 public:
  virtual ~ExternalEncoder() = default;

  // As encode() of encoder.h. May be called from several threads at once.
  virtual Encoding encode(const Program& program) = 0;

  // The same of an encoder that was given nothing before, where there can be one.
  virtual Encoding encode_afresh(const Program& program) { return encode(program); }

  // From now on Encoding::branches says which branches it takes. Returns whether it can: else it
  // does not.
  virtual bool collect_branches() { return false; }

  // What its processes take of memory; none where it is part of this one.
  virtual std::optional<uint64_t> resident_bytes() { return std::nullopt; }
};

// A planner, a backward pass or a replay policy that is no part of this build.
class ExternalPass {
 public:
  virtual ~ExternalPass() = default;

  // What it makes of `program`, spelled out as the passes of this build do. `remark` is what else
  // it is told, on one line. May be called from several threads at once.
  virtual Encoding apply(const Program& program, const std::string& remark) = 0;
};

// What `encoder` makes of the program, wherever it is. Registered encoders are not trusted either.
// Cost: as encode().
Encoding encode_by(const Program& program, const EncoderEntry& encoder);

}  // namespace interlock
