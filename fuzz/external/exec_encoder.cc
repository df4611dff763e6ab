#include "fuzz/external/exec_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/text/parser.h"
#include "fuzz/external/external_program.h"

namespace interlock {
namespace {

// An answer may be so much longer than what was asked: a barrier before each dispatch, with all of
// its scopes spelled out, takes less.
constexpr size_t kAnswerFactorMax = 8;
constexpr size_t kAnswerBytesMore = 64 << 10;

// What a shell ends with that cannot start a command (POSIX.1-2017, Shell Command Language, 2.8.2).
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

constexpr std::string_view kFirstQuestion =
    "interlock 1\nmemory a 64\ndispatch First writes a\ndispatch Second reads a\n";

}  // namespace

Result<std::unique_ptr<ExecEncoder>> ExecEncoder::open(ExecOptions options) {
  if (options.command.find_first_not_of(' ') == std::string::npos) {
    return Error{"the encoder 'exec:' names no command after the colon."};
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (std::ranges::any_of(options.command, is_control)) {
    return Error{"the command of the encoder 'exec:' has a control character."};
  }
  auto process = FramedProcess::start(options.command);
  if (!process) return process.error();
  std::unique_ptr<ExecEncoder> encoder(new ExecEncoder(std::move(options)));
  FramedProcess& first = **process;
  const Program program = parse(kFirstQuestion).value();
  const FramedAnswer answer =
      first.ask(question_text(program), {.timeout_seconds = encoder->options_.timeout_seconds,
                                         .answer_bytes_max = kAnswerBytesMore,
                                         .stop = encoder->options_.stop});
  if (!answer.failure) {
    encoder->idle_.push_back(std::move(*process));
    return encoder;
  }
  const std::optional<int> status = first.exit_status();
  if (status == kNotExecutable || status == kNotFound) {
    return error_of(
        "the command '{}' of the encoder cannot be started: the shell ends with status {}.",
        encoder->options_.command, *status);
  }
  return encoder;
}

ExecEncoder::~ExecEncoder() {
  const bool is_stopped = options_.stop != nullptr && options_.stop->is_requested();
  if (!is_stopped) return;
  for (const std::unique_ptr<FramedProcess>& process : idle_) process->end_at_once();
}

Encoding ExecEncoder::ask(std::unique_ptr<FramedProcess>& process, const Program& program) {
  if (options_.stop != nullptr && options_.stop->is_requested()) {
    return {{}, EncodeFailure{EncodeFailureKind::kStopped, "A stop came before it was asked."}};
  }
  if (hangs_in_a_row_ >= kHangsInARowMax) {
    return {{},
            EncodeFailure{EncodeFailureKind::kHang,
                          fmt::format("The encoder did not answer {} times in a row, and is not "
                                      "asked any more.",
                                      kHangsInARowMax)}};
  }
  if (process == nullptr) {
    auto started = FramedProcess::start(options_.command);
    if (!started) return {{}, EncodeFailure{EncodeFailureKind::kCrash, started.error().message}};
    process = std::move(*started);
  }
  const Program given = without_sync(program);
  const std::string question = question_text(given);
  FramedAnswer answer = process->ask(
      question, {.timeout_seconds = options_.timeout_seconds,
                 .answer_bytes_max = kAnswerFactorMax * question.size() + kAnswerBytesMore,
                 .stop = options_.stop});
  if (answer.failure) {
    const bool is_hang = answer.failure->kind == EncodeFailureKind::kHang;
    hangs_in_a_row_ = is_hang ? hangs_in_a_row_ + 1 : 0;
    process.reset();
    return {{}, std::move(answer.failure)};
  }
  hangs_in_a_row_ = 0;
  Result<Program> encoded = answer_of(given, answer.text);
  if (!encoded) return {{}, EncodeFailure{EncodeFailureKind::kIllegal, encoded.error().message}};
  return {std::move(*encoded), std::nullopt};
}

Encoding ExecEncoder::encode(const Program& program) {
  std::unique_ptr<FramedProcess> process;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      process = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  Encoding encoding = ask(process, program);
  if (process != nullptr) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(process));
  }
  return encoding;
}

Encoding ExecEncoder::encode_afresh(const Program& program) {
  std::unique_ptr<FramedProcess> process;
  return ask(process, program);
}

std::optional<uint64_t> ExecEncoder::resident_bytes() {
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
