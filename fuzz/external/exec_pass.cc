#include "fuzz/external/exec_pass.h"

#include <string_view>

#include "encoder/program/check.h"
#include "encoder/program/names.h"
#include "fuzz/external/external_backward.h"
#include "fuzz/external/external_passes.h"

namespace interlock {
namespace {

constexpr const char* kFirstPlan =
    "interlock 1\n# plan align=4 slack=0 antichain=0 keep-inputs=0 opaque-in-place=1\n"
    "tensor a f32[4]  # place 16\noutput a\ndispatch Only writes a  # write a 0 16\n";
constexpr const char* kFirstBackward =
    "interlock 1\n# backward loss=y wrt=x:d_x\ntensor x f32[4] = random(1)\ntensor y f32[4]\n"
    "dispatch scale reads x writes y factor=2  # read x 0 16, write y 0 16\n";
constexpr const char* kFirstReplay =
    "interlock 1\n# replay\ntensor a f32[4]\noutput a\ndispatch Only writes a\n";

// Of the remark that apply() is given.
uint64_t alignment_in(std::string_view remark) {
  constexpr std::string_view kWord = "align=";
  const size_t begin = remark.find(kWord);
  INTERLOCK_CHECK(begin != std::string_view::npos);
  const std::string_view number = remark.substr(begin + kWord.size());
  const auto alignment_bytes = decimal_of(number.substr(0, number.find(' ')));
  INTERLOCK_CHECK(alignment_bytes.value_or(0) > 0);
  return *alignment_bytes;
}

// One question to each kind of pass, to see that the command can be started.
constexpr const char* first_question_to(PassKind kind) {
  switch (kind) {
    case PassKind::kPlanner:
      return kFirstPlan;
    case PassKind::kBackward:
      return kFirstBackward;
    case PassKind::kReplay:
      return kFirstReplay;
  }
  return nullptr;
}

// What the pass is given of a program.
Program given_of(PassKind kind, const Program& program) {
  if (kind == PassKind::kPlanner) return spelled_out(program).value();
  Program given = program;
  given.witness.clear();
  given.expectations.clear();
  return given;
}

std::string question_of(PassKind kind, const Program& given, const std::string& remark) {
  if (kind == PassKind::kPlanner) return plan_question_text(given, remark);
  return kind == PassKind::kBackward ? backward_question_text(given, remark)
                                     : replay_question_text(given, remark);
}

Result<Program> passed_of(PassKind kind, const Program& given, std::string_view text,
                          const std::string& remark) {
  if (kind == PassKind::kPlanner) return plan_answer_of(given, text, alignment_in(remark));
  if (kind == PassKind::kReplay) return replay_answer_of(given, text);
  return backward_answer_of(given, text, wanted_gradients(remark));
}

}  // namespace

std::string_view word_of(PassKind kind) {
  if (kind == PassKind::kPlanner) return "planner";
  return kind == PassKind::kBackward ? "backward pass" : "replay policy";
}

Result<std::unique_ptr<ExecPass>> ExecPass::open(PassKind kind, ExecOptions options) {
  options.noun = word_of(kind);
  auto processes = ProcessPool::open(std::move(options), first_question_to(kind));
  if (!processes) return processes.error();
  return std::unique_ptr<ExecPass>(new ExecPass(kind, std::move(*processes)));
}

Encoding ExecPass::apply(const Program& program, const std::string& remark) {
  const Program given = given_of(kind_, program);
  return encoding_of(processes_->ask(question_of(kind_, given, remark)),
                     [&](std::string_view text) { return passed_of(kind_, given, text, remark); });
}

}  // namespace interlock
