// Records the end of a backward pass: the bias gradient reads the cotangent g, then the layer norm
// VJP writes its result on the bytes of g. Usage: recorder_example FILE [forget]
#include "encoder/recorder.h"

static char device_memory[3][4096];  // What the driver allocated.

static uint64_t address_of(const void* pointer) { return (uint64_t)(uintptr_t)pointer; }

int main(int argc, char** argv) {
  interlock_recorder* r = interlock_recorder_open(argc > 1 ? argv[1] : "step.ilk");
  const char* names[] = {"x", "g", "gb"};
  const int forgets = argc > 2;
  int i;
  for (i = 0; i < 3; ++i) {
    interlock_recorder_memory(r, names[i], address_of(device_memory[i]), 4096, 0);
  }

  interlock_recorder_dispatch(r, "col_reduce_f32", "reduce");
  interlock_recorder_access_at(r, INTERLOCK_READ, address_of(device_memory[1]), 0, 4096);
  interlock_recorder_access_at(r, INTERLOCK_WRITE, address_of(device_memory[2]), 0, 256);
  interlock_recorder_end(r);

  if (!forgets) interlock_recorder_barrier(r, NULL);

  interlock_recorder_dispatch(r, "vjp_layer_norm_f32", "vjp");
  interlock_recorder_access_at(r, INTERLOCK_READ, address_of(device_memory[0]), 0, 4096);
  interlock_recorder_access_at(r, INTERLOCK_UPDATE, address_of(device_memory[1]), 0, 4096);
  interlock_recorder_end(r);

  if (interlock_recorder_flush(r) != INTERLOCK_OK) {
    fprintf(stderr, "%s\n", interlock_recorder_error(r));
  }
  return (int)interlock_recorder_close(r);
}
