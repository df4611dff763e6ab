// mlp: residual layers that share one weight, used twice in each: as it is and transposed. Its
// gradient has two contributions of every layer (PyTorch #180952).
#pragma once

#include "fuzz/workloads/workload.h"

namespace interlock {

Result<ProgramDraft> make_mlp(const WorkloadOptions& options);

}  // namespace interlock
