// The basic idea is to write and to read as each of both is possible: a process that answers while
// it still reads would else wait for this one, which waits for it.
#include "fuzz/external/framed_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "encoder/program/names.h"
#include "fuzz/external/resident_bytes.h"

namespace interlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookPeriod{100};  // For the flag that asks to stop.
constexpr std::chrono::milliseconds kGrace{500};
// A process whose output has ended is about to end.
constexpr std::chrono::milliseconds kExitPatience{1000};
constexpr size_t kHeadBytesMax = 32;
constexpr std::string_view kHeadWord = "program ";

bool is_transient(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

enum class WaitEnd : uint8_t { kReady, kHang, kStopped };

// Waits until one of the events is there.
class Patience {
 public:
  explicit Patience(const FramedLimits& limits)
      : stop_(limits.stop),
        deadline_(Clock::now() +
                  std::chrono::milliseconds(static_cast<int64_t>(limits.timeout_seconds * 1000))) {}

  WaitEnd until(pollfd& waited) {
    for (;;) {
      const Clock::time_point now = Clock::now();
      const bool is_stopped = stop_ != nullptr && stop_->is_requested();
      if (is_stopped) grace_end_ = std::min(grace_end_, now + kGrace);
      if (now >= grace_end_) return WaitEnd::kStopped;
      if (now >= deadline_) return WaitEnd::kHang;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - now);
      const auto period = std::min(kLookPeriod, left + std::chrono::milliseconds(1));
      if (poll(&waited, 1, static_cast<int>(period.count())) > 0) return WaitEnd::kReady;
    }
  }

 private:
  const Stop* stop_;
  Clock::time_point deadline_;
  Clock::time_point grace_end_ = Clock::time_point::max();  // Once it is stopped.
};

// How much of a received text is there.
struct Frame {
  bool is_head_whole = false;
  bool is_wrong = false;  // It does not begin with "program BYTES".
  size_t begin = 0;       // Of the text.
  uint64_t size_bytes = 0;

  bool is_whole(const std::string& received) const {
    return is_head_whole && received.size() - begin >= size_bytes;
  }
};

Frame frame_of(std::string_view received) {
  Frame frame;
  const size_t line_end = received.find('\n');
  const std::string_view head = received.substr(0, std::min(line_end, kHeadBytesMax + 1));
  const size_t word_bytes = std::min(head.size(), kHeadWord.size());
  frame.is_wrong = head.substr(0, word_bytes) != kHeadWord.substr(0, word_bytes) ||
                   (line_end == std::string_view::npos && head.size() > kHeadBytesMax);
  if (frame.is_wrong || line_end == std::string_view::npos) return frame;
  const auto size = decimal_of(head.substr(word_bytes));
  frame.is_wrong = !size.has_value() || head.size() > kHeadBytesMax;
  frame.is_head_whole = !frame.is_wrong;
  frame.begin = line_end + 1;
  frame.size_bytes = size.value_or(0);
  return frame;
}

// What a person is shown of an answer that is none.
std::string shown(std::string_view received) {
  return in_quotes(received.substr(0, std::min(received.find('\n'), kHeadBytesMax)));
}

}  // namespace

Result<std::unique_ptr<FramedProcess>> FramedProcess::start(const std::string& command) {
  auto process = WorkerProcess::start({"/bin/sh", "-c", "exec " + command});
  if (!process) return process.error();
  return std::unique_ptr<FramedProcess>(new FramedProcess(std::move(*process)));
}

std::optional<uint64_t> FramedProcess::resident_bytes() const {
  return resident_bytes_of(fmt::format("/proc/{}/statm", process_->id()));
}

FramedAnswer FramedProcess::fail(EncodeFailureKind kind, const std::string& message) {
  end_at_once();
  return {"", EncodeFailure{kind, message}};
}

FramedAnswer FramedProcess::lose(std::string_view noun) {
  const std::string end = process_->end(kExitPatience);
  if (!exit_status() && end == "was stopped") {
    return fail(EncodeFailureKind::kEarlyEnd,
                fmt::format("The {} ended its output before it had answered, and went on.", noun));
  }
  const bool is_clean = exit_status() == 0;
  return fail(is_clean ? EncodeFailureKind::kEarlyEnd : EncodeFailureKind::kCrash,
              fmt::format("The {} {} before it had answered.", noun, end));
}

FramedAnswer FramedProcess::ask(std::string_view question, const FramedLimits& limits) {
  received_.clear();
  const std::string sent = fmt::format("{}{}\n{}", kHeadWord, question.size(), question);
  std::string_view left = sent;
  Patience patience(limits);
  std::vector<char> buffer(64 << 10);
  for (;;) {
    pollfd waited{process_->descriptor(),
                  static_cast<short>(left.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    const WaitEnd end = patience.until(waited);
    if (end == WaitEnd::kStopped) {
      return fail(EncodeFailureKind::kStopped,
                  fmt::format("The {} did not answer before the stop.", limits.noun));
    }
    if (end == WaitEnd::kHang) {
      return fail(EncodeFailureKind::kHang, fmt::format("The {} did not answer within {} s.",
                                                        limits.noun, limits.timeout_seconds));
    }
    if ((waited.revents & POLLIN) != 0 || (waited.revents & POLLOUT) == 0) {
      const bool is_early = left.size() == sent.size();
      const ssize_t count =
          recv(process_->descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && !is_transient(errno))) return lose(limits.noun);
      received_.append(buffer.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
      if (count > 0 && is_early) {
        return fail(EncodeFailureKind::kIllegal, fmt::format("The {} wrote {} before it was asked.",
                                                             limits.noun, shown(received_)));
      }
    }
    if ((waited.revents & POLLOUT) != 0 && !left.empty()) {
      const ssize_t count =
          send(process_->descriptor(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      // Gone: what it still says, or its end, is received next.
      if (count < 0 && !is_transient(errno)) left = {};
      if (count > 0) left.remove_prefix(static_cast<size_t>(count));
    }
    const Frame frame = frame_of(received_);
    if (frame.is_wrong) {
      return fail(EncodeFailureKind::kIllegal,
                  fmt::format("The answer of the {} begins with {}, and not with the line "
                              "'program BYTES'.",
                              limits.noun, shown(received_)));
    }
    if (frame.is_head_whole && frame.size_bytes > limits.answer_bytes_max) {
      return fail(EncodeFailureKind::kLongAnswer,
                  fmt::format("The {} answers {} bytes with {}; at most {} are read.", limits.noun,
                              question.size(), frame.size_bytes, limits.answer_bytes_max));
    }
    if (!frame.is_whole(received_)) continue;
    if (received_.size() - frame.begin > frame.size_bytes) {
      return fail(EncodeFailureKind::kIllegal,
                  fmt::format("The {} wrote {} after its answer.", limits.noun,
                              shown(std::string_view(received_).substr(
                                  frame.begin + static_cast<size_t>(frame.size_bytes)))));
    }
    return {received_.substr(frame.begin), std::nullopt};
  }
}

}  // namespace interlock
