#include "capture/layer/sync_files.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace interlock {
namespace {

constexpr size_t kFilesKeptMax = 32;

// Descriptors from half of those on that a process may have: those before stay the application's,
// in the order that it knows.
int duplicate(int file) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  const rlim_t first = std::min<rlim_t>(limit.rlim_cur / 2, 1u << 19);
  return fcntl(file, F_DUPFD_CLOEXEC, static_cast<int>(first));
}

bool is_same(int a, int b) {
  const pid_t self = getpid();
  return syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
}

}  // namespace

uint64_t SyncFiles::find_kept(int file) {
  for (const Kept& kept : kept_) {
    if (is_same(kept.first, file) && is_same(kept.second, file)) return kept.number;
  }
  return 0;
}

uint64_t SyncFiles::find(int file) {
  if (file < 0) return 0;
  const std::lock_guard lock(mutex_);
  return find_kept(file);
}

uint64_t SyncFiles::keep(int file) {
  if (file < 0) return 0;
  const std::lock_guard lock(mutex_);
  if (const uint64_t known = find_kept(file); known != 0) return known;
  while (kept_.size() >= kFilesKeptMax) {
    const Kept& oldest = kept_.front();
    if (is_same(oldest.first, oldest.second)) {
      close(oldest.first);
      close(oldest.second);
    }
    kept_.pop_front();
  }
  const Kept kept{count_ + 1, duplicate(file), duplicate(file)};
  if (kept.second >= 0 && is_same(kept.first, kept.second)) {
    kept_.push_back(kept);
    return ++count_;
  }
  if (kept.first >= 0) close(kept.first);
  if (kept.second >= 0) close(kept.second);
  return 0;
}

}  // namespace interlock
