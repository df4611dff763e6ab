// transformer: blocks of attention and a gated feed-forward layer between an embedding and the
// cross-entropy of its transpose. Only low-rank factors beside two of the projections are trained
// (LoRA), as in the run of ggml #1501.
#pragma once

#include "fuzz/workloads/workload.h"

namespace interlock {

Result<ProgramDraft> make_transformer(const WorkloadOptions& options);

}  // namespace interlock
