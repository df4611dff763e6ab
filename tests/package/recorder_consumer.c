/* What a runtime in C writes; it needs the header alone. */
#include "encoder/recorder.h"

int main(void) {
  interlock_recorder* r = interlock_recorder_open("/dev/null");
  interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, INTERLOCK_UNIFIED);
  interlock_queue stream = interlock_recorder_queue(r, "stream", INTERLOCK_SERIAL);
  interlock_semaphore_use done = {0, 1, "compute"};
  done.semaphore = interlock_recorder_semaphore(r, "done", 0);
  interlock_recorder_dispatch(r, "kernel", "first");
  interlock_recorder_access(r, INTERLOCK_WRITE, a, 0, 64);
  interlock_recorder_on(r, stream);
  interlock_recorder_end(r);
  interlock_recorder_signal(r, stream, &done, 1);
  interlock_recorder_barrier(r, NULL);
  interlock_recorder_wait(r, 0, &done);
  interlock_recorder_host(r, INTERLOCK_HOST_READS, a, 0, 64);
  return interlock_recorder_close(r) == INTERLOCK_OK ? 0 : 1;
}
