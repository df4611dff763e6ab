// Recordings as tests make them: into a file of their own, read back when they are closed.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "encoder/recorder.h"

namespace interlock {

struct Recording {
  interlock_status status = INTERLOCK_OK;
  std::string error;  // The sentence before close().
  std::string text;   // The file, after its header line.
};

// A file name that no other test has at the same time.
inline std::string recording_path(const std::string& name) {
  return ::testing::TempDir() + "recorder_" + std::to_string(getpid()) + "_" + name + ".ilk";
}

inline std::string content_of(const std::string& path) {
  std::string content;
  if (std::FILE* const file = std::fopen(path.c_str(), "rb")) {
    for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
      content += static_cast<char>(byte);
    }
    std::fclose(file);
  }
  return content;
}

// Opens a recorder, makes the calls, and closes it.
inline Recording recording_of(const std::function<void(interlock_recorder*)>& calls) {
  static int count = 0;  // A recording may be made inside another.
  const std::string path = recording_path("calls" + std::to_string(count++));
  interlock_recorder* const r = interlock_recorder_open(path.c_str());
  calls(r);
  Recording recording;
  recording.error = interlock_recorder_error(r);
  recording.status = interlock_recorder_close(r);
  recording.text = content_of(path);
  std::remove(path.c_str());
  constexpr std::string_view kHeader = "interlock 1\n";
  if (recording.text.starts_with(kHeader)) recording.text.erase(0, kHeader.size());
  return recording;
}

}  // namespace interlock
