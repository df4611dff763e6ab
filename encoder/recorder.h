// SPDX-License-Identifier: Apache-2.0
// Recorder: writes what a runtime issues as program text (.ilk), for `interlock check`.
//
// One header, C99 or C++11 and later, nothing but libc: copy it, include it where you encode.
// docs/recording.md has an example and says what to record.
//
//     interlock_recorder* r = interlock_recorder_open("step.ilk");
//     interlock_memory x = interlock_recorder_memory(r, "x", 0, 4096, 0);
//     interlock_recorder_dispatch(r, "add", "residual");
//     interlock_recorder_access(r, INTERLOCK_READ, x, 0, 1024);
//     interlock_recorder_access(r, INTERLOCK_WRITE, x, 1024, 1024);
//     interlock_recorder_end(r);
//     interlock_recorder_barrier(r, NULL);
//     interlock_status status = interlock_recorder_close(r);
//
// Errors stick: the first one is kept, later calls do nothing, close() returns it, and the file
// ends in a line that no parser takes for a program. Every call takes a null recorder and then does
// nothing: to record or not is one pointer.
// Threads: one recorder, one thread at a time; the order of calls is the issue order. Threads that
// feed several queues hold a lock from the begin of a dispatch to its end. Recorders share nothing.
// Cost: a dispatch of three reads and a write takes some 0.10 us by handle, 0.15 us with labels,
// and no allocation. Memory: 213 KiB, and about 120 bytes for each memory, queue or semaphore that
// is not freed.
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define INTERLOCK_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define INTERLOCK_PRINTF(text, first)
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

typedef enum interlock_status {
  INTERLOCK_OK = 0,
  INTERLOCK_NOT_RECORDING,      // The recorder is null.
  INTERLOCK_OPEN_FAILED,        // The file cannot be created.
  INTERLOCK_WRITE_FAILED,       // For example: the disk is full.
  INTERLOCK_OUT_OF_MEMORY,      // For one more memory.
  INTERLOCK_BAD_MEMORY,         // Unknown, freed, of no bytes, or on the addresses of another.
  INTERLOCK_BAD_RANGE,          // An access outside its memory.
  INTERLOCK_BAD_ACCESS,         // An unknown kind, or two atomic operations in one dispatch.
  INTERLOCK_TOO_MANY_ACCESSES,  // More than 256 in one dispatch.
  INTERLOCK_BAD_SEQUENCE,       // For example: an access outside a dispatch.
  INTERLOCK_BAD_BARRIER,        // A scope or statement that is no line of printable text.
  INTERLOCK_BAD_QUEUE,          // Unknown, or of no kind.
  INTERLOCK_BAD_SEMAPHORE,      // Or event: unknown; more than 64 in a batch.
  INTERLOCK_BAD_EDGE            // From no earlier dispatch, or more than 1024 to one.
} interlock_status;

typedef enum interlock_access_kind {
  INTERLOCK_INDIRECT,  // A read of the arguments of an indirect dispatch, before it runs.
  INTERLOCK_UNIFORM,   // A read as a uniform: scoped barriers tell it from other reads.
  INTERLOCK_READ,
  INTERLOCK_WRITE,
  INTERLOCK_UPDATE,      // Reads and writes.
  INTERLOCK_ATOMIC_ADD,  // Returns nothing. The atomics of a dispatch have one operation.
  INTERLOCK_ATOMIC_MIN,
  INTERLOCK_ATOMIC_MAX,
  INTERLOCK_ATOMIC_AND,
  INTERLOCK_ATOMIC_OR,
  INTERLOCK_ATOMIC_XOR
} interlock_access_kind;

// Kernels of the copy stage: one write of all its bytes, and for the copy one read of as many.
#define INTERLOCK_COPY "=copy"
#define INTERLOCK_FILL "=fill"

// Flags of a memory. With a power of two up to 2^20 among them it is not coherent: the host flushes
// and invalidates it in atoms of so many bytes (VkPhysicalDeviceLimits::nonCoherentAtomSize).
enum {
  INTERLOCK_HANDLE = 1 << 24,   // The key is a handle: it stands for itself, not for a range.
  INTERLOCK_SCRATCH = 1 << 25,  // Placed after a reordering, so judged in issue order.
  INTERLOCK_UNIFIED = 1 << 26,  // The host needs no scopes: CUDA's managed, Metal's shared memory.
  INTERLOCK_HOLDS_VALUE = 1 << 27  // A tensor: it has a value before anything writes it.
};

typedef enum interlock_queue_kind {
  INTERLOCK_CONCURRENT,       // Barriers alone order its work: a queue of Vulkan.
  INTERLOCK_SERIAL,           // Its work runs in order: a stream of CUDA that does not block.
  INTERLOCK_SERIAL_BLOCKING,  // As that, and the legacy default stream joins it.
  INTERLOCK_LEGACY_DEFAULT,   // The legacy default stream: joins all blocking ones.
  INTERLOCK_GRAPH             // Edges alone order its work.
} interlock_queue_kind;

typedef enum interlock_host_operation {
  INTERLOCK_HOST_READS,
  INTERLOCK_HOST_WRITES,
  INTERLOCK_HOST_FLUSHES,     // Of memory that is not coherent: what the host wrote gets there.
  INTERLOCK_HOST_INVALIDATES  // Likewise: the host reads what is there.
} interlock_host_operation;

typedef enum interlock_end { INTERLOCK_FREE, INTERLOCK_DESTROY } interlock_end;
typedef enum interlock_stage {
  INTERLOCK_IN_COMPUTE,
  INTERLOCK_IN_COPY,
  INTERLOCK_IN_GRAPHICS
} interlock_stage;

typedef uint64_t interlock_memory;     // 0 is none.
typedef uint64_t interlock_dispatch;   // 0 is none.
typedef uint64_t interlock_queue;      // 0 is the default queue.
typedef uint64_t interlock_semaphore;  // 0 is none.
typedef uint64_t interlock_event;      // 0 is none.

#define INTERLOCK_HOST UINT64_MAX    // As a queue: what the host does itself. Idle: all queues.
#define INTERLOCK_BINARY UINT64_MAX  // As an initial value: the semaphore is binary.
#define INTERLOCK_FROM_OUTSIDE "!"  // As stages of a wait: for who is not recorded, as a presenter.

// What a signal or a wait does with a semaphore.
typedef struct interlock_semaphore_use {
  interlock_semaphore semaphore;
  uint64_t value;      // A binary one has none: it is passed over.
  const char* stages;  // Words of docs/format.md, as "copy|compute"; null: all of them.
} interlock_semaphore_use;

typedef struct interlock_recorder interlock_recorder;

// --- Files ---------------------------------------------------------------------------------------

// Creates the file. Returns null only if there is no memory for a recorder.
static inline interlock_recorder* interlock_recorder_open(const char* path);

// As above, into a file that stays the caller's and is not closed.
static inline interlock_recorder* interlock_recorder_open_file(FILE* file);

// Writes what is buffered, so that a crash cannot take it: always whole lines. Returns the status.
static inline interlock_status interlock_recorder_flush(interlock_recorder* r);
// Does so after each submit, split and host idle, if `is_on`: a hang then leaves what led to it.
static inline void interlock_recorder_flush_at_submits(interlock_recorder* r, int is_on);

// Writes what is buffered, closes, and frees the recorder. Returns the first error, if any.
static inline interlock_status interlock_recorder_close(interlock_recorder* r);

static inline interlock_status interlock_recorder_status(const interlock_recorder* r);
// The first error as a sentence, "" without one. Valid until close().
static inline const char* interlock_recorder_error(const interlock_recorder* r);

// --- Memories ------------------------------------------------------------------------------------

