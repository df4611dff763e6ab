// Conformance as one line of GoogleTest:
//
//     INTERLOCK_CONFORMANCE(MyEncoder);
//
// fails for each property of docs/conformance.md that the encoder lacks, writes the program that
// shows it, and prints the command that replays it. What is only advice is printed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "encoder/sync/encoder.h"
#include "fuzz/conform/conform.h"

namespace interlock {

// Where the macro writes: the folder NAME in that of INTERLOCK_OUT, else in the test's temporary
// one.
inline std::string conformance_folder(const std::string& name) {
  const char* const folder = std::getenv("INTERLOCK_OUT");
  const std::string root = folder != nullptr ? std::string(folder) + "/" : testing::TempDir();
  return root + "interlock-conformance/" + name;
}

// Fails the test for each property that the encoder lacks.
inline void expect_conformance(const EncoderEntry& encoder, const ConformOptions& options) {
  const Result<ConformReport> report = conform(encoder, options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return;
  }
  for (const std::string& disagreement : report->disagreements) ADD_FAILURE() << disagreement;
  for (const ConformProperty& property : report->properties) {
    const std::string text = std::string(property.name) + ": " + property.detail;
    const bool has_witness = property.counterexample && !property.counterexample->witness.empty();
    const std::string command =
        has_witness ? "\nReplay: interlock replay " : "\nReport: interlock check ";
    const std::string replay = property.path.empty() ? "" : command + property.path;
    if (property.verdict == ConformVerdict::kFails) {
      ADD_FAILURE() << text << replay << "\n" << property.text;
    } else if (property.verdict == ConformVerdict::kAdvice) {
      std::cout << "advice: " << text << replay << "\n";
    }
  }
}

// Of a class that implements Encoder and can be made without arguments.
template <typename EncoderType>
void expect_conformance_of(const std::string& name, ConformOptions options = {}) {
  const EncoderEntry entry{name, "", false, []() -> std::unique_ptr<Encoder> {
                             return std::make_unique<EncoderType>();
                           }};
  if (options.out_dir.empty()) options.out_dir = conformance_folder(name);
  expect_conformance(entry, options);
}

// What the macro tries: a few seconds.
inline ConformOptions conformance_options() {
  return {.run_count = 2000, .stream_dispatches = 100'000};
}

}  // namespace interlock

// `EncoderType` is a name without "::".
#define INTERLOCK_CONFORMANCE(EncoderType)                                               \
  TEST(EncoderType, ConformsToInterlock) {                                               \
    ::interlock::expect_conformance_of<EncoderType>(#EncoderType,                        \
                                                    ::interlock::conformance_options()); \
  }                                                                                      \
  static_assert(true, "a semicolon follows")
