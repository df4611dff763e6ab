// All executions of a tiny program with several queues: the machine of counters says which part of
// an operation must come before which, and an interpreter of bytes of its own executes every order
// that this leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/part_order.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

// What one execution leaves where somebody looks: the outputs, all memories if there are none, and
// what the host reads.
std::vector<uint64_t> execute_parts(const Program& program, const QueueMachine& machine,
                                    const std::vector<OperationPart>& parts);

enum class DivergenceVerdict : uint8_t { kNever, kSometimes, kTooMany };

// Whether some execution leaves something else than the reference order, by executing them all, if
// there are at most `limit`.
DivergenceVerdict find_divergence(const Program& program, uint64_t limit);

}  // namespace interlock
