// Who wrote what a read finds, byte by byte, in every order of dispatches.
#pragma once

#include <cstdint>
#include <functional>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

// The reader, its access, a byte of it, and who wrote that; no dispatch: nobody.
using SourceVisitor = std::function<bool(DispatchId, const Access&, uint64_t, AccessRef)>;

// Calls `visit` for every byte that is read, in every order of the dispatches that the barriers
// allow; stops when it returns true, and returns whether it did. Requires: full barriers only.
// Cost: the orders, times dispatches times bytes.
bool any_source(const Program& program, const SourceVisitor& visit);

}  // namespace interlock