// Declares an allocation of the device, of 1 to 2^48 bytes: what the driver gave, not what a pool
// made of it, or hazards between users of the same bytes are not seen. `name` may be null; it is
// made legal, unique and short. `key`, if not 0, is its address (any address inside finds it), or
// with INTERLOCK_HANDLE a number of its own, as a pointer to the buffer object. Keys in use differ.
static inline interlock_memory interlock_recorder_memory(interlock_recorder* r, const char* name,
                                                         uint64_t key, uint64_t size_bytes,
                                                         unsigned flags);

// A value on bytes of a memory. Accesses take it as a memory; then checks know whether it lives.
static inline interlock_memory interlock_recorder_tensor(interlock_recorder* r, const char* name,
                                                         interlock_memory memory,
                                                         uint64_t offset_bytes, uint64_t size_bytes,
                                                         unsigned flags);

// The value ends for what comes later; of a destroy, all accesses must be over. It takes place in
// the order of the queue, or of INTERLOCK_HOST.
static inline void interlock_recorder_end_tensor(interlock_recorder* r, interlock_end how,
                                                 interlock_memory tensor, interlock_queue queue);

// The allocation is gone: its key may come back, with another memory. Not inside a dispatch. The
// file has no statement for it: what must be over by then is said by a destroy of a tensor.
static inline void interlock_recorder_free(interlock_recorder* r, interlock_memory memory);

// The memory that has `key`, and the offset of `key` in it; 0 if there is none. Cost: O(log n).
static inline interlock_memory interlock_recorder_find(const interlock_recorder* r, uint64_t key,
                                                       uint64_t* offset_bytes);

// Its name in the file, for scopes and statements; of a queue, semaphore or event as well. "" if
// there is none.
static inline const char* interlock_recorder_name(const interlock_recorder* r, uint64_t item);

// These bytes matter at the end; of a tensor, all of it. Without an output, all memories do.
static inline void interlock_recorder_output(interlock_recorder* r, interlock_memory memory,
                                             uint64_t offset_bytes, uint64_t size_bytes);

// --- Queues, semaphores, events ------------------------------------------------------------------

// Declares a queue; `name` may be null, and is treated as that of a memory.
static inline interlock_queue interlock_recorder_queue(interlock_recorder* r, const char* name,
                                                       interlock_queue_kind kind);

// Declares a timeline, whose values rise from `initial`, or a binary semaphore. An event of CUDA is
// a timeline: each record signals one more, each wait is for the value of the last record.
static inline interlock_semaphore interlock_recorder_semaphore(interlock_recorder* r,
                                                               const char* name, uint64_t initial);

// An event of Vulkan: a barrier in two halves on one queue. It needs no declaration in the file.
static inline interlock_event interlock_recorder_event(interlock_recorder* r, const char* name);

// --- Commands ------------------------------------------------------------------------------------

// Inside a dispatch other statements stand before it: encoders know then which they need.
static inline void interlock_put_barrier_(interlock_recorder* r, const char* words,
                                          const interlock_event* event, const char* scope,
                                          interlock_queue queue);
static inline void interlock_put_on_(interlock_recorder* r, const char* words, const char* name,
                                     interlock_queue queue, int may_be_host);
static inline void interlock_put_uses_(interlock_recorder* r, const char* words, const char* word,
                                       interlock_queue queue, const interlock_semaphore_use* uses,
                                       size_t count);

// Begins a dispatch; its accesses follow in any order, then end(). `kernel` is made legal and its
// first letter upper case: it stands for what it declares to access. `label` may be null; it is
// made legal, and after its first use unique by the index of the dispatch. after() takes it.
static inline interlock_dispatch interlock_recorder_dispatch(interlock_recorder* r,
                                                             const char* kernel, const char* label);
static inline void interlock_recorder_end(interlock_recorder* r);

// An access of the dispatch, one of 256 at most.
static inline void interlock_recorder_access(interlock_recorder* r, interlock_access_kind kind,
                                             interlock_memory memory, uint64_t offset_bytes,
                                             uint64_t size_bytes);

// The same by key: an address, with 0 or an offset from it, or a handle and an offset.
static inline void interlock_recorder_access_at(interlock_recorder* r, interlock_access_kind kind,
                                                uint64_t key, uint64_t offset_bytes,
                                                uint64_t size_bytes);

// The last access is of rows alone, the first at its offset: those of a matrix, or parts of them.
static inline void interlock_recorder_rows(interlock_recorder* r, uint64_t row_count,
                                           uint64_t pitch_bytes, uint64_t width_bytes);

// The queue of the dispatch, if it is not the default one.
static inline void interlock_recorder_on(interlock_recorder* r, interlock_queue queue);

// An edge of a graph queue: the dispatch comes after an earlier one. Twice is once.
static inline void interlock_recorder_after(interlock_recorder* r, interlock_dispatch earlier);

// All edges to the dispatch order its execution alone: ports 1 and 2 of a CUDA graph's edge.
static inline void interlock_recorder_programmatic(interlock_recorder* r);

// The place of the dispatch in program order, if it was reordered; on all dispatches or on none.
static inline void interlock_recorder_order(interlock_recorder* r, uint64_t order);

// The dispatch may leave bytes that it writes as they were.
static inline void interlock_recorder_partial(interlock_recorder* r);

// What it accesses bounds what it touches, as where a descriptor binds a whole buffer.
static inline void interlock_recorder_approximate(interlock_recorder* r);

// The stage of the dispatch, if it is not compute: a copy between images, a pass that draws.
static inline void interlock_recorder_in(interlock_recorder* r, interlock_stage stage);

// A barrier: of everything if `scope` is null, else "execution" or a scope of docs/format.md, as
// "compute.write -> compute.read". The first is of the default queue.
static inline void interlock_recorder_barrier(interlock_recorder* r, const char* scope) {
  interlock_put_barrier_(r, "barrier", NULL, scope, 0);
}
static inline void interlock_recorder_barrier_on(interlock_recorder* r, interlock_queue queue,
                                                 const char* scope) {
  interlock_put_barrier_(r, "barrier", NULL, scope, queue);
}

// The two halves of a barrier of the queue.
static inline void interlock_recorder_set(interlock_recorder* r, interlock_queue queue,
                                          interlock_event event, const char* scope) {
  interlock_put_barrier_(r, "set ", &event, scope, queue);
}
static inline void interlock_recorder_await(interlock_recorder* r, interlock_queue queue,
                                            interlock_event event) {
  interlock_put_barrier_(r, "await ", &event, NULL, queue);
}

// A signal of up to 64 semaphores, as one batch: its parts do not cover each other. By the queue,
// or with INTERLOCK_HOST by the host, of one semaphore. And a wait for one.
static inline void interlock_recorder_signal(interlock_recorder* r, interlock_queue queue,
                                             const interlock_semaphore_use* uses, size_t count) {
  interlock_put_uses_(r, "signal ", " after ", queue, uses, count);
}
static inline void interlock_recorder_wait(interlock_recorder* r, interlock_queue queue,
                                           const interlock_semaphore_use* use) {
  interlock_put_uses_(r, "wait ", " before ", queue, use, 1);
}

// A command buffer ends. What was issued on the queue since the last submission is submitted.
static inline void interlock_recorder_split(interlock_recorder* r, interlock_queue queue) {
  interlock_put_on_(r, "split", "", queue, 0);
}
static inline void interlock_recorder_submit(interlock_recorder* r, interlock_queue queue) {
  interlock_put_on_(r, "submit", "", queue, 0);
}

// --- The host ------------------------------------------------------------------------------------

// What the host does to mapped memory. interlock_recorder_find() has the memory at an address.
static inline void interlock_recorder_host(interlock_recorder* r, interlock_host_operation what,
                                           interlock_memory memory, uint64_t offset_bytes,
                                           uint64_t size_bytes);

