#include "tests/bench/dispatch_stream.h"

#include <utility>

#include "encoder/program/check.h"
#include "encoder/text/parser.h"
#include "simulator/schedules/choice.h"

namespace interlock {

std::string dispatch_stream_text(int64_t dispatch_count, int64_t period) {
  std::string text = "interlock 1\nmemory pool 262144\n";
  SeededChoice choice(1);
  const auto slot = [](uint64_t index) {
    return "pool[" + std::to_string(index * 256) + ":" + std::to_string(index * 256 + 256) + "]";
  };
  for (int64_t i = 0; i < dispatch_count; ++i) {
    // Writes walk through the upper half; reads stay in the lower one, until the period is over.
    const bool depends = i % period == period - 1;
    text += "dispatch D reads";
    for (int read = 0; read < 3; ++read) {
      text += " " + slot(depends && read == 0 ? 512 + static_cast<uint64_t>(i - 1) % 512
                                              : choice.below(512));
    }
    text += " writes " + slot(512 + static_cast<uint64_t>(i) % 512) + "\n";
  }
  return text;
}

Program dispatch_stream(int64_t dispatch_count, int64_t period) {
  Result<Program> program = parse(dispatch_stream_text(dispatch_count, period));
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

}  // namespace interlock
