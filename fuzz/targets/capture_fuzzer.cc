// Any bytes, read as a log of `interlock capture`, give a program or an error with a position,
// never a crash, a hang or unbounded memory. What is written reads as a program.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "capture/convert/convert.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"

namespace interlock {
namespace {

void check_conversion(const std::string& log) {
  Limits limits;
  limits.statement_count = 10'000;
  std::istringstream input(log);
  std::ostringstream output;
  const Result<CaptureSummary> summary = convert_log(input, "fuzz.ilog", output, limits);
  if (!summary) {
    INTERLOCK_CHECK(summary.error().message.starts_with("fuzz.ilog: byte "));
    return;
  }
  const Result<Program> program =
      parse(output.str(), "fuzz.ilk", {.limits = limits, .reads_every_queue = true});
  INTERLOCK_CHECK(program.has_value());
  INTERLOCK_CHECK(program->statements.size() <= limits.statement_count);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  interlock::check_conversion({reinterpret_cast<const char*>(data), size});
  return 0;
}
