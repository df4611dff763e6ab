#include "capture/layer/devices.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "capture/layer/run_options.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"

namespace interlock {
namespace {

// A folder: each process that loads the layer writes a log of its own there.
constexpr const char* kFolderVariable = "INTERLOCK_CAPTURE_DIR";
// What the manifest of the implicit layer asks for. It asks for one value, so that this is no
// folder; by itself it means the current one. "0" asks for no log, however the layer got here.
constexpr const char* kImplicitVariable = "INTERLOCK_CAPTURE";

// Closed with the process, and never gone: other threads may go on until the very end.
LayerLog* const the_log = new LayerLog;
struct Closing {
  ~Closing() { the_log->writer().close(); }
} closing;

void lock_log() { the_log->writer().lock_for_fork(); }
void unlock_log() { the_log->writer().unlock_after_fork(); }
void abandon_log() { the_log->writer().abandon(); }

// Of this process, without its folder.
std::string program_name() { return program_invocation_short_name; }

void start_log(const VkApplicationInfo* application) {
  const char* folder = std::getenv(kFolderVariable);
  const char* const implicit = std::getenv(kImplicitVariable);
  if (implicit != nullptr && std::strcmp(implicit, "0") == 0) return;
  if (folder == nullptr && implicit != nullptr) folder = ".";
  if (folder == nullptr) return;
  const std::string stem = std::string(folder) + "/" + std::to_string(getpid());
  // A process may become another program, which loads the layer again.
  int error = EEXIST;
  for (int i = 1; error == EEXIST && i < 100; ++i) {
    error = the_log->writer().open(stem + "-" + std::to_string(i) + ".ilog");
  }
  if (error != 0) {
    std::fprintf(stderr, "interlock: there is no log of this process: %s: %s.\n", folder,
                 std::strerror(error));
    return;
  }
  pthread_atfork(lock_log, unlock_log, abandon_log);
  ProcessRecord record;
  record.process_id = static_cast<uint64_t>(getpid());
  record.command = program_name();
  if (application != nullptr && application->pApplicationName != nullptr) {
    record.application = application->pApplicationName;
  }
  if (application != nullptr && application->pEngineName != nullptr) {
    record.application += record.application.empty() ? "" : ", ";
    record.application += application->pEngineName;
  }
  the_log->append(record);
  the_log->append(record_of(run_options()));
  if (run_options().with_callers) the_log->add_callers();
}

}  // namespace

ByDispatchKey<Instance>& instances() {
  static ByDispatchKey<Instance>& all = *new ByDispatchKey<Instance>;
  return all;
}

ByDispatchKey<Device>& devices() {
  static ByDispatchKey<Device>& all = *new ByDispatchKey<Device>;
  return all;
}

LayerLog& log() { return *the_log; }

void log_failure(const char* call, VkResult result, Device& device, uint64_t queue) {
  if (result >= 0 || result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_ERROR_SURFACE_LOST_KHR ||
      result == VK_ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT) {
    return;
  }
  if (result == VK_ERROR_DEVICE_LOST && device.is_lost.exchange(true)) return;
  log().append(ResultRecord{call, result, queue});
}

void open_log(const VkApplicationInfo* application) {
  static std::once_flag once;
  std::call_once(once, start_log, application);
}

}  // namespace interlock