// The host waits for all that is submitted: to a queue, or with INTERLOCK_HOST to any.
static inline void interlock_recorder_host_idle(interlock_recorder* r, interlock_queue queue) {
  interlock_put_on_(r, "host idle", "", queue, 1);
}

// Any other statement of docs/format.md, but no dispatch: "host writes NAME = values(1,2)", a pin,
// a capture. Of what it names, interlock_recorder_name() has the name. The parser judges the rest.
static inline void interlock_recorder_statement(interlock_recorder* r, const char* text);

// --- Below is how; nothing of it is for callers --------------------------------------------------
//
// The basic idea is that a dispatch is collected in a fixed array and formatted when it ends, into
// a buffer that always has room for one more statement and is written at ends of lines only.

enum {
  INTERLOCK_IS_MEMORY_ = 0,  // What an item is. The default queue is none.
  INTERLOCK_IS_TENSOR_,
  INTERLOCK_IS_QUEUE_,
  INTERLOCK_IS_SEMAPHORE_,
  INTERLOCK_IS_EVENT_,
  INTERLOCK_BUFFER_BYTES = 1 << 17,
  INTERLOCK_ACCESSES_MAX = 256,
  INTERLOCK_EDGES_MAX = 1024,
  INTERLOCK_SIGNALS_MAX = 64,
  INTERLOCK_ATOM_BYTES_MAX = 1 << 20,
  INTERLOCK_STAGES_BYTES_MAX = 64,
  INTERLOCK_MEMORY_NAME_BYTES = 64,  // With the terminating zero, as below.
  INTERLOCK_LABEL_BYTES = 256,       // The format allows 255.
  INTERLOCK_SUFFIX_BYTES = 21,       // ".", and a number of 64 bits.
  INTERLOCK_TEXT_BYTES_MAX = 4096,
  INTERLOCK_MESSAGE_BYTES = 512,
  // Bounds every statement: 256 accesses of " NAME[BEGIN:END rows R pitch P width W]", where R and
  // P have 17 digits together, 1024 edges, three names, and words.
  INTERLOCK_LINE_BYTES_MAX = 256 * (64 + 86) + 1024 * 21 + 3 * 256 + 256,
  INTERLOCK_CLAUSES = 6,
  INTERLOCK_SEEN_SLOTS = 1 << 13  // A power of two; at most half of them are used.
};

typedef struct {
  uint64_t number;  // Never used twice; 0: the slot is free.
  uint64_t size_bytes, key;
  uint64_t key_count;  // Keys that find it: none, one, or as many as bytes.
  uint32_t next_free;
  uint16_t name_length;
  uint8_t sort, is_binary;  // What it is; of a semaphore.
  char name[INTERLOCK_MEMORY_NAME_BYTES];
} interlock_item_;

typedef struct {
  uint64_t key;
  uint32_t slot;
} interlock_keyed_;

typedef struct {
  uint64_t begin, end;
  uint32_t slot;
  uint16_t clause, has_rows;
} interlock_access_;

typedef struct {
  uint64_t row_count, pitch_bytes, width_bytes;
} interlock_rows_;

struct interlock_recorder {
  FILE* file;
  int owns_file;
  interlock_status status;
  int flushes_at_submits;
  // The open dispatch.
  int is_open, is_partial, is_approximate, has_order, is_programmatic;
  interlock_stage stage;
  uint64_t order;
  interlock_queue queue;
  interlock_access_kind atomic_kind;          // Or INTERLOCK_READ: there are no atomics.
  unsigned clause_counts[INTERLOCK_CLAUSES];  // As the text has them: indirect, uniform, ...
  size_t kernel_length, label_length, access_count, edge_count;
  char kernel[INTERLOCK_LABEL_BYTES], label[INTERLOCK_LABEL_BYTES];
  interlock_access_ accesses[INTERLOCK_ACCESSES_MAX];
  interlock_rows_ rows[INTERLOCK_ACCESSES_MAX];  // Of the accesses that have some.
  interlock_dispatch edges[INTERLOCK_EDGES_MAX];
  uint64_t dispatch_count;
  int orders_dispatches;  // Whether the first dispatch had an order.
  // Memories in slots; those with keys sorted by key.
  interlock_item_* entries;
  interlock_keyed_* by_key;
  uint32_t slot_count, slot_capacity, first_free, keyed_count;
  uint64_t next_number;
  size_t used;
  uint64_t seen_count;
  uint64_t seen[INTERLOCK_SEEN_SLOTS];  // Hashes of names in use; 0: none.
  char message[INTERLOCK_MESSAGE_BYTES];
  char buffer[INTERLOCK_BUFFER_BYTES];
};

// Keeps the first error. Inside a dispatch its sentence starts with the dispatch.
static inline void interlock_fail_(interlock_recorder* r, interlock_status status,
                                   const char* format, ...) INTERLOCK_PRINTF(3, 4);
