// Any bytes, read as what an encoder outside of this process answers, give a program or an error,
// never a crash, a hang or unbounded memory. The bytes are the program that it was asked and, after
// a line "----", its answer; without that line the program, with its sync, is the answer. What is
// taken for an answer is what was asked once its sync is gone, and can be judged.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/external/external_program.h"
#include "fuzz/judge/findings.h"

namespace interlock {
namespace {

constexpr std::string_view kSeparator = "\n----\n";

void check_answer(std::string_view bytes) {
  const size_t separator = bytes.find(kSeparator);
  const std::string_view asked = bytes.substr(0, separator);
  const std::string_view text =
      separator == std::string_view::npos ? bytes : bytes.substr(separator + kSeparator.size());
  ParseOptions lenient{.skips_invalid_lines = true, .reads_one_queue = true};
  lenient.limits.expansion_count = 10'000;
  const Result<Program> program = parse(asked, "fuzz.ilk", lenient);
  if (!program) return;
  const Program given = without_sync(*program);
  INTERLOCK_CHECK(!question_text(given).empty());
  const Result<Program> answer = answer_of(given, text);
  if (!answer) {
    INTERLOCK_CHECK(!answer.error().message.empty() && answer.error().message.size() < 4096);
    return;
  }
  INTERLOCK_CHECK(answer->dispatches.size() == given.dispatches.size());
  INTERLOCK_CHECK(answer->memories.size() == given.memories.size());
  const Result<Program> again = answer_of(given, print(*answer));
  INTERLOCK_CHECK(again.has_value());
  INTERLOCK_CHECK(print(*again) == print(*answer));
  constexpr size_t kJudgedMax = 64;
  if (answer->dispatches.size() <= kJudgedMax) find_exactly(*answer);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  interlock::check_answer({reinterpret_cast<const char*>(data), size});
  return 0;
}
