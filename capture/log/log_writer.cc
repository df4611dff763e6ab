#include "capture/log/log_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace interlock {
namespace {

// As much is mapped, and taken from the disk, at a time.
constexpr size_t kWindowBytes = size_t{4} << 20;

// Numbers below are left to the application: what it opens has those that it had without a log.
constexpr int kFileMin = 256;

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Returns -1 and sets errno if it cannot be.
int open_above_others(const char* path, int flags) {
  const int file = ::open(path, flags | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  const int above = fcntl(file, F_DUPFD_CLOEXEC, kFileMin);
  if (above < 0) return file;  // The process may have no such number.
  ::close(file);
  return above;
}

void* map(int file, uint64_t offset, size_t size_bytes) {
  void* const address = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                             file, static_cast<off_t>(offset));
  return address == MAP_FAILED ? nullptr : address;
}

// Takes the bytes from the disk: a page that is not there is a signal to whoever writes to it. So
// is a file that is longer than the process may make one. Returns an errno.
int take_from_disk(int file, uint64_t offset, size_t size_bytes) {
  rlimit limit = {};
  const bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (is_limited && offset + size_bytes > limit.rlim_cur) return EFBIG;
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(size_bytes));
  }
  return error;
}

}  // namespace

void LogWriter::close() {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  const uint64_t end = window_ == nullptr ? kLogHeaderBytes
                                          : window_offset_ + static_cast<uint64_t>(next_ - window_);
  if (window_ != nullptr) munmap(window_, window_bytes_);
  munmap(header_, page_bytes());
  // A log that is not cut ends at a record that was not written.
  if (const int file = own_file(); file >= 0) {
    static_cast<void>(ftruncate(file, static_cast<off_t>(end)));
  }
  leave_file();
  window_ = nullptr;
  room_bytes_ = 0;
}

int LogWriter::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const int file = open_above_others(path.c_str(), O_CREAT | O_EXCL);
  if (file < 0) return errno;
  struct stat opened = {};
  if (fstat(file, &opened) != 0) return errno;
  int error = take_from_disk(file, 0, page_bytes());
  if (error == 0) {
    header_ = static_cast<std::byte*>(map(file, 0, page_bytes()));
    if (header_ == nullptr) error = errno;
  }
  if (error != 0) {
    ::close(file);
    return error;
  }
  const LogHeader header;
  std::memcpy(header_, &header, sizeof(header));
  file_ = file;
  path_ = path;
  device_ = opened.st_dev;
  inode_ = opened.st_ino;
  window_offset_ = 0;
  window_ = static_cast<std::byte*>(map(file, 0, page_bytes()));
  if (window_ == nullptr) {
    end_with(errno);
    return write_error_;
  }
  window_bytes_ = page_bytes();
  next_ = window_ + kLogHeaderBytes;
  room_bytes_ = window_bytes_ - kLogHeaderBytes;
  return 0;
}

void LogWriter::abandon() {
  leave_file();
  room_bytes_ = 0;
  write_error_ = ECHILD;
  mutex_.unlock();
}

bool LogWriter::is_log(int file) const {
  struct stat now = {};
  return file >= 0 && fstat(file, &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

int LogWriter::own_file() {
  if (is_log(file_)) return file_;
  const int again = open_above_others(path_.c_str(), 0);
  if (again < 0) return -1;
  if (is_log(again)) return file_ = again;
  ::close(again);
  return -1;
}

void LogWriter::leave_file() {
  if (is_log(file_)) ::close(file_);
  file_ = -1;
}

bool LogWriter::make_room(size_t size_bytes) {
  if (file_ < 0 || write_error_ != 0) return false;
  const uint64_t end = window_offset_ + static_cast<uint64_t>(next_ - window_);
  const uint64_t page = page_bytes();
  const uint64_t offset = end / page * page;
  // Where there is not as much left, less, down to what the record needs.
  uint64_t room = std::max<uint64_t>(size_bytes, kWindowBytes);
  size_t bytes = 0;
  const int file = own_file();
  int error = file < 0 ? EBADF : ENOSPC;
  for (bool is_last = file < 0; error != 0 && !is_last;
       room = std::max<uint64_t>(size_bytes, room / 2)) {
    is_last = room == size_bytes;
    bytes = static_cast<size_t>((end - offset + room + page - 1) / page * page);
    error = take_from_disk(file, offset, bytes);
  }
  if (error != 0) {
    end_with(error);
    return false;
  }
  auto* const window = static_cast<std::byte*>(map(file, offset, bytes));
  if (window == nullptr) {
    end_with(errno);
    return false;
  }
  munmap(window_, window_bytes_);
  window_ = window;
  window_bytes_ = bytes;
  window_offset_ = offset;
  next_ = window + (end - offset);
  room_bytes_ = bytes - static_cast<size_t>(end - offset);
  return true;
}

void LogWriter::end_with(int error) {
  write_error_ = error;
  room_bytes_ = 0;
  const auto noted = static_cast<uint32_t>(error);
  std::memcpy(header_ + offsetof(LogHeader, write_error), &noted, sizeof(noted));
}

void LogWriter::put_lost(const LostRecord& record) {
  SizeFields size;
  LostRecord::each_field(record, size);
  put(record, size.size_bytes());
}

void LogWriter::publish(RecordKind kind, size_t size_bytes) {
  const RecordHead head{static_cast<uint32_t>(size_bytes + 1), static_cast<uint32_t>(kind)};
  // A process that ends here leaves a record that is not there, and never half of one.
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(next_, &head, sizeof(head));
  next_ += kRecordHeadBytes + size_bytes;
  room_bytes_ -= kRecordHeadBytes + size_bytes;
}

}  // namespace interlock
