// ggml's graph allocator, and three ways in which it has been wrong or was suspected to be.
//
// Restates ggml_gallocr_alloc_graph_impl, ggml_gallocr_allocate_node, ggml_gallocr_free_node and
// ggml_dyn_tallocr_alloc of ggml, src/ggml-alloc.c as of d99724f2 (v0.21.0). A value is freed when
// its n_children and n_views are 0 and it is not an output; a node may take a parent's bytes if its
// operation is on a list, the layouts are the same and nobody else will read the parent; else it
// gets the best fitting free block, the unbounded last block only if no other one fits.
//
// A dispatch is a node; each value that it is the first to write is allocated there. Reads count
// children, through views too, which comes to the same frees as n_views. A later write to an
// allocated value is a view node of it and counts as a child. Values that live from the start are
// the graph's inputs, allocated before all nodes.
//
// Gaps of the original, all restated: no value is protected from consumers in another graph; frees
// assume that nodes run one after the other; the list of operations says nothing about *which*
// source may share bytes with the result (ggml #1501, llama.cpp#24305). Not modelled: several
// buffers and chunks.
#pragma once

#include "encoder/plan/planner.h"

namespace interlock {

// As it is: the alias contracts of the kernels are unknown to it.
Result<Program> plan_ggml(const Program& program, const PlanOptions& options);

// The cause that ggml #1501 suspected first: consumers in the backward pass are not counted, so
// that a saved activation is freed after its last forward consumer. Contracts are respected.
Result<Program> plan_ggml_undercount(const Program& program, const PlanOptions& options);

// llama.cpp#2757: frees in node order, while the encoder lets dispatches overlap that have no data
// dependency. The program's sync stays as it is; a program without any gets what its data needs
// before anything is placed, as ggml_metal_graph_find_concurrency did. Contracts are respected.
Result<Program> plan_ggml_serial_liveness(const Program& program, const PlanOptions& options);

}  // namespace interlock
