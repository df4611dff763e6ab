// Backward passes: the dispatches that compute the gradient of a loss, the sum of its elements, by
// some of the tensors of a program. The VJP rules (vjp_rules.h) say what each dispatch needs, a
// pass says in which order, where contributions add up, and under which names. Who adds them to a
// program is assemble/append_backward.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/written_backward.h"

namespace interlock {

// Returns what the pass appends to `program`. The gradient of tensor w is the tensor d_w, or d_w.2,
// d_w.3, … if the names before it are taken; d_loss starts with ones. Dispatches are labelled by
// the forward ones, LABEL.vjp0, LABEL.sum0, …, after the kernel and its number where those have no
// label. A gradient is that by what the tensor holds where the program ends; by a tensor that the
// loss does not depend on it is zeros. What adopts a whole tensor is that tensor's value.
// Errors: unknown names and modes; a dispatch between `wrt` and the loss that is opaque, has no VJP
// rule, touches a part of a tensor only or raw memory, or writes what it reads; an adoption between
// them that takes a part of a tensor, or any in a program with an order of its own; a value that
// the backward pass needs and that is overwritten; a loss that depends on what a tensor of `wrt`
// held before it was written (backward_versions.h); bytes of a value on the way that are written
// raw (backward_raw_writes.h). Also if there is not the room, which has then
// paid for what was tried.
// Cost: near linear in the program; of `split-pytorch-180952`, and in the dispatches that it visits
// again, between the first and the last use of each group of weights that is used more than once.
Result<WrittenBackward> write_backward(const Program& program, const BackwardDraft& request,
                                       BackwardRoom& room);

// The items alone, with all the room that there is by default.
Result<std::vector<ItemDraft>> backward_items(const Program& program, const BackwardDraft& request);

class BackwardWriter;
class ExternalPass;

// A registered backward pass, or one that is not part of this build.
struct BackwardEntry {
  std::string_view name;
  std::string_view summary;        // One line for `interlock list backwards`.
  bool is_broken;                  // Known to compute wrong gradients.
  void (*write)(BackwardWriter&);  // Of encoder/backward/backward_writer.h.
  // If some, in the place of `write`, which is null then. append_backward_by() asks either.
  ExternalPass* external = nullptr;
};

std::span<const BackwardEntry> backward_registry();

// Returns null if there is none of this name.
const BackwardEntry* find_backward(std::string_view name);

}  // namespace interlock
