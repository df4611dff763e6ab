// Logs as an application would leave them, written record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "capture/convert/summary.h"
#include "capture/convert/windows.h"
#include "capture/log/command_records.h"
#include "capture/log/fields.h"
#include "capture/log/log_format.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"
#include "encoder/program/limits.h"

namespace interlock {

// The code of a module over storage buffers of words (`%block`, and pointers to it and to a word):
// its entry point and decorations, then its variables and functions.
std::vector<uint32_t> shader_of(const std::string& head, const std::string& body);

class SyntheticLog {
 public:
  SyntheticLog();

  template <typename Record>
  void append(const Record& record) {
    SizeFields size;
    Record::each_field(record, size);
    const RecordHead head{static_cast<uint32_t>(size.size_bytes() + 1),
                          static_cast<uint32_t>(Record::kKind)};
    const size_t begin = bytes_.size();
    bytes_.resize(begin + sizeof(head) + size.size_bytes());
    std::memcpy(bytes_.data() + begin, &head, sizeof(head));
    ByteFields fields(reinterpret_cast<std::byte*>(bytes_.data()) + begin + sizeof(head));
    Record::each_field(record, fields);
  }

  // A buffer of 1,024 bytes with a memory of its own, both with this handle.
  void add_buffer(uint64_t handle);
  // A pipeline that loads binding 0 and stores binding 1, and its layout; both with this handle.
  void add_pipeline(uint64_t handle);
  // A set of that layout with these buffers.
  void add_set(uint64_t handle, uint64_t from, uint64_t to);
  // Buffers 1 to 3, pipeline 1, and two sets: set 1 from buffer 1 to 2, set 2 from 2 to 3.
  void add_chain();
  void add_dispatch(uint64_t commands, uint64_t pipeline, uint64_t set);
  void add_barrier(uint64_t commands, uint64_t source_stages, uint64_t source_accesses,
                   uint64_t destination_stages, uint64_t destination_accesses);
  void add_fill(uint64_t commands, uint64_t buffer, uint64_t offset_bytes = 0,
                uint64_t size_bytes = UINT64_MAX);
  void submit(uint64_t queue, uint64_t commands, uint64_t fence = 0);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct ConvertedLog {
  std::string text;  // Without comments.
  CaptureSummary summary;
  std::string error;
};

// Of a program that is read again: or `error` says why it is none.
ConvertedLog converted(const std::string& log, const Limits& limits = {});

// The windows of a log that is cut at the first full wait after so many bytes of each; all of them
// are programs. Requires: the log is one.
std::vector<CapturedWindow> windows_of(const std::string& log, uint64_t window_bytes = 0,
                                       CaptureSummary* summary = nullptr);

// The headlines of what a check finds.
std::vector<std::string> findings_of(const std::string& text);

}  // namespace interlock
