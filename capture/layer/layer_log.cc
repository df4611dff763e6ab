#include "capture/layer/layer_log.h"

#include "capture/layer/callers.h"

namespace interlock {
namespace {

thread_local uint64_t last_handle_of_thread = 0;

}  // namespace

uint64_t LayerLog::last_handle() { return last_handle_of_thread; }

void LayerLog::note_place(uint64_t handle) {
  last_handle_of_thread = handle;
  if (with_callers_) append_caller(writer_, handle);
}

}  // namespace interlock
