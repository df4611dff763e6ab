// Programs as a test writes them: in text, from a file, or as an encoder encodes them. What goes
// wrong is a failure of the test, with the sentence that says why, and an empty program.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/judgements.h"

namespace interlock {

// Returns the value, or fails the test.
inline Program value_or_fail(Result<Program> program) {
  if (program) return std::move(program).value();
  ADD_FAILURE() << program.error().message;
  return {};
}

// The program in `text`, with or without the line "interlock 1".
inline Program program_of(std::string_view text) { return value_or_fail(parse_body(text)); }

// The program in a file: recorded, minimized or written.
inline Program program_in(const std::string& path) {
  return value_or_fail(parse_file(path, whole_model()));
}

// Returns `program` as the encoder encodes it. Requires: the encoder is fresh.
inline Program encode_with(Encoder& encoder, const Program& program) {
  return value_or_fail(encode_checked(program, encoder));
}
inline Program encode_with(Encoder&& encoder, const Program& program) {
  return encode_with(encoder, program);
}

// As an encoder for several queues encodes it, on as many queues of this kind as it uses: q1, q2, …
inline Program encode_with(Encoder& encoder, const Program& program, QueueKind kind) {
  return value_or_fail(encode_checked(program, encoder, kind));
}
inline Program encode_with(Encoder&& encoder, const Program& program, QueueKind kind) {
  return encode_with(encoder, program, kind);
}

// By name: "interlock", "semaphores", and what else `interlock list encoders` names. Those for
// several queues take how many there may be; 0: as the program says, or as the encoder chooses.
inline Program encode_with(std::string_view encoder_name, const Program& program,
                           uint32_t queue_count = 0) {
  return value_or_fail(encode_checked(program, encoder_name, queue_count));
}

inline Program encode_with(Encoder& encoder, std::string_view text) {
  return encode_with(encoder, program_of(text));
}
inline Program encode_with(Encoder&& encoder, std::string_view text) {
  return encode_with(encoder, program_of(text));
}
inline Program encode_with(Encoder& encoder, std::string_view text, QueueKind kind) {
  return encode_with(encoder, program_of(text), kind);
}
inline Program encode_with(Encoder&& encoder, std::string_view text, QueueKind kind) {
  return encode_with(encoder, program_of(text), kind);
}
inline Program encode_with(std::string_view encoder_name, std::string_view text,
                           uint32_t queue_count = 0) {
  return encode_with(encoder_name, program_of(text), queue_count);
}

// How GoogleTest prints a program: its text, shortened when long.
inline void PrintTo(const Program& program, std::ostream* out) {
  constexpr int kLineCountMax = 60;
  const std::string text = print(program);
  size_t end = 0;
  for (int line = 0; line < kLineCountMax && end < text.size(); ++line) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  *out << "the program\n" << text.substr(0, end);
  if (end < text.size()) {
    *out << "… and "
         << std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n')
         << " more lines\n";
  }
}

}  // namespace interlock
