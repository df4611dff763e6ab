/* An encoder that is right until a program has more than 36 dispatches with atomics, which no
 * program of the generator has. A branch for every four of them: built with coverage, it shows how
 * far one has come. */
#include "encoder/interlock_encoder.h"

static volatile uint32_t step;

struct encoder {
  uint32_t atomic_count;
};

static struct encoder the_encoder;

uint32_t interlock_encoder_version(void) { return INTERLOCK_ENCODER_VERSION; }

/* One at a time is enough: who guides by branches asks so. */
void *interlock_encoder_create(void) {
  the_encoder.atomic_count = 0;
  return &the_encoder;
}

static void note_step(uint32_t atomic_count) {
  if (atomic_count == 8) step = 1;
  if (atomic_count == 12) step = 2;
  if (atomic_count == 16) step = 3;
  if (atomic_count == 20) step = 4;
  if (atomic_count == 24) step = 5;
  if (atomic_count == 28) step = 6;
  if (atomic_count == 32) step = 7;
  if (atomic_count == 36) step = 8;
}

void interlock_encoder_dispatch(void *encoder, const struct interlock_encoder_launch *dispatch,
                                interlock_encoder_sync sync, void *context) {
  struct encoder *const e = encoder;
  uint32_t has_atomic = 0;
  for (size_t i = 0; i < dispatch->access_count; ++i) {
    if (dispatch->accesses[i].mode == INTERLOCK_ENCODER_ATOMIC) has_atomic = 1;
  }
  e->atomic_count += has_atomic;
  note_step(e->atomic_count);
  if (e->atomic_count <= 36) sync(context, INTERLOCK_ENCODER_FULL);
}

void interlock_encoder_destroy(void *encoder) { (void)encoder; }
