/* A library for `--encoder=lib:` with one fault, which a macro selects. */
#include <stddef.h>

#include "encoder/interlock_encoder.h"

static int there_is_one;

uint32_t interlock_encoder_version(void) {
#ifdef FAULT_VERSION
  return 999;
#else
  return INTERLOCK_ENCODER_VERSION;
#endif
}

void *interlock_encoder_create(void) {
#ifdef FAULT_NULL
  return NULL;
#else
  return &there_is_one;
#endif
}

void interlock_encoder_dispatch(void *encoder, const struct interlock_encoder_launch *dispatch,
                                interlock_encoder_sync sync, void *context) {
  (void)encoder;
  (void)dispatch;
#ifdef FAULT_BARRIER
  sync(context, 7);
#else
  sync(context, INTERLOCK_ENCODER_FULL);
#endif
}

#ifndef FAULT_NO_DESTROY
void interlock_encoder_destroy(void *encoder) { (void)encoder; }
#endif
