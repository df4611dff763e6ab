/* What the example needs of ggml, so that it compiles anywhere: the names and fields of ggml.h and
 * ggml-backend.h that a recorder reads, and none of the code. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GGML_MAX_DIMS 4
#define GGML_MAX_SRC 10
#define GGML_MAX_NAME 64

enum ggml_op { GGML_OP_NONE, GGML_OP_ADD, GGML_OP_MUL_MAT, GGML_OP_VIEW, GGML_OP_RESHAPE };

struct ggml_backend_buffer {
  void* base;
  size_t size;
};

struct ggml_tensor {
  struct ggml_backend_buffer* buffer;
  int64_t ne[GGML_MAX_DIMS]; /* Elements. */
  size_t nb[GGML_MAX_DIMS];  /* Bytes from one to the next. */
  enum ggml_op op;
  struct ggml_tensor* src[GGML_MAX_SRC];
  struct ggml_tensor* view_src;
  void* data;
  char name[GGML_MAX_NAME];
};

struct ggml_cgraph {
  int n_nodes;
  struct ggml_tensor** nodes;
};

static inline void* ggml_backend_buffer_get_base(struct ggml_backend_buffer* buffer) {
  return buffer->base;
}
static inline size_t ggml_backend_buffer_get_size(struct ggml_backend_buffer* buffer) {
  return buffer->size;
}

static inline const char* ggml_op_name(enum ggml_op op) {
  static const char* const names[] = {"NONE", "ADD", "MUL_MAT", "VIEW", "RESHAPE"};
  return names[op];
}

/* From the first byte to the last one, as ggml_nbytes() has it for types without blocks. */
static inline size_t ggml_nbytes(const struct ggml_tensor* tensor) {
  size_t bytes = 4;
  int i;
  for (i = 0; i < GGML_MAX_DIMS; ++i) bytes += (size_t)(tensor->ne[i] - 1) * tensor->nb[i];
  return bytes;
}
