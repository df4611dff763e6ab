// HostCache: all executions of a tiny program of one queue and the host, with a cache of the host,
// line by line. It knows bytes and who holds which copy of them, and neither chains nor clocks.
//
// Each byte has a copy that devices see and one that the host's cache is filled from. What a device
// writes gets to the latter at any time, and at the latest when a dependency of its queue names the
// host; what the host writes gets to the former at any time, at the latest with a submission or
// with a dependency that names the host's writes. Memory that is not coherent has lines of one atom
// before it: absent, clean or dirty; they are filled, dropped if clean and written back if dirty at
// any time, a flush writes back, and an invalidation drops, dirty ones too.
#pragma once

#include <cstddef>

#include "encoder/program/program.h"
#include "tests/simulator/judges/part_execution.h"

namespace interlock {

// Whether in some execution somebody finds something else than in the reference run. A host write
// finds the old bytes of all atoms that it touches, and so does a host read; a device may touch no
// byte of an atom that the host has written and that has not got to it yet. What the host lost
// itself, and nobody has written since, is asked about only where somebody reads it.
// Requires: as parsed; its device statements are of q0, and of any two dispatches of it a
// dependency of devices alone, or a full barrier, stands between. Gives up after `state_max`
// states.
DivergenceVerdict find_host_divergence(const Program& program, size_t state_max);

// Whether in some execution an output differs: what is left in the memory of the device, but for
// what the host has lost, or what the host reads. Requires: as above; the program names no outputs.
DivergenceVerdict find_host_output_divergence(const Program& program, size_t state_max);

}  // namespace interlock
