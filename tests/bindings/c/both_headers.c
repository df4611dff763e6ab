/* The library and the recorder in one source, as C99: a stream is recorded, and read. */
#include <stdio.h>

#include "bindings/c/interlock.h"
#include "encoder/interlock_encoder.h"
#include "encoder/recorder.h"

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "both_headers.ilk";
  ilk_error* error = NULL;
  ilk_program* program = NULL;
  interlock_recorder* recorder = interlock_recorder_open(path);
  interlock_memory x = interlock_recorder_memory(recorder, "x", 0, 64, 0);
  interlock_recorder_dispatch(recorder, "Add", "first");
  interlock_recorder_access(recorder, INTERLOCK_WRITE, x, 0, 64);
  interlock_recorder_end(recorder);
  if (interlock_recorder_close(recorder) != INTERLOCK_OK) return 1;
  if (ilk_program_read(path, NULL, &program, &error) != ILK_OK) return 1;
  remove(path);
  if (ilk_abi_version() != ILK_ABI_VERSION || ilk_program_dispatch_count(program) != 1) return 1;
  printf("%s reads what %d recorded.\n", ilk_version(), INTERLOCK_ENCODER_VERSION);
  ilk_program_free(program);
  return 0;
}
