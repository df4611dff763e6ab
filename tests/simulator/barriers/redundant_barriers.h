// Which barriers can go, as tests compare them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/order/happens_before.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock {

inline std::vector<RedundantBarrier> find_redundant(const Program& program) {
  return find_redundant(program, HappensBefore(program), ByteSegments(program),
                        find_destroy_needs(program))
      .redundant;
}

// The positions of the redundant barriers among all barriers.
inline std::vector<uint32_t> redundant_in(const Program& program) {
  std::vector<uint32_t> barriers;
  for (const RedundantBarrier& redundant : find_redundant(program)) {
    barriers.push_back(redundant.barrier.index);
  }
  return barriers;
}

// Likewise, of the program after memories a, b and c.
inline std::vector<uint32_t> redundant_on_abc(std::string_view body) {
  return redundant_in(program_on_abc(body));
}

}  // namespace interlock
