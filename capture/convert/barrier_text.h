// The dependencies of a barrier of Vulkan as those of the text format.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/convert/command_lists.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/summary.h"
#include "encoder/program/draft.h"

namespace interlock {

// Where a barrier executes.
struct DependencyPlace {
  std::optional<uint32_t> family;  // Of the queue, if it is known.
  bool is_event = false;           // It is the set of an event: those have no transitions.
};

// Those that order something, or do something to their bytes: change the layout of an image, or
// take part in a transfer of ownership between families of queues, of which each has its half. One
// whose first scope is empty, or whose second is, orders nothing. Dependencies of the same scopes
// are one. Where there are more operands than a barrier may have, the rest is left out, and never
// more ordered than the application does; the summary says so.
std::vector<DependencyDraft> dependencies_of(const std::vector<CapturedDependency>& dependencies,
                                             const DependencyPlace& place, ProgramWriter& writer,
                                             CaptureSummary& summary);

}  // namespace interlock