static inline void interlock_fail_(interlock_recorder* r, interlock_status status,
                                   const char* format, ...) {
  va_list arguments;
  int length = 0;
  if (r->status != INTERLOCK_OK) return;
  r->status = status;
  if (r->is_open) {
    length = snprintf(r->message, sizeof r->message, "In dispatch %llu (%.80s), ",
                      (unsigned long long)r->dispatch_count, r->kernel);
  }
  va_start(arguments, format);
  vsnprintf(r->message + length, sizeof r->message - (size_t)length, format, arguments);
  va_end(arguments);
  if (r->message[0] >= 'a' && r->message[0] <= 'z')
    r->message[0] = (char)(r->message[0] - 'a' + 'A');
}
static inline int interlock_is_recording_(const interlock_recorder* r) {
  return r != NULL && r->status == INTERLOCK_OK;
}
static inline void interlock_write_(interlock_recorder* r) {
  const size_t used = r->used;
  r->used = 0;
  if (r->file == NULL || r->status == INTERLOCK_WRITE_FAILED) return;
  errno = 0;
  if (fwrite(r->buffer, 1, used, r->file) != used || fflush(r->file) != 0) {
    const int code = errno;
    r->is_open = 0;
    r->status = INTERLOCK_OK;  // Replaces an earlier error: the file is not whole.
    interlock_fail_(r, INTERLOCK_WRITE_FAILED, "The recording cannot be written: %s.",
                    code != 0 ? strerror(code) : "the stream refuses it");
  }
}
// Returns where the next statement goes; it has INTERLOCK_LINE_BYTES_MAX bytes there.
static inline char* interlock_reserve_(interlock_recorder* r) {
  if (r->used > (size_t)INTERLOCK_BUFFER_BYTES - (size_t)INTERLOCK_LINE_BYTES_MAX) {
    interlock_write_(r);
  }
  return r->buffer + r->used;
}
static inline void interlock_commit_(interlock_recorder* r, char* end) {
  *end++ = '\n';
  r->used = (size_t)(end - r->buffer);
}
static inline char* interlock_put_(char* at, const char* text, size_t length) {
  memcpy(at, text, length);
  return at + length;
}
static inline char* interlock_put_word_(char* at, const char* text) {
  return interlock_put_(at, text, strlen(text));
}
// Returns where the next statement goes on after these words.
static inline char* interlock_line_(interlock_recorder* r, const char* words) {
  return interlock_put_word_(interlock_reserve_(r), words);
}
static inline char* interlock_put_item_(char* at, const interlock_item_* item) {
  return interlock_put_(at, item->name, item->name_length);
}
static inline char* interlock_put_number_(char* at, uint64_t number) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return interlock_put_(at, digits + first, sizeof digits - first);
}
static inline int interlock_is_digit_(char c) { return c >= '0' && c <= '9'; }
static inline int interlock_is_upper_(char c) { return c >= 'A' && c <= 'Z'; }
static inline int interlock_is_letter_(char c) {
  return interlock_is_upper_(c) || (c >= 'a' && c <= 'z') || c == '_';
}
// Copies `name` as a legal one of at most `length_max` bytes. Returns its length.
static inline size_t interlock_legal_name_(char* to, const char* name, size_t length_max) {
  size_t length = 0;
  if (!interlock_is_letter_(*name)) to[length++] = '_';
  for (; *name != '\0' && length < length_max; ++name) {
    const int is_legal = interlock_is_letter_(*name) || interlock_is_digit_(*name) || *name == '.';
    to[length++] = is_legal ? *name : '_';
  }
  to[length] = '\0';
  return length;
}
static inline size_t interlock_kernel_name_(char* to, const char* kernel) {
  size_t i, length;
  if (kernel == NULL) kernel = "";
  if (*kernel == '=') return interlock_legal_name_(to, kernel + 1, INTERLOCK_LABEL_BYTES - 2);
  length = interlock_legal_name_(to, kernel, INTERLOCK_LABEL_BYTES - 2);
  for (i = 0; i < length; ++i) {
    if (interlock_is_upper_(to[i]) && (i == 0 || to[i - 1] == '.')) return length;
  }
  if (to[0] != '_') {
    to[0] = (char)(to[0] - 'a' + 'A');
    return length;
  }
  memmove(to + 1, to, length + 1);
  to[0] = 'K';
  return length + 1;
}
static inline int interlock_is_reserved_(const char* name) {
  // `after` begins edges; a memory of that name would be taken for them.
  static const char* const words[] = {
      "reads", "writes", "updates", "atomics", "partial",     "indirect",    "uniform",
      "on",    "order",  "actual",  "after",   "approximate", "transitions", "discards"};
  size_t i;
  for (i = 0; i < sizeof words / sizeof *words; ++i) {
    if (strcmp(name, words[i]) == 0) return 1;
  }
  return 0;
}
// True iff the name ends in '.' and a number, as a name made unique does.
static inline int interlock_is_numbered_(const char* name, size_t length) {
  size_t i = length;
  while (i > 0 && interlock_is_digit_(name[i - 1])) --i;
  return i < length && i > 0 && name[i - 1] == '.';
}
// True iff the table has room and the name was not in it. Equal hashes count as equal names: that
// costs a suffix. `salt` keeps name spaces apart.
static inline int interlock_is_first_use_(interlock_recorder* r, const char* name, size_t length,
                                          uint64_t salt) {
  uint64_t hash = 14695981039346656037u ^ salt;  // FNV-1a
  size_t i;
  for (i = 0; i < length; ++i) hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
  if (hash == 0) hash = 1;
  for (i = (size_t)(hash >> 32);; ++i) {
    uint64_t* const slot = &r->seen[i % INTERLOCK_SEEN_SLOTS];
    if (*slot == hash) return 0;
    if (*slot != 0) continue;
    if (r->seen_count >= INTERLOCK_SEEN_SLOTS / 2) return 0;
    ++r->seen_count;
    *slot = hash;
    return 1;
  }
}
// Writes `name` legal and unique into `to`. Returns its length. Names that were free when first
// used have no number at their end, others one that no other has: so all differ, in bounded memory.
static inline size_t interlock_unique_name_(interlock_recorder* r, char* to, size_t capacity,
                                            const char* name, uint64_t salt, uint64_t number) {
  size_t length = interlock_legal_name_(to, name, capacity - 1 - INTERLOCK_SUFFIX_BYTES);
  if (interlock_is_numbered_(to, length) || interlock_is_reserved_(to) ||
      !interlock_is_first_use_(r, to, length, salt)) {
    to[length++] = '.';
    length = (size_t)(interlock_put_number_(to + length, number) - to);
    to[length] = '\0';
  }
  return length;
}
static inline interlock_recorder* interlock_recorder_open_file(FILE* file) {
  interlock_recorder* const r = (interlock_recorder*)calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  r->file = file;
  r->next_number = 1;
  r->first_free = UINT32_MAX;
  interlock_is_first_use_(r, "q0", 2, INTERLOCK_IS_QUEUE_);
  interlock_commit_(r, interlock_put_word_(r->buffer, "interlock 1"));
  if (file == NULL) interlock_fail_(r, INTERLOCK_OPEN_FAILED, "There is no file to record into.");
  return r;
}
static inline interlock_recorder* interlock_recorder_open(const char* path) {
  FILE* const file = path != NULL ? fopen(path, "wb") : NULL;
  const int code = errno;
  interlock_recorder* const r = interlock_recorder_open_file(file);
  if (r == NULL) {
    if (file != NULL) fclose(file);
    return NULL;
  }
  r->owns_file = file != NULL;
  if (file != NULL) {
    setvbuf(file, NULL, _IONBF, 0);  // What is written has one buffer already.
  } else if (path != NULL) {
    r->status = INTERLOCK_OK;
    interlock_fail_(r, INTERLOCK_OPEN_FAILED, "'%.200s' cannot be created: %s.", path,
                    strerror(code));
  }
  return r;
}
static inline interlock_status interlock_recorder_flush(interlock_recorder* r) {
  if (interlock_is_recording_(r)) interlock_write_(r);
  return interlock_recorder_status(r);
}
static inline interlock_status interlock_recorder_close(interlock_recorder* r) {
  interlock_status status;
  if (r == NULL) return INTERLOCK_NOT_RECORDING;
  if (r->is_open) {
    interlock_fail_(r, INTERLOCK_BAD_SEQUENCE, "the recording ends before the dispatch does.");
  }
  if (r->status != INTERLOCK_OK) {
    char* at = interlock_line_(r, "recording stopped: ");
    interlock_commit_(r, interlock_put_word_(at, r->message));
  }
  interlock_write_(r);
  if (r->owns_file && fclose(r->file) != 0 && r->status == INTERLOCK_OK) {
    r->status = INTERLOCK_WRITE_FAILED;
  }
  status = r->status;
  free(r->entries);
  free(r->by_key);
  free(r);
  return status;
}
static inline interlock_status interlock_recorder_status(const interlock_recorder* r) {
  return r != NULL ? r->status : INTERLOCK_NOT_RECORDING;
}
static inline const char* interlock_recorder_error(const interlock_recorder* r) {
  return r != NULL ? r->message : "There is no recorder.";
}
// The handle of an item: its number above its slot, so that a freed one is recognized.
static inline uint64_t interlock_handle_(const interlock_recorder* r, const interlock_item_* item) {
  return item->number << 32 | (uint64_t)(item - r->entries);
}
// Null if the handle is none of a memory in use.
static inline interlock_item_* interlock_entry_(const interlock_recorder* r,
                                                interlock_memory memory) {
  const uint32_t slot = (uint32_t)memory;
  if (memory == 0 || slot >= r->slot_count || r->entries[slot].number != memory >> 32) return NULL;
  return &r->entries[slot];
}
// The item of a queue, a semaphore or an event; null, and the recorder fails, if it is none.
static inline const interlock_item_* interlock_named_(interlock_recorder* r, uint64_t handle,
                                                      unsigned sort) {
  const int is_queue = sort == INTERLOCK_IS_QUEUE_;
  const interlock_item_* const entry = interlock_entry_(r, handle);
  if (entry != NULL && entry->sort == sort) return entry;
  interlock_fail_(r, is_queue ? INTERLOCK_BAD_QUEUE : INTERLOCK_BAD_SEMAPHORE,
                  "%s %#llx is unknown.", is_queue ? "queue" : "semaphore or event",
                  (unsigned long long)handle);
  return NULL;
}
static inline int interlock_is_queue_(interlock_recorder* r, interlock_queue queue) {
  return queue == 0 || interlock_named_(r, queue, INTERLOCK_IS_QUEUE_) != NULL;
}
// Ends a statement with its queue, unless that is the default one.
static inline void interlock_commit_on_(interlock_recorder* r, char* at, interlock_queue queue) {
  if (queue != 0) {
    const interlock_item_* const entry = interlock_entry_(r, queue);
    at = interlock_put_item_(interlock_put_(at, " on ", 4), entry);
  }
  interlock_commit_(r, at);
}
// The number of keyed memories that start at or before `key`.
static inline uint32_t interlock_key_position_(const interlock_recorder* r, uint64_t key) {
  uint32_t first = 0, count = r->keyed_count;
  while (count > 0) {
    const uint32_t half = count / 2;
    // Without a branch that depends on the key: it would be guessed wrong half the time.
    const int is_above = r->by_key[first + half].key <= key;
    first = is_above ? first + half + 1 : first;
    count = is_above ? count - half - 1 : half;
  }
  return first;
}
static inline interlock_memory interlock_recorder_find(const interlock_recorder* r, uint64_t key,
                                                       uint64_t* offset_bytes) {
  uint32_t position;
  if (r == NULL || (position = interlock_key_position_(r, key)) == 0) return 0;
  const interlock_item_* const entry = &r->entries[r->by_key[position - 1].slot];
  if (key - entry->key >= entry->key_count) return 0;
  if (offset_bytes != NULL) *offset_bytes = key - entry->key;
  return interlock_handle_(r, entry);
}
// Returns a free slot, or UINT32_MAX without memory for one.
static inline uint32_t interlock_take_slot_(interlock_recorder* r) {
  if (r->first_free != UINT32_MAX) {
    const uint32_t slot = r->first_free;
    r->first_free = r->entries[slot].next_free;
    return slot;
  }
  if (r->slot_count == r->slot_capacity) {
    const size_t capacity = r->slot_capacity == 0 ? 64 : (size_t)r->slot_capacity * 2;
    void* const entries = realloc(r->entries, capacity * sizeof *r->entries);
    if (entries != NULL) r->entries = (interlock_item_*)entries;
    void* const by_key = realloc(r->by_key, capacity * sizeof *r->by_key);
    if (by_key != NULL) r->by_key = (interlock_keyed_*)by_key;
    if (entries == NULL || by_key == NULL) return UINT32_MAX;
    r->slot_capacity = (uint32_t)capacity;
  }
  return r->slot_count++;
}
// Returns false, and fails, if the keys are those of a memory in use.
static inline int interlock_keys_are_free_(interlock_recorder* r, uint64_t key, uint64_t count,
                                           uint32_t position) {
  uint32_t neighbour = UINT32_MAX;
  if (key + (count - 1) < key) {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY, "a memory at key %llu ends past the last address.",
                    (unsigned long long)key);
    return 0;
  }
  if (position < r->keyed_count && r->by_key[position].key - key < count) {
    neighbour = r->by_key[position].slot;
  } else if (interlock_recorder_find(r, key, NULL) != 0) {
    neighbour = r->by_key[position - 1].slot;
  }
  if (neighbour == UINT32_MAX) return 1;
  interlock_fail_(r, INTERLOCK_BAD_MEMORY,
                  "a memory at key %llu overlaps '%s', which is not freed.",
                  (unsigned long long)key, r->entries[neighbour].name);
  return 0;
}
// A new entry without keys; null, and the recorder fails, if there cannot be one more.
static inline interlock_item_* interlock_new_entry_(interlock_recorder* r, unsigned sort,
                                                    const char* name, uint64_t size_bytes) {
  static const char* const nouns[] = {"memory", "tensor", "queue", "semaphore", "event"};
  const uint64_t salt = sort == INTERLOCK_IS_TENSOR_ ? INTERLOCK_IS_MEMORY_ + 0u : sort;
  interlock_item_* entry;
  uint32_t slot = UINT32_MAX;
  if (size_bytes == 0 || size_bytes > (uint64_t)1 << 48 || r->next_number > UINT32_MAX) {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY,
                    "a memory has %llu bytes; it needs 1 to 2^48, and there are 2^32 at most.",
                    (unsigned long long)size_bytes);
  } else if ((slot = interlock_take_slot_(r)) == UINT32_MAX) {
    interlock_fail_(r, INTERLOCK_OUT_OF_MEMORY, "there is no memory left to declare one more.");
  }
  if (slot == UINT32_MAX) return NULL;
  entry = &r->entries[slot];
  entry->number = r->next_number++;
  entry->size_bytes = size_bytes;
  entry->key = entry->key_count = 0;
  entry->sort = (uint8_t)sort;
  entry->name_length = (uint16_t)interlock_unique_name_(
      r, entry->name, sizeof entry->name, name != NULL ? name : nouns[sort], salt, entry->number);
  return entry;
}
static inline interlock_memory interlock_recorder_memory(interlock_recorder* r, const char* name,
                                                         uint64_t key, uint64_t size_bytes,
                                                         unsigned flags) {
  const uint64_t key_count = key == 0 ? 0 : (flags & INTERLOCK_HANDLE) != 0 ? 1 : size_bytes;
  const unsigned atom_bytes = flags & (INTERLOCK_HANDLE - 1);
  uint32_t position;
  char* at;
  if (!interlock_is_recording_(r)) return 0;
  if ((atom_bytes & (atom_bytes - 1)) != 0 || atom_bytes > INTERLOCK_ATOM_BYTES_MAX ||
      (atom_bytes != 0 && (flags & INTERLOCK_UNIFIED) != 0)) {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY,
                    "atoms of %u bytes are no power of two up to 2^20, or of unified memory.",
                    atom_bytes);
    return 0;
  }
  position = interlock_key_position_(r, key);
  if (key_count != 0 && !interlock_keys_are_free_(r, key, key_count, position)) return 0;
  interlock_item_* const entry = interlock_new_entry_(r, INTERLOCK_IS_MEMORY_, name, size_bytes);
  if (entry == NULL) return 0;
  entry->key = key;
  entry->key_count = key_count;
  if (key_count != 0) {
    memmove(r->by_key + position + 1, r->by_key + position,
            (r->keyed_count - position) * sizeof *r->by_key);
    r->by_key[position].key = key;
    r->by_key[position].slot = (uint32_t)(entry - r->entries);
    ++r->keyed_count;
  }
  at = interlock_put_item_(interlock_line_(r, "memory "), entry);
  at = interlock_put_number_(interlock_put_(at, " ", 1), size_bytes);
  if ((flags & INTERLOCK_SCRATCH) != 0) at = interlock_put_word_(at, " scratch");
  if ((flags & INTERLOCK_UNIFIED) != 0) at = interlock_put_word_(at, " unified");
  if (atom_bytes != 0)
    at = interlock_put_number_(interlock_put_word_(at, " noncoherent="), atom_bytes);
  interlock_commit_(r, at);
  return interlock_handle_(r, entry);
}
// Null, and the recorder fails, if there is no such memory or the range leaves it.
static inline interlock_item_* interlock_place_(interlock_recorder* r, interlock_memory memory,
                                                uint64_t offset, uint64_t size) {
  interlock_item_* const entry = interlock_entry_(r, memory);
  if (entry == NULL || entry->sort > INTERLOCK_IS_TENSOR_) {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY, "memory %#llx is unknown or freed.",
                    (unsigned long long)memory);
    return NULL;
  }
  if (offset > entry->size_bytes || size > entry->size_bytes - offset) {
    interlock_fail_(r, INTERLOCK_BAD_RANGE,
                    "%llu bytes at offset %llu end past the end of memory '%s' (%llu bytes).",
                    (unsigned long long)size, (unsigned long long)offset, entry->name,
                    (unsigned long long)entry->size_bytes);
    return NULL;
  }
  return entry;
}
static inline void interlock_recorder_free(interlock_recorder* r, interlock_memory memory) {
  interlock_item_* entry;
  if (!interlock_is_recording_(r) || (entry = interlock_place_(r, memory, 0, 0)) == NULL) return;
  if (r->is_open) {
    interlock_fail_(r, INTERLOCK_BAD_SEQUENCE, "a memory is freed before the dispatch ends.");
    return;
  }
  if (entry->key_count != 0) {
    const uint32_t position = interlock_key_position_(r, entry->key);
    --r->keyed_count;
    memmove(r->by_key + position - 1, r->by_key + position,
            (r->keyed_count - (position - 1)) * sizeof *r->by_key);
  }
  entry->number = 0;
  entry->next_free = r->first_free;
  r->first_free = (uint32_t)memory;
}
static inline char* interlock_put_placement_(char* at, const interlock_item_* memory,
                                             uint64_t offset_bytes, uint64_t size_bytes) {
  at = interlock_put_number_(interlock_put_word_(at, " u8["), size_bytes);
  at = interlock_put_item_(interlock_put_word_(at, "] at "), memory);
  *at++ = '+';
  return interlock_put_number_(at, offset_bytes);
}
static inline interlock_memory interlock_recorder_tensor(interlock_recorder* r, const char* name,
                                                         interlock_memory memory,
                                                         uint64_t offset_bytes, uint64_t size_bytes,
                                                         unsigned flags) {
  interlock_item_ *base, *entry;
  char* at;
  if (!interlock_is_recording_(r)) return 0;
  if ((base = interlock_place_(r, memory, offset_bytes, size_bytes)) == NULL) return 0;
  if (base->sort == INTERLOCK_IS_TENSOR_) {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY, "a tensor lies on '%s', which is one.", base->name);
    return 0;
  }
  if (!(entry = interlock_new_entry_(r, INTERLOCK_IS_TENSOR_, name, size_bytes))) return 0;
  base = interlock_entry_(r, memory);  // The new one may have moved it.
  at = interlock_put_item_(interlock_line_(r, "tensor "), entry);
  at = interlock_put_placement_(at, base, offset_bytes, size_bytes);
  if ((flags & INTERLOCK_HOLDS_VALUE) != 0) at = interlock_put_word_(at, " = zeros");
  interlock_commit_(r, at);
  return interlock_handle_(r, entry);
}
static inline const char* interlock_recorder_name(const interlock_recorder* r, uint64_t item) {
  const interlock_item_* const entry = r != NULL ? interlock_entry_(r, item) : NULL;
  return entry != NULL ? entry->name : "";
}

