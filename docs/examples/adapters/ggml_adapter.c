/* Records the graphs that a ggml backend computes: a dispatch for each node, and a barrier where the
 * backend places one. Call record_graph() from graph_compute of the backend, with what decides its
 * barriers. Usage: ggml_adapter FILE [concurrent], where `concurrent` forgets the barriers. */
#include "docs/examples/adapters/ggml_stub.h"
#include "encoder/recorder.h"

static uint64_t address_of(const void* pointer) { return (uint64_t)(uintptr_t)pointer; }

/* A buffer is recorded when the first tensor of it is met. What ggml-alloc places on the same bytes
 * one after another is then seen as such. */
static void know_buffer(interlock_recorder* r, struct ggml_backend_buffer* buffer) {
  uint64_t offset_bytes;
  const uint64_t base = address_of(ggml_backend_buffer_get_base(buffer));
  if (interlock_recorder_find(r, base, &offset_bytes) == 0) {
    interlock_recorder_memory(r, "buffer", base, ggml_backend_buffer_get_size(buffer), 0);
  }
}

static void access_tensor(interlock_recorder* r, interlock_access_kind kind,
                          const struct ggml_tensor* tensor) {
  interlock_recorder_access_at(r, kind, address_of(tensor->data), 0, ggml_nbytes(tensor));
}

/* Nodes that compute nothing: another shape of the same bytes. */
static int is_dispatched(const struct ggml_tensor* node) {
  return node->op != GGML_OP_NONE && node->op != GGML_OP_VIEW && node->op != GGML_OP_RESHAPE;
}

/* `has_barrier_before` says whether the backend places one before node `i`. */
static void record_graph(interlock_recorder* r, const struct ggml_cgraph* graph,
                         int (*has_barrier_before)(const struct ggml_cgraph* graph, int i)) {
  int i, j;
  for (i = 0; i < graph->n_nodes; ++i) {
    const struct ggml_tensor* node = graph->nodes[i];
    if (!is_dispatched(node)) continue;
    know_buffer(r, node->buffer);
    for (j = 0; j < GGML_MAX_SRC; ++j) {
      if (node->src[j] != NULL) know_buffer(r, node->src[j]->buffer);
    }
    if (has_barrier_before(graph, i)) interlock_recorder_barrier(r, NULL);
    interlock_recorder_dispatch(r, ggml_op_name(node->op), node->name);
    for (j = 0; j < GGML_MAX_SRC; ++j) {
      if (node->src[j] != NULL) access_tensor(r, INTERLOCK_READ, node->src[j]);
    }
    access_tensor(r, INTERLOCK_WRITE, node);
    interlock_recorder_end(r);
  }
}

/* Two backends: one that is serial, one that never waits. */
static int before_each(const struct ggml_cgraph* graph, int i) {
  (void)graph;
  return i > 0;
}
static int before_none(const struct ggml_cgraph* graph, int i) {
  (void)graph;
  (void)i;
  return 0;
}

static void make_row(struct ggml_tensor* tensor, const char* name, enum ggml_op op,
                     struct ggml_backend_buffer* buffer, size_t offset_bytes) {
  const struct ggml_tensor none = {0};
  int i;
  *tensor = none;
  tensor->buffer = buffer;
  tensor->data = (char*)buffer->base + offset_bytes;
  tensor->op = op;
  for (i = 0; i < GGML_MAX_DIMS; ++i) {
    tensor->ne[i] = i == 0 ? 64 : 1;
    tensor->nb[i] = i == 0 ? 4 : 256;
  }
  snprintf(tensor->name, sizeof tensor->name, "%s", name);
}

int main(int argc, char** argv) {
  static char bytes[2][1024];
  struct ggml_backend_buffer weights = {bytes[0], 1024};
  struct ggml_backend_buffer compute = {bytes[1], 1024};
  struct ggml_tensor w, x, h, y;
  struct ggml_tensor* nodes[3];
  const struct ggml_cgraph graph = {3, nodes};
  interlock_recorder* r = interlock_recorder_open(argc > 1 ? argv[1] : "graph.ilk");
  make_row(&w, "w", GGML_OP_NONE, &weights, 0);
  make_row(&x, "x", GGML_OP_NONE, &compute, 0);
  make_row(&h, "h", GGML_OP_MUL_MAT, &compute, 256);
  make_row(&y, "y", GGML_OP_ADD, &compute, 0); /* On the bytes of x, which is not needed any more. */
  h.src[0] = &w;
  h.src[1] = &x;
  y.src[0] = &h;
  y.src[1] = &w;
  nodes[0] = &x;
  nodes[1] = &h;
  nodes[2] = &y;
  record_graph(r, &graph, argc > 2 ? before_none : before_each);
  return (int)interlock_recorder_close(r);
}
