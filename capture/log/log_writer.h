// LogWriter: appends records to a file, from any thread. The basic idea is that the file is mapped,
// so that what was appended survives the end of the process, however it comes; and that no call of
// an application ever fails because of the log: where it cannot grow, it ends, and says why. The
// number of the file is the process's, which may close it and open another file under it: so before
// each use it is compared with what was opened, and the log is opened again where it is gone.
//
// Nothing here throws or needs more than the C library: it lives in strangers' processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "capture/log/fields.h"
#include "capture/log/log_format.h"
#include "capture/log/object_records.h"
#include "capture/log/record_kind.h"

namespace interlock {

class LogWriter {
 public:
  LogWriter() = default;
  ~LogWriter() { close(); }
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Creates the file, which must not be there. Returns 0, or the errno that says why not; then
  // nothing is ever written.
  int open(const std::string& path);

  // Appends the record; holds a lock while its bytes are copied, and while the file grows for them.
  // Cost: about 50 ns and the bytes; once in 4 MiB, as many are taken from the disk and mapped.
  template <typename Record>
  void append(const Record& record) {
    SizeFields size;
    Record::each_field(record, size);
    const std::lock_guard lock(mutex_);
    if (size.size_bytes() <= kRecordBytesMax) {
      put(record, size.size_bytes());
    } else {
      put_lost({Record::kKind, size.size_bytes()});
    }
  }

  // Cuts the file to what was appended, and writes no more.
  void close();

  // Around a fork. A thread that held the lock then would be none of the new process, where nobody
  // could take it any more: so it is the thread that forks that holds it. The new process writes no
  // more, and leaves the file to the other one.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }
  void abandon();  // In the new process, instead of unlock_after_fork().

  // Why the log ended early: an errno; 0 if it did not. EBADF: the process took its file away.
  int write_error() const { return write_error_; }

 private:
  // Maps so many bytes at the end of the log. False if they cannot be had.
  bool make_room(size_t size_bytes);
  // Whether `file` is the one that was opened.
  bool is_log(int file) const;
  // The log's own file, opened again if the process has closed it; -1 if it cannot be.
  int own_file();
  void leave_file();  // Closes it, if it still is the log's.
  void end_with(int error);

  template <typename Record>
  void put(const Record& record, size_t size_bytes) {
    const size_t all_bytes = kRecordHeadBytes + size_bytes;
    if (all_bytes > room_bytes_ && !make_room(all_bytes)) return;
    ByteFields fields(next_ + kRecordHeadBytes);
    Record::each_field(record, fields);
    publish(Record::kKind, size_bytes);
  }
  void put_lost(const LostRecord& record);
  // Writes the head of the record whose bytes are there, and goes on after it.
  void publish(RecordKind kind, size_t size_bytes);

  std::mutex mutex_;
  std::string path_;
  int file_ =
      -1;  // Since it was opened, at least 0; what it means now says is_log(). So the next two.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  int write_error_ = 0;
  std::byte* header_ = nullptr;  // The first page of the file.
  std::byte* window_ = nullptr;  // What is mapped of the rest.
  size_t window_bytes_ = 0;
  uint64_t window_offset_ = 0;  // In the file.
  std::byte* next_ = nullptr;   // In the window: where the next record begins.
  size_t room_bytes_ = 0;       // From there on.
};

}  // namespace interlock