// The tensor is numbered as memories are, so that it has a name that none of them has.
static inline void interlock_recorder_output(interlock_recorder* r, interlock_memory memory,
                                             uint64_t offset_bytes, uint64_t size_bytes) {
  const interlock_item_* entry;
  char* at;
  if (!interlock_is_recording_(r)) return;
  entry = interlock_place_(r, memory, offset_bytes, size_bytes);
  if (entry == NULL || size_bytes == 0) return;
  if (entry->sort == INTERLOCK_IS_TENSOR_) {
    interlock_commit_(r, interlock_put_item_(interlock_line_(r, "output "), entry));
    return;
  }
  at = interlock_line_(r, "tensor output.");
  at = interlock_put_number_(at, r->next_number);
  at = interlock_put_placement_(at, entry, offset_bytes, size_bytes);
  at = interlock_put_word_(at, "\noutput output.");
  interlock_commit_(r, interlock_put_number_(at, r->next_number++));
}
static inline interlock_dispatch interlock_recorder_dispatch(interlock_recorder* r,
                                                             const char* kernel,
                                                             const char* label) {
  if (!interlock_is_recording_(r)) return 0;
  if (r->is_open) {
    interlock_fail_(r, INTERLOCK_BAD_SEQUENCE, "another dispatch begins before this one ends.");
    return 0;
  }
  r->is_open = 1;
  r->is_partial = r->is_approximate = r->has_order = r->is_programmatic = 0;
  r->stage = INTERLOCK_IN_COMPUTE;
  r->atomic_kind = INTERLOCK_READ;
  r->access_count = r->edge_count = 0;
  r->queue = 0;
  memset(r->clause_counts, 0, sizeof r->clause_counts);
  r->kernel_length = interlock_kernel_name_(r->kernel, kernel);
  r->label_length = label == NULL ? 0
                                  : interlock_unique_name_(r, r->label, sizeof r->label, label,
                                                           0x9e3779b97f4a7c15u, r->dispatch_count);
  return r->dispatch_count + 1;
}

