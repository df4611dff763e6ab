// Records a frame of Vulkan: the host fills a staging buffer, a copy and a kernel take it on, and
// the host reads the result after the fence. With a second argument the barrier names the host,
// too. Usage: recorder_frame_example FILE [host]
#include "encoder/recorder.h"

int main(int argc, char** argv) {
  interlock_recorder* r = interlock_recorder_open(argc > 1 ? argv[1] : "frame.ilk");
  const interlock_memory staging = interlock_recorder_memory(r, "staging", 0, 4096, 64);
  const interlock_memory result = interlock_recorder_memory(r, "result", 0, 4096, 0);
  const interlock_queue queue = interlock_recorder_queue(r, "graphics", INTERLOCK_CONCURRENT);
  const interlock_semaphore fence = interlock_recorder_semaphore(r, "fence", INTERLOCK_BINARY);
  const interlock_semaphore_use done = {fence, 0, NULL};

  interlock_recorder_host(r, INTERLOCK_HOST_WRITES, staging, 0, 4096);
  interlock_recorder_host(r, INTERLOCK_HOST_FLUSHES, staging, 0, 4096);

  interlock_recorder_dispatch(r, INTERLOCK_COPY, "upload");
  interlock_recorder_access(r, INTERLOCK_READ, staging, 0, 4096);
  interlock_recorder_access(r, INTERLOCK_WRITE, result, 0, 4096);
  interlock_recorder_on(r, queue);
  interlock_recorder_end(r);
  interlock_recorder_barrier_on(r, queue, "copy.write -> compute.read|compute.write");

  interlock_recorder_dispatch(r, "scale", "scale");
  interlock_recorder_access(r, INTERLOCK_UPDATE, result, 0, 4096);
  interlock_recorder_on(r, queue);
  interlock_recorder_end(r);
  if (argc > 2) interlock_recorder_barrier_on(r, queue, "compute.write -> host.read");
  interlock_recorder_signal(r, queue, &done, 1);
  interlock_recorder_submit(r, queue);

  interlock_recorder_wait(r, INTERLOCK_HOST, &done);
  interlock_recorder_host(r, INTERLOCK_HOST_READS, result, 0, 4096);
  return (int)interlock_recorder_close(r);
}
