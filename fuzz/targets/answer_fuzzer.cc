// Any bytes, read as what an encoder, a planner, a backward pass or a replay policy outside of this
// process answers, give a program or an error, never a crash, a hang or unbounded memory. The bytes
// are the program that it was asked and, after a line "----", its answer; without that line the
// program is the answer. What is taken for an answer is what was asked once its sync, or its
// places, are gone, and can be judged.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "encoder/assemble/append_backward_by.h"
#include "encoder/plan/plan_by.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/external/external_backward.h"
#include "fuzz/external/external_passes.h"
#include "fuzz/external/external_program.h"
#include "fuzz/judge/findings.h"

namespace interlock {
namespace {

constexpr std::string_view kSeparator = "\n----\n";

constexpr size_t kJudgedMax = 64;  // Dispatches.

struct Parts {
  std::string_view asked;
  std::string_view answer;
};

Parts parts_of(std::string_view bytes) {
  const size_t separator = bytes.find(kSeparator);
  if (separator == std::string_view::npos) return {bytes, bytes};
  return {bytes.substr(0, separator), bytes.substr(separator + kSeparator.size())};
}

ParseOptions lenient_options() {
  ParseOptions lenient{.skips_invalid_lines = true, .reads_one_queue = true};
  lenient.limits.expansion_count = 10'000;
  return lenient;
}

void check_answer(std::string_view bytes) {
  const auto [asked, text] = parts_of(bytes);
  const Result<Program> program = parse(asked, "fuzz.ilk", lenient_options());
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
  if (answer->dispatches.size() <= kJudgedMax) find_exactly(*answer);
}

// `answer_to` reads an answer to `given`. What it takes it takes again as it prints it.
template <typename AnswerTo>
void check_pass(const Program& given, std::string_view text, const AnswerTo& answer_to) {
  const Result<Program> answer = answer_to(given, text);
  if (!answer) {
    INTERLOCK_CHECK(!answer.error().message.empty() && answer.error().message.size() < 4096);
    return;
  }
  INTERLOCK_CHECK(answer->tensors.size() >= given.tensors.size());
  const Result<Program> again = answer_to(given, print(*answer));
  INTERLOCK_CHECK(again.has_value() && print(*again) == print(*answer));
  if (answer->dispatches.size() <= kJudgedMax) find_everything(*answer);
}

// The gradient by the first tensor is asked for, and judged where there is one.
void check_backward(const Program& given, std::string_view text) {
  if (given.has_program_order || given.tensors.empty()) return;
  const auto name = [&](const Tensor& tensor) { return std::string(given.name(tensor.name)); };
  const std::string first = name(given.tensors.front());
  const std::string remark =
      remark_of(BackwardDraft{.loss = name(given.tensors.back()), .wrt = {first}}, {"d_" + first});
  INTERLOCK_CHECK(!backward_question_text(given, remark).empty());
  check_pass(given, text, [&](const Program& asked_for, std::string_view answer) {
    return backward_answer_of(asked_for, answer, wanted_gradients(remark));
  });
}

void check_passes(std::string_view bytes) {
  const auto [asked, text] = parts_of(bytes);
  Result<Program> program = parse(asked, "fuzz.ilk", lenient_options());
  if (!program) return;
  program->witness.clear();
  program->expectations.clear();
  INTERLOCK_CHECK(!replay_question_text(*program, "replay").empty());
  check_pass(*program, text, replay_answer_of);
  const Result<Program> given = spelled_out(*program);
  if (!given) return;
  check_backward(*given, text);
  INTERLOCK_CHECK(!plan_question_text(*given, remark_of({})).empty());
  check_pass(*given, text, [](const Program& asked_for, std::string_view answer) {
    return plan_answer_of(asked_for, answer, 4);
  });
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  interlock::check_answer(bytes);
  interlock::check_passes(bytes);
  return 0;
}
