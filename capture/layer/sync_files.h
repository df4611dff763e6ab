// SyncFiles: which files of semaphores and fences are the same.
//
// They have no number of their own: all of a driver may have one inode. So of each that is exported
// two descriptors are kept, and one that is imported is compared with those (kcmp). Two, as an
// application may close what it did not open: where they are no longer the same file they are not
// the layer's any more, and stay as they are.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>

namespace interlock {

class SyncFiles {
 public:
  // The number of a file that was exported, from 1: the same for the same one. 0 where that cannot
  // be told: without a descriptor, a kernel that compares, or room for two more.
  uint64_t keep(int file);
  // The number of one that is imported; 0: it is none of the last ones that were exported.
  uint64_t find(int file);

 private:
  struct Kept {
    uint64_t number = 0;
    int first = -1;
    int second = -1;
  };

  // As above. Requires: `mutex_` is held.
  uint64_t find_kept(int file);

  std::mutex mutex_;
  std::deque<Kept> kept_;  // The last one exported comes last.
  uint64_t count_ = 0;
};

}  // namespace interlock
