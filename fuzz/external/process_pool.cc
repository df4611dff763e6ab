#include "fuzz/external/process_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/error_of.h"

namespace interlock {
namespace {

// An answer may be so many times as long as what was asked: a barrier before each dispatch, with
// all of its scopes spelled out, takes less.
constexpr size_t kAnswerFactorMax = 8;

// What a shell ends with that cannot start a command (POSIX.1-2017, Shell Command Language, 2.8.2).
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

}  // namespace

Result<std::unique_ptr<ProcessPool>> ProcessPool::open(ExecOptions options,
                                                       const std::string& first_question) {
  if (options.command.find_first_not_of(' ') == std::string::npos) {
    return error_of("the {} 'exec:' names no command after the colon.", options.noun);
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (std::ranges::any_of(options.command, is_control)) {
    return error_of("the command of the {} 'exec:' has a control character.", options.noun);
  }
  auto process = FramedProcess::start(options.command);
  if (!process) return process.error();
  std::unique_ptr<ProcessPool> pool(new ProcessPool(std::move(options)));
  const FramedAnswer answer = (*process)->ask(first_question, pool->limits_for(first_question));
  if (!answer.failure) {
    pool->idle_.push_back(std::move(*process));
    return pool;
  }
  const std::optional<int> status = (*process)->exit_status();
  if (status == kNotExecutable || status == kNotFound) {
    return error_of("the command '{}' of the {} cannot be started: the shell ends with status {}.",
                    pool->options_.command, pool->options_.noun, *status);
  }
  return pool;
}

ProcessPool::~ProcessPool() {
  const bool is_stopped = options_.stop != nullptr && options_.stop->is_requested();
  if (!is_stopped) return;
  for (const std::unique_ptr<FramedProcess>& process : idle_) process->end_at_once();
}

FramedLimits ProcessPool::limits_for(const std::string& question) const {
  return {.noun = options_.noun,
          .timeout_seconds = options_.timeout_seconds,
          .answer_bytes_max = kAnswerFactorMax * question.size() + options_.answer_bytes_more,
          .stop = options_.stop};
}

FramedAnswer ProcessPool::ask(std::unique_ptr<FramedProcess>& process,
                              const std::string& question) {
  if (options_.stop != nullptr && options_.stop->is_requested()) {
    return {"", EncodeFailure{EncodeFailureKind::kStopped, "A stop came before it was asked."}};
  }
  if (hangs_in_a_row_ >= kHangsInARowMax) {
    return {"", EncodeFailure{EncodeFailureKind::kNotAsked,
                              fmt::format("The {} did not answer {} times in a row, and is not "
                                          "asked any more.",
                                          options_.noun, kHangsInARowMax)}};
  }
  if (process == nullptr) {
    auto started = FramedProcess::start(options_.command);
    if (!started) return {"", EncodeFailure{EncodeFailureKind::kCrash, started.error().message}};
    process = std::move(*started);
  }
  FramedAnswer answer = process->ask(question, limits_for(question));
  const bool is_hang = answer.failure && answer.failure->kind == EncodeFailureKind::kHang;
  hangs_in_a_row_ = is_hang ? hangs_in_a_row_ + 1 : 0;
  if (answer.failure) process.reset();
  return answer;
}

FramedAnswer ProcessPool::ask(const std::string& question) {
  std::unique_ptr<FramedProcess> process;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      process = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  FramedAnswer answer = ask(process, question);
  if (process != nullptr) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(process));
  }
  return answer;
}

FramedAnswer ProcessPool::ask_afresh(const std::string& question) {
  std::unique_ptr<FramedProcess> process;
  return ask(process, question);
}

std::optional<uint64_t> ProcessPool::resident_bytes() {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const std::unique_ptr<FramedProcess>& process : idle_) {
    const auto of_process = process->resident_bytes();
    if (!of_process) return std::nullopt;
    bytes += *of_process;
  }
  return bytes;
}

}  // namespace interlock