// True iff a dispatch is open; else, and if nothing went wrong before, the recorder fails.
static inline int interlock_is_inside_(interlock_recorder* r, const char* what) {
  if (!interlock_is_recording_(r)) return 0;
  if (!r->is_open) interlock_fail_(r, INTERLOCK_BAD_SEQUENCE, "%s outside a dispatch.", what);
  return r->is_open;
}
static inline void interlock_recorder_access(interlock_recorder* r, interlock_access_kind kind,
                                             interlock_memory memory, uint64_t offset_bytes,
                                             uint64_t size_bytes) {
  const unsigned clause =
      (unsigned)kind < INTERLOCK_ATOMIC_ADD ? (unsigned)kind : INTERLOCK_CLAUSES - 1;
  if (!interlock_is_inside_(r, "an access stands")) return;
  if (r->access_count == INTERLOCK_ACCESSES_MAX) {
    interlock_fail_(r, INTERLOCK_TOO_MANY_ACCESSES, "there are more than 256 accesses.");
    return;
  }
  if ((unsigned)kind > INTERLOCK_ATOMIC_XOR ||
      (clause == INTERLOCK_CLAUSES - 1 && r->atomic_kind != INTERLOCK_READ &&
       r->atomic_kind != kind)) {
    interlock_fail_(r, INTERLOCK_BAD_ACCESS, "access kind %d is unknown, or a second atomic one.",
                    (int)kind);
    return;
  }
  if (interlock_place_(r, memory, offset_bytes, size_bytes) == NULL) return;
  interlock_access_* const access = &r->accesses[r->access_count++];
  access->begin = offset_bytes;
  access->end = offset_bytes + size_bytes;
  access->slot = (uint32_t)memory;
  access->clause = (uint16_t)clause;
  access->has_rows = 0;
  ++r->clause_counts[clause];
  if (clause == INTERLOCK_CLAUSES - 1) r->atomic_kind = kind;
}
static inline void interlock_recorder_rows(interlock_recorder* r, uint64_t row_count,
                                           uint64_t pitch_bytes, uint64_t width_bytes) {
  const interlock_rows_ rows = {row_count, pitch_bytes, width_bytes};
  const size_t last = r != NULL ? r->access_count - 1 : 0;
  uint64_t size_bytes = 0;
  if (!interlock_is_inside_(r, "rows stand")) return;
  if (r->access_count != 0) size_bytes = r->accesses[last].end - r->accesses[last].begin;
  if (row_count == 0 || width_bytes == 0 || width_bytes > pitch_bytes || width_bytes > size_bytes ||
      row_count - 1 > (size_bytes - width_bytes) / pitch_bytes) {
    interlock_fail_(r, INTERLOCK_BAD_RANGE, "rows are none of the last access, or overlap.");
    return;
  }
  r->accesses[last].has_rows = 1;
  r->rows[last] = rows;
}
static inline void interlock_recorder_access_at(interlock_recorder* r, interlock_access_kind kind,
                                                uint64_t key, uint64_t offset_bytes,
                                                uint64_t size_bytes) {
  uint64_t start = 0;
  const interlock_memory memory = interlock_recorder_find(r, key, &start);
  if (memory == 0 && interlock_is_recording_(r)) {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY, "no memory has the key %#llx.",
                    (unsigned long long)key);
  }
  // An offset that wraps around is past the end of any memory.
  if (offset_bytes > UINT64_MAX - start) start = UINT64_MAX - offset_bytes;
  interlock_recorder_access(r, kind, memory, start + offset_bytes, size_bytes);
}
static inline void interlock_recorder_on(interlock_recorder* r, interlock_queue queue) {
  if (!interlock_is_inside_(r, "a queue stands")) return;
  if (interlock_is_queue_(r, queue)) r->queue = queue;
}
static inline void interlock_recorder_after(interlock_recorder* r, interlock_dispatch earlier) {
  size_t i;
  if (!interlock_is_inside_(r, "an edge stands")) return;
  for (i = 0; i < r->edge_count; ++i) {
    if (r->edges[i] == earlier) return;
  }
  if (earlier == 0 || earlier > r->dispatch_count || r->edge_count == INTERLOCK_EDGES_MAX) {
    interlock_fail_(r, INTERLOCK_BAD_EDGE,
                    "%llu is no dispatch before it, or one of more than 1024 that it comes after.",
                    (unsigned long long)earlier);
    return;
  }
  r->edges[r->edge_count++] = earlier;
}
static inline void interlock_recorder_programmatic(interlock_recorder* r) {
  if (interlock_is_inside_(r, "'programmatic' stands")) r->is_programmatic = 1;
}
static inline void interlock_recorder_order(interlock_recorder* r, uint64_t order) {
  if (!interlock_is_inside_(r, "an order stands")) return;
  r->has_order = 1;
  r->order = order;
}
static inline void interlock_recorder_partial(interlock_recorder* r) {
  if (interlock_is_inside_(r, "'partial' stands")) r->is_partial = 1;
}
static inline void interlock_recorder_approximate(interlock_recorder* r) {
  if (interlock_is_inside_(r, "'approximate' stands")) r->is_approximate = 1;
}
static inline void interlock_recorder_in(interlock_recorder* r, interlock_stage stage) {
  if (!interlock_is_inside_(r, "a stage stands")) return;
  r->stage = stage;
  if ((unsigned)stage > INTERLOCK_IN_GRAPHICS) {
    interlock_fail_(r, INTERLOCK_BAD_ACCESS, "stage %d is unknown.", (int)stage);
  }
}
static inline char* interlock_put_range_(char* at, uint64_t begin, uint64_t end) {
  at = interlock_put_number_(interlock_put_(at, "[", 1), begin);
  return interlock_put_(interlock_put_number_(interlock_put_(at, ":", 1), end), "]", 1);
}

