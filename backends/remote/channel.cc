// A message travels after a mark and its size. The mark tells it from what a driver prints where
// it should not.
#include "backends/remote/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace interlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMark = 0x6b636f6c7265746e;
constexpr uint64_t kMessageBytesMax = 4ull << 30;
constexpr std::chrono::milliseconds kLookPeriod{100};  // For the flag that asks to stop.
constexpr std::chrono::milliseconds kGrace{500};

struct MessageHead {
  uint64_t mark = kMark;
  uint64_t size_bytes = 0;
};

// Waits until the descriptor can be read or written.
class Waiting {
 public:
  explicit Waiting(const ChannelPatience& patience) : patience_(patience) {}

  ChannelStatus until(int descriptor, short events) {
    for (;;) {
      const Clock::time_point now = Clock::now();
      const bool is_stopped = patience_.stop != nullptr && patience_.stop->is_requested();
      if (is_stopped && !grace_end_) grace_end_ = now + kGrace;
      if (grace_end_ && now >= *grace_end_) return ChannelStatus::kStopped;
      if (now >= patience_.deadline) return ChannelStatus::kSilent;
      pollfd waited{descriptor, events, 0};
      const int ready = poll(&waited, 1, static_cast<int>(kLookPeriod.count()));
      if (ready > 0) return ChannelStatus::kDone;
      if (ready < 0 && errno != EINTR) return ChannelStatus::kClosed;
    }
  }

 private:
  const ChannelPatience& patience_;
  std::optional<Clock::time_point> grace_end_;
};

bool is_transient(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

ChannelStatus send_bytes(int descriptor, std::string_view bytes, Waiting& waiting) {
  while (!bytes.empty()) {
    const ChannelStatus ready = waiting.until(descriptor, POLLOUT);
    if (ready != ChannelStatus::kDone) return ready;
    // Neither a signal when the other end is gone, nor a wait beyond the deadline.
    ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == ENOTSOCK) sent = write(descriptor, bytes.data(), bytes.size());
    if (sent < 0 && !is_transient(errno)) return ChannelStatus::kClosed;
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return ChannelStatus::kDone;
}

ChannelStatus receive_bytes(int descriptor, char* bytes, size_t size_bytes, Waiting& waiting) {
  while (size_bytes > 0) {
    const ChannelStatus ready = waiting.until(descriptor, POLLIN);
    if (ready != ChannelStatus::kDone) return ready;
    const ssize_t received = read(descriptor, bytes, size_bytes);
    if (received == 0 || (received < 0 && !is_transient(errno))) return ChannelStatus::kClosed;
    if (received > 0) {
      bytes += received;
      size_bytes -= static_cast<size_t>(received);
    }
  }
  return ChannelStatus::kDone;
}

}  // namespace

ChannelStatus send_message(int descriptor, std::string_view message,
                           const ChannelPatience& patience) {
  Waiting waiting(patience);
  const MessageHead head{kMark, message.size()};
  const std::string_view head_bytes(reinterpret_cast<const char*>(&head), sizeof head);
  const ChannelStatus sent = send_bytes(descriptor, head_bytes, waiting);
  return sent == ChannelStatus::kDone ? send_bytes(descriptor, message, waiting) : sent;
}

ChannelStatus receive_message(int descriptor, std::string& message,
                              const ChannelPatience& patience) {
  Waiting waiting(patience);
  char head_bytes[sizeof(MessageHead)];
  const ChannelStatus received = receive_bytes(descriptor, head_bytes, sizeof head_bytes, waiting);
  if (received != ChannelStatus::kDone) return received;
  MessageHead head;
  std::memcpy(&head, head_bytes, sizeof head);
  if (head.mark != kMark || head.size_bytes > kMessageBytesMax) return ChannelStatus::kClosed;
  // In parts, so that a size alone reserves nothing.
  constexpr uint64_t kPartBytes = 16ull << 20;
  message.clear();
  while (message.size() < head.size_bytes) {
    const size_t begin = message.size();
    message.resize(std::min(head.size_bytes, begin + kPartBytes));
    const ChannelStatus part =
        receive_bytes(descriptor, message.data() + begin, message.size() - begin, waiting);
    if (part != ChannelStatus::kDone) return part;
  }
  return ChannelStatus::kDone;
}

}  // namespace interlock
