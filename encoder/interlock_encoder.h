/* interlock_encoder.h: an encoder in a shared library, for `interlock ... --encoder=lib:./mine.so`.
 *
 * A library defines the functions below; C, C++ and Rust can (docs/library.md has examples). It is
 * given the dispatches of one queue in order, each with what it accesses, and says before which of
 * them a barrier must stand. Nothing else of Interlock is needed, and nothing of it is linked.
 *
 * Several encoders may be in use at once, each by one thread at a time. A library runs inside of
 * Interlock's process: if it crashes, so does that; `exec:COMMAND` is there for encoders that do.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. It changes when a library made with another one could not be used. */
#define INTERLOCK_ENCODER_VERSION 1

enum interlock_encoder_mode {
  INTERLOCK_ENCODER_READ = 0,
  INTERLOCK_ENCODER_WRITE = 1,
  INTERLOCK_ENCODER_UPDATE = 2, /* Reads and writes. */
  INTERLOCK_ENCODER_ATOMIC = 3  /* Reads and writes; those of one operation may overlap. */
};

/* Bytes [begin, end) of a memory; memories are counted from 0. An empty range touches nothing. */
struct interlock_encoder_access {
  uint64_t begin;
  uint64_t end;
  uint32_t memory;
  uint32_t mode; /* enum interlock_encoder_mode */
};

/* One dispatch. */
struct interlock_encoder_launch {
  const struct interlock_encoder_access* accesses; /* Until the function returns. */
  size_t access_count;
  uint32_t index;     /* 0, 1, 2, ... */
  uint32_t atomic_op; /* Of its atomics: equal numbers are one operation. 0: it has none. */
};

enum interlock_encoder_barrier {
  INTERLOCK_ENCODER_FULL = 0,     /* Execution and memory. */
  INTERLOCK_ENCODER_EXECUTION = 1 /* Execution alone: enough for a write after a read. */
};

/* Places a barrier before the dispatch that was given last. `context` is what came with it. */
typedef void (*interlock_encoder_sync)(void* context, uint32_t barrier);

/* What a library defines. */

/* Returns INTERLOCK_ENCODER_VERSION of the header that the library was compiled with. */
uint32_t interlock_encoder_version(void);

/* Returns a new encoder, which knows of nothing yet; null if there is none to be had. */
void* interlock_encoder_create(void);

/* Takes one dispatch, and calls `sync` as often as barriers must stand before it. */
void interlock_encoder_dispatch(void* encoder, const struct interlock_encoder_launch* dispatch,
                                interlock_encoder_sync sync, void* context);

/* Everything that was given must be over before what follows. Calls `sync` for that, and may forget
 * what it knew. Optional: without it a full barrier is placed. */
void interlock_encoder_wait(void* encoder, interlock_encoder_sync sync, void* context);

void interlock_encoder_destroy(void* encoder);

#ifdef __cplusplus
}
#endif