// Appends one clause: " reads x y[0:64]".
static inline char* interlock_put_clause_(const interlock_recorder* r, char* at, uint32_t clause) {
  static const char* const words[] = {" indirect", " uniform", " reads",
                                      " writes",   " updates", " atomics"};
  size_t i;
  if (r->clause_counts[clause] == 0) return at;
  at = interlock_put_word_(at, words[clause]);
  for (i = 0; i < r->access_count; ++i) {
    const interlock_access_* const access = &r->accesses[i];
    const interlock_item_* const entry = &r->entries[access->slot];
    if (access->clause != clause) continue;
    at = interlock_put_item_(interlock_put_(at, " ", 1), entry);
    if (access->begin == 0 && access->end == entry->size_bytes && !access->has_rows) continue;
    at = interlock_put_range_(at, access->begin, access->end);
    if (!access->has_rows) continue;
    at = interlock_put_number_(interlock_put_word_(at - 1, " rows "), r->rows[i].row_count);
    at = interlock_put_number_(interlock_put_word_(at, " pitch "), r->rows[i].pitch_bytes);
    at = interlock_put_number_(interlock_put_word_(at, " width "), r->rows[i].width_bytes);
    *at++ = ']';
  }
  return at;
}
static inline void interlock_recorder_end(interlock_recorder* r) {
  static const char* const operations[] = {"add", "min", "max", "and", "or", "xor"};
  static const char* const stages[] = {"", " in copy", " in graphics"};
  char* at;
  size_t i;
  uint32_t clause;
  if (!interlock_is_inside_(r, "an end stands")) return;
  if (r->dispatch_count == 0) r->orders_dispatches = r->has_order;
  if (r->orders_dispatches != r->has_order) {
    interlock_fail_(r, INTERLOCK_BAD_SEQUENCE, "order stands on some dispatches only.");
    return;
  }
  at = interlock_reserve_(r);
  if (r->label_length != 0) {
    at = interlock_put_(interlock_put_(at, r->label, r->label_length), ": ", 2);
  }
  at = interlock_put_(interlock_put_(at, "dispatch ", 9), r->kernel, r->kernel_length);
  at = interlock_put_word_(at, stages[r->stage]);
  if (r->has_order) at = interlock_put_number_(interlock_put_word_(at, " order="), r->order);
  for (clause = 0; clause < INTERLOCK_CLAUSES; ++clause) at = interlock_put_clause_(r, at, clause);
  if (r->is_partial) at = interlock_put_word_(at, " partial");
  if (r->is_approximate) at = interlock_put_word_(at, " approximate");
  if (r->atomic_kind != INTERLOCK_READ) {
    at = interlock_put_word_(at, " atomic=");
    at = interlock_put_word_(at, operations[r->atomic_kind - INTERLOCK_ATOMIC_ADD]);
  }
  if (r->edge_count != 0) at = interlock_put_word_(at, " after");
  for (i = 0; i < r->edge_count; ++i) {  // The text counts dispatches from 0.
    at = interlock_put_number_(interlock_put_(at, " ", 1), r->edges[i] - 1);
  }
  if (r->edge_count != 0 && r->is_programmatic) at = interlock_put_word_(at, " programmatic");
  interlock_commit_on_(r, at, r->queue);
  r->is_open = 0;
  ++r->dispatch_count;
}

// Declares one, which its name begins. Returns null if the recorder fails.
static inline char* interlock_declare_(interlock_recorder* r, unsigned sort, const char* name,
                                       uint64_t* handle) {
  interlock_item_* const entry =
      interlock_is_recording_(r) ? interlock_new_entry_(r, sort, name, 1) : NULL;
  if (entry == NULL) return NULL;
  *handle = interlock_handle_(r, entry);
  return interlock_put_item_(interlock_reserve_(r), entry);
}
static inline interlock_queue interlock_recorder_queue(interlock_recorder* r, const char* name,
                                                       interlock_queue_kind kind) {
  static const char* const words[] = {"concurrent", "serial", "serial blocking", "legacy-default",
                                      "graph"};
  interlock_queue queue = 0;
  char* const at = interlock_declare_(r, INTERLOCK_IS_QUEUE_, name, &queue);
  if ((unsigned)kind > INTERLOCK_GRAPH && at != NULL) {
    interlock_fail_(r, INTERLOCK_BAD_QUEUE, "kind %d of a queue is unknown.", (int)kind);
  } else if (at != NULL) {
    interlock_commit_(r, interlock_put_word_(interlock_put_word_(at, ": queue "), words[kind]));
  }
  return queue;
}
static inline interlock_semaphore interlock_recorder_semaphore(interlock_recorder* r,
                                                               const char* name, uint64_t initial) {
  const int is_binary = initial == INTERLOCK_BINARY;
  interlock_semaphore semaphore = 0;
  char* at = interlock_declare_(r, INTERLOCK_IS_SEMAPHORE_, name, &semaphore);
  if (at == NULL) return 0;
  interlock_entry_(r, semaphore)->is_binary = (uint8_t)is_binary;
  at = interlock_put_word_(at, is_binary ? ": semaphore binary" : ": semaphore = ");
  if (!is_binary) at = interlock_put_number_(at, initial);
  interlock_commit_(r, at);
  return semaphore;
}
static inline interlock_event interlock_recorder_event(interlock_recorder* r, const char* name) {
  interlock_event event = 0;
  interlock_declare_(r, INTERLOCK_IS_EVENT_, name, &event);
  return event;
}

