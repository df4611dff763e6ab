// Channel: whole messages over file descriptors, with a deadline. Neither end relies on the
// other one to answer, or to be alive.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/stop.h"

namespace interlock {

enum class ChannelStatus : uint8_t {
  kDone,
  kClosed,   // The other end is gone, or sends what is no message.
  kSilent,   // The deadline passed.
  kStopped,  // The caller was asked to stop, and the other end took too long after that.
};

struct ChannelPatience {
  // When to give up waiting. The default: never.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const Stop* stop = nullptr;  // Once it is requested, a grace of half a second is left.
};

// Sends `message` through the descriptor, which may be a socket, a pipe or a file.
ChannelStatus send_message(int descriptor, std::string_view message,
                           const ChannelPatience& patience = {});

// Replaces `message` by the next one.
ChannelStatus receive_message(int descriptor, std::string& message,
                              const ChannelPatience& patience = {});

}  // namespace interlock
