// A libFuzzer target for an encoder: bytes choose a program, and the checks judge what it becomes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/oracles.h"
#include "simulator/schedules/byte_choice.h"

using MyEncoder = interlock::InterlockEncoder;  // Yours in its place.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const interlock::EncoderEntry entry{
      "mine", "", false,
      []() -> std::unique_ptr<interlock::Encoder> { return std::make_unique<MyEncoder>(); }};
  interlock::ByteChoice choice({data, size});
  const auto report = interlock::judge(interlock::generate(choice), {.encoder = &entry}, 0);
  if (!report.failure && report.facts.empty()) return 0;
  std::fputs(print(report.program).c_str(), stderr);
  std::abort();
}
