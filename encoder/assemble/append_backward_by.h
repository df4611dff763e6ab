// What a backward pass appends to a program, whether it is one of this build or not.
#pragma once

#include <optional>
#include <string>

#include "encoder/assemble/append_backward.h"
#include "encoder/backward/backward.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// What became of it.
struct AppendedBy {
  AppendedBackward appended;
  // How a pass of others failed. Then `appended` says nothing.
  std::optional<EncodeFailure> failure;
  // Of a pass of others: what one-shot appends to the same program, gradients by the same names.
  std::optional<AppendedBackward> reference;
};

// The request as a line of text, with the name of each gradient: "backward loss=y wrt=x:d_x,w:d_w".
std::string remark_of(const BackwardDraft& request, const std::vector<std::string>& gradients);

// `program` with what `backward` appends; the mode of `request` is not looked at. A pass of others
// is asked for what one-shot can differentiate alone, and is given the program spelled out.
// Errors: those of append_backward(); a program with `order=`, of a pass of others.
// Cost: as append_backward(), and the pass.
Result<AppendedBy> append_backward_by(const Program& program, BackwardDraft request,
                                      const BackwardEntry& backward, const Limits& limits = {});

}  // namespace interlock
