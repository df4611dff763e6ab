// What a finding of lifetimes says to a person: whose bytes they were, who took them, and the
// smallest change that keeps the value until it is read.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/report/finding.h"

namespace interlock {

// Returns the finding with kind, accesses, bytes and sentences. `first` is the overwriter of a
// clobber, else the reader, which is no dispatch at the end of the program; `second` the reader of
// a clobber, none at the end. The history of the bytes and that of the pins take their work from
// `history_work_left`, and are left out when that is too little.
Finding explain_lifetime(const Program& program, const LifetimeFinding& found,
                         uint64_t& history_work_left);

}  // namespace interlock
