#include "fuzz/external/exec_pass.h"

#include <optional>

#include "encoder/program/check.h"
#include "encoder/program/names.h"
#include "fuzz/external/external_passes.h"

namespace interlock {
namespace {

constexpr const char* kFirstPlan =
    "interlock 1\n# plan align=4 slack=0 antichain=0 keep-inputs=0 opaque-in-place=1\n"
    "tensor a f32[4]  # place 16\noutput a\ndispatch Only writes a  # write a 0 16\n";
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

Encoding illegal(const Error& error) {
  return {{}, EncodeFailure{EncodeFailureKind::kIllegal, error.message}, {}};
}

}  // namespace

std::string_view word_of(PassKind kind) {
  return kind == PassKind::kPlanner ? "planner" : "replay policy";
}

Result<std::unique_ptr<ExecPass>> ExecPass::open(PassKind kind, ExecOptions options) {
  options.noun = word_of(kind);
  auto processes =
      ProcessPool::open(std::move(options), kind == PassKind::kPlanner ? kFirstPlan : kFirstReplay);
  if (!processes) return processes.error();
  return std::unique_ptr<ExecPass>(new ExecPass(kind, std::move(*processes)));
}

Encoding ExecPass::apply(const Program& program, const std::string& remark) {
  const bool is_planner = kind_ == PassKind::kPlanner;
  Program given = program;
  if (is_planner) {
    given = spelled_out(program).value();
  } else {
    given.witness.clear();
    given.expectations.clear();
  }
  FramedAnswer answer = processes_->ask(is_planner ? plan_question_text(given, remark)
                                                   : replay_question_text(given, remark));
  if (answer.failure) return {{}, std::move(answer.failure), {}};
  Result<Program> passed = is_planner ? plan_answer_of(given, answer.text, alignment_in(remark))
                                      : replay_answer_of(given, answer.text);
  if (!passed) return illegal(passed.error());
  return {std::move(*passed), std::nullopt, {}};
}

}  // namespace interlock
