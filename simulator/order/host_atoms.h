// Whole atoms: what the host does to memory that is not coherent with it. Flushes and invalidations
// move whole atoms, and so accesses of the host count as such (Vulkan 1.3, 11.2,
// nonCoherentAtomSize).
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

// The bytes of the atoms that `range` touches; `range` where the memory is coherent. The last atom
// of a memory may be cut off. Cost: constant.
ByteRange in_whole_atoms(const Memory& memory, ByteRange range);

// What stands beside the bytes that the host writes, in their atoms: its cache writes it back as it
// found it. Sorted by memory and bytes, apart; nothing of what is no such write. Cost: O(n log n)
// for n operands.
std::vector<MemoryRange> beside_host_write(const Program& program, DispatchId dispatch);

// True iff the host accesses such memory. Cost: linear in the memories.
bool has_host_atoms(const Program& program);

// Returns `program` with what the host reads, writes, flushes and invalidates in whole atoms: for
// the search for hazards, as values of other tensors may lie beside. Cost: linear.
Program with_whole_atoms(Program program);

}  // namespace interlock
