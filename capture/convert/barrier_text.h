// The dependencies of a barrier of Vulkan as those of the text format.
#pragma once

#include <vector>

#include "capture/convert/command_lists.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/summary.h"
#include "encoder/program/draft.h"

namespace interlock {

// Those that order something: one whose first scope is empty, or whose second is, orders nothing.
// Dependencies of the same scopes are one. Where there are more operands than a barrier may have,
// the rest is left out, and never more ordered than the application does; the summary says so.
std::vector<DependencyDraft> dependencies_of(const std::vector<CapturedDependency>& dependencies,
                                             ProgramWriter& writer, CaptureSummary& summary);

}  // namespace interlock
