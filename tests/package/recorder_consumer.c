/* The least that a runtime in C writes; it needs the header alone. */
#include "encoder/recorder.h"

int main(void) {
  interlock_recorder* r = interlock_recorder_open("/dev/null");
  interlock_recorder_barrier(r, NULL);
  return interlock_recorder_close(r) == INTERLOCK_OK ? 0 : 1;
}
