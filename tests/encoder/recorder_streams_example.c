// Records a server that uploads batches on one stream while another works on them. The upload of a
// batch waits for nobody; with a second argument it waits for the kernel that reads the input.
// Usage: recorder_streams_example FILE [wait]
#include "encoder/recorder.h"

typedef struct {
  interlock_semaphore semaphore;
  uint64_t record_count;
} event;

static void record_event(interlock_recorder* r, event* e, interlock_queue stream) {
  const interlock_semaphore_use use = {e->semaphore, ++e->record_count, NULL};
  interlock_recorder_signal(r, stream, &use, 1);
}

static void wait_event(interlock_recorder* r, const event* e, interlock_queue stream) {
  const interlock_semaphore_use use = {e->semaphore, e->record_count, NULL};
  interlock_recorder_wait(r, stream, &use);
}

static void run(interlock_recorder* r, interlock_queue stream, const char* kernel,
                interlock_memory from, uint64_t from_offset, interlock_memory to,
                uint64_t to_offset) {
  interlock_recorder_dispatch(r, kernel, NULL);
  interlock_recorder_access(r, INTERLOCK_READ, from, from_offset, 4096);
  interlock_recorder_access(r, INTERLOCK_WRITE, to, to_offset, 4096);
  interlock_recorder_on(r, stream);
  interlock_recorder_end(r);
}

int main(int argc, char** argv) {
  interlock_recorder* r = interlock_recorder_open(argc > 1 ? argv[1] : "step.ilk");
  const interlock_memory batches = interlock_recorder_memory(r, "batches", 0, 8192, 0);
  const interlock_memory input = interlock_recorder_memory(r, "input", 0, 4096, 0);
  const interlock_memory output = interlock_recorder_memory(r, "output", 0, 8192, 0);
  const interlock_queue copies = interlock_recorder_queue(r, "copies", INTERLOCK_SERIAL);
  const interlock_queue kernels = interlock_recorder_queue(r, "kernels", INTERLOCK_SERIAL);
  event uploaded = {interlock_recorder_semaphore(r, "uploaded", 0), 0};
  event consumed = {interlock_recorder_semaphore(r, "consumed", 0), 0};
  uint64_t i;
  for (i = 0; i < 2; ++i) {
    if (argc > 2) wait_event(r, &consumed, copies);
    run(r, copies, INTERLOCK_COPY, batches, i * 4096, input, 0);
    record_event(r, &uploaded, copies);
    wait_event(r, &uploaded, kernels);
    run(r, kernels, "forward", input, 0, output, i * 4096);
    if (argc > 2) record_event(r, &consumed, kernels);
  }
  return (int)interlock_recorder_close(r);
}