// The length of a text; the recorder fails if it is no part of a line, or longer than 4096.
static inline size_t interlock_text_length_(interlock_recorder* r, const char* text) {
  size_t length = 0;
  while (text != NULL && text[length] >= ' ' && text[length] <= '~' && text[length] != '#' &&
         length < INTERLOCK_TEXT_BYTES_MAX)
    ++length;
  if (text != NULL && text[length] != '\0') {
    interlock_fail_(r, INTERLOCK_BAD_BARRIER,
                    "byte %lu of a scope or statement is not printable, or '#', or more than 4096.",
                    (unsigned long)length);
  }
  return length;
}

// Commits "barrier SCOPE on Q", or a half of it, with an event.
static inline void interlock_put_barrier_(interlock_recorder* r, const char* words,
                                          const interlock_event* event, const char* scope,
                                          interlock_queue queue) {
  const interlock_item_* entry = NULL;
  size_t length;
  char* at;
  if (!interlock_is_recording_(r) || !interlock_is_queue_(r, queue)) return;
  if (event != NULL && !(entry = interlock_named_(r, *event, INTERLOCK_IS_EVENT_))) return;
  length = interlock_text_length_(r, scope);
  if (!interlock_is_recording_(r)) return;
  at = interlock_line_(r, words);
  if (entry != NULL) at = interlock_put_item_(at, entry);
  if (length != 0) at = interlock_put_(interlock_put_(at, " ", 1), scope, length);
  interlock_commit_on_(r, at, queue);
}

// Appends "s=3 after copy"; `word` stands before the stages, or is null where none may stand.
// Returns null, and the recorder fails, if the semaphore is not used so.
static inline char* interlock_put_use_(interlock_recorder* r, char* at,
                                       const interlock_semaphore_use* use, const char* word,
                                       int is_wait) {
  const interlock_item_* const entry = interlock_named_(r, use->semaphore, INTERLOCK_IS_SEMAPHORE_);
  const char* stages = use->stages != NULL ? use->stages : "";
  const int is_outside = is_wait && strcmp(stages, INTERLOCK_FROM_OUTSIDE) == 0;
  size_t length = 0;
  if (entry == NULL) return NULL;
  if (is_outside) stages = "";
  while ((stages[length] >= 'a' && stages[length] <= 'z') || stages[length] == '|') ++length;
  if (stages[length] != '\0' || length > INTERLOCK_STAGES_BYTES_MAX ||
      (word == NULL && length != 0)) {
    interlock_fail_(r, INTERLOCK_BAD_BARRIER,
                    "'%.64s' are no stages, as 'copy|compute'; the host has none.", stages);
    return NULL;
  }
  at = interlock_put_item_(at, entry);
  if (!entry->is_binary) at = interlock_put_number_(interlock_put_(at, "=", 1), use->value);
  if (is_outside) return interlock_put_word_(at, " from outside");
  return length == 0 ? at : interlock_put_(interlock_put_word_(at, word), stages, length);
}
static inline void interlock_put_uses_(interlock_recorder* r, const char* words, const char* word,
                                       interlock_queue queue, const interlock_semaphore_use* uses,
                                       size_t count) {
  const int is_of_host = queue == INTERLOCK_HOST;
  char* at;
  size_t i;
  if (!interlock_is_recording_(r) || (!is_of_host && !interlock_is_queue_(r, queue))) return;
  if (count == 0 || count > (is_of_host ? 1 : INTERLOCK_SIGNALS_MAX)) {
    interlock_fail_(r, INTERLOCK_BAD_SEMAPHORE, "a batch is of 1 to 64 semaphores, 1 of the host.");
    return;
  }
  at = interlock_put_word_(interlock_line_(r, is_of_host ? "host " : ""), words);
  if (is_of_host) at = interlock_put_(at - 1, "s ", 2);
  for (i = 0; i < count; ++i) {
    if (i != 0) at = interlock_put_word_(at, ", ");
    at = interlock_put_use_(r, at, &uses[i], is_of_host ? NULL : word, *words == 'w');
    if (at == NULL) return;
  }
  interlock_commit_on_(r, at, is_of_host ? 0 : queue);
}

// Commits the statement with its queue. Where that may be the host, even the default one is said.
static inline void interlock_put_on_(interlock_recorder* r, const char* words, const char* name,
                                     interlock_queue queue, int may_be_host) {
  const int is_of_host = may_be_host && queue == INTERLOCK_HOST;
  char* at;
  if (!interlock_is_recording_(r) || (!is_of_host && !interlock_is_queue_(r, queue))) return;
  at = interlock_put_word_(interlock_line_(r, words), name);
  if (may_be_host && queue == 0) at = interlock_put_word_(at, " on q0");
  interlock_commit_on_(r, at, is_of_host ? 0 : queue);
  if (r->flushes_at_submits) interlock_write_(r);
}
static inline void interlock_recorder_flush_at_submits(interlock_recorder* r, int is_on) {
  if (r != NULL) r->flushes_at_submits = is_on;
}
static inline void interlock_recorder_end_tensor(interlock_recorder* r, interlock_end how,
                                                 interlock_memory tensor, interlock_queue queue) {
  const interlock_item_* entry;
  if (!interlock_is_recording_(r) || (entry = interlock_place_(r, tensor, 0, 0)) == NULL) return;
  if (entry->sort == INTERLOCK_IS_TENSOR_) {
    interlock_put_on_(r, how == INTERLOCK_DESTROY ? "destroy " : "free ", entry->name, queue, 1);
  } else {
    interlock_fail_(r, INTERLOCK_BAD_MEMORY, "memory '%s' is no tensor.", entry->name);
  }
}
static inline void interlock_recorder_host(interlock_recorder* r, interlock_host_operation what,
                                           interlock_memory memory, uint64_t offset_bytes,
                                           uint64_t size_bytes) {
  static const char* const words[] = {"host reads ", "host writes ", "host flushes ",
                                      "host invalidates "};
  const interlock_item_* entry;
  char* at;
  if (!interlock_is_recording_(r)) return;
  if ((unsigned)what > INTERLOCK_HOST_INVALIDATES) {
    interlock_fail_(r, INTERLOCK_BAD_ACCESS, "operation %d of the host is unknown.", (int)what);
    return;
  }
  if ((entry = interlock_place_(r, memory, offset_bytes, size_bytes)) == NULL) return;
  at = interlock_put_item_(interlock_line_(r, words[what]), entry);
  if (offset_bytes != 0 || size_bytes != entry->size_bytes) {
    at = interlock_put_range_(at, offset_bytes, offset_bytes + size_bytes);
  }
  interlock_commit_(r, at);
}
static inline void interlock_recorder_statement(interlock_recorder* r, const char* text) {
  const char* const colon = text != NULL ? strchr(text, ':') : NULL;
  const char* const words = colon != NULL ? colon + 1 : text;  // After a label.
  size_t length;
  if (!interlock_is_recording_(r)) return;
  length = interlock_text_length_(r, text);
  if (length == 0 || r->is_open || !strncmp(words + strspn(words, " "), "dispatch", 8)) {
    interlock_fail_(r, INTERLOCK_BAD_SEQUENCE, "a statement is empty, a dispatch, or inside one.");
  }
  if (!interlock_is_recording_(r)) return;
  interlock_commit_(r, interlock_put_(interlock_reserve_(r), text, length));
}

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef INTERLOCK_PRINTF
