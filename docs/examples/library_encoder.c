/* An encoder in a shared library: a barrier where a dispatch conflicts with one since the last.
 * cc -std=c99 -shared -fPIC -I. -o mine.so docs/examples/library_encoder.c */
#include <stdlib.h>

#include "encoder/interlock_encoder.h"

struct earlier {
  struct interlock_encoder_access access;
  uint32_t atomic_op;
};

struct encoder {
  struct earlier *since; /* Accesses since the last barrier. */
  size_t count, room;
};

uint32_t interlock_encoder_version(void) { return INTERLOCK_ENCODER_VERSION; }

void *interlock_encoder_create(void) { return calloc(1, sizeof(struct encoder)); }

static int conflicts(const struct earlier *a, const struct earlier *b) {
  if (a->access.memory != b->access.memory) return 0;
  if (a->access.begin >= a->access.end || b->access.begin >= b->access.end) return 0;
  if (a->access.begin >= b->access.end || b->access.begin >= a->access.end) return 0;
  if (a->access.mode != b->access.mode) return 1;
  if (a->access.mode == INTERLOCK_ENCODER_ATOMIC) return a->atomic_op != b->atomic_op;
  return a->access.mode != INTERLOCK_ENCODER_READ;
}

void interlock_encoder_wait(void *encoder, interlock_encoder_sync sync, void *context) {
  sync(context, INTERLOCK_ENCODER_FULL);
  ((struct encoder *)encoder)->count = 0;
}

void interlock_encoder_dispatch(void *encoder, const struct interlock_encoder_launch *dispatch,
                                interlock_encoder_sync sync, void *context) {
  struct encoder *const e = encoder;
  int needs_barrier = 0;
  for (size_t i = 0; i < dispatch->access_count; ++i) {
    const struct earlier access = {dispatch->accesses[i], dispatch->atomic_op};
    for (size_t k = 0; k < e->count; ++k) needs_barrier |= conflicts(&e->since[k], &access);
  }
  if (needs_barrier) interlock_encoder_wait(e, sync, context);
  for (size_t i = 0; i < dispatch->access_count; ++i) {
    if (e->count == e->room) {
      e->room = 2 * e->room + 64;
      e->since = realloc(e->since, e->room * sizeof *e->since);
      if (e->since == NULL) abort();
    }
    e->since[e->count].access = dispatch->accesses[i];
    e->since[e->count++].atomic_op = dispatch->atomic_op;
  }
}

void interlock_encoder_destroy(void *encoder) {
  free(((struct encoder *)encoder)->since);
  free(encoder);
}
