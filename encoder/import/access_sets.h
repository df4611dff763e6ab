// Access sets: what a person states about the nodes of a graph, as its file does not say what
// kernels read and write. A line for each memory, and for each node or kernel:
//
//     accesses 1
//     memory input 4096 at 0x302000000
//     memory output 4096
//     node graph_1_node_3 reads input[0:1024] writes output
//     kernel *softmax* updates output
//     kernel noop none
//
// The clauses are those of a dispatch (docs/format.md). A `*` in the name of a kernel stands for
// any bytes. An address lets copies find the memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/range.h"
#include "encoder/program/result.h"

namespace interlock {

struct AddressedMemory {
  MemoryDraft memory;
  std::optional<uint64_t> address;
};

struct AccessSet {
  bool is_of_node = false;  // `name` is the id of a node; else of a kernel, with `*`.
  std::string name;
  DispatchDraft accesses;  // Operands, partial and attributes.
  uint64_t line = 0;
};

struct AccessSets {
  std::vector<AddressedMemory> memories;
  std::map<uint64_t, size_t> by_address;  // Those that have one.
  std::vector<AccessSet> sets;
};

// Errors: "file:line:column: error: …". The lines fit together: names are declared before, ranges
// lie in their memories, memories with addresses do not overlap.
// Cost: linear in the text, times log of the memories.
Result<AccessSets> read_access_sets(std::string_view text, std::string_view file_name,
                                    const Limits& limits = {});

// Whether `*` of the pattern can stand for bytes so that it is the text. Cost: the product of both
// lengths at most.
bool matches(std::string_view pattern, std::string_view text);

// The operand of these bytes; none if they do not lie in one memory that has an address.
// Cost: logarithmic in the memories.
std::optional<OperandDraft> operand_at(const AccessSets& sets, const StridedRange& bytes);

}  // namespace interlock
