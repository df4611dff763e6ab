// Trace of a picture: the Trace Event Format of Chromium ("Trace Event Format", Duan, Sinclair,
// 2016), which ui.perfetto.dev and chrome://tracing read.
#pragma once

#include <string>
#include <string_view>

#include "simulator/picture/picture.h"

namespace interlock {

// Limits for pictures that are traces: viewers fold by themselves.
PictureLimits trace_limits();

// One JSON object. Its clock is no time: each dispatch takes one microsecond, one after the other,
// and sync takes none, but where an arrow begins or ends. Processes: queues with their dispatches,
// the finding as a flow between two of them; memory, a thread for each segment, a slice for each
// owner; and the order of the witness. Cost: linear in the picture.
std::string trace_of(const Picture& picture, std::string_view title);

}  // namespace interlock
