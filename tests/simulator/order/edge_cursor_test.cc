// The edges to each dispatch, asked for in any order, are those that a search finds.
#include "simulator/order/edge_cursor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/simulator/programs/queue_texts.h"

namespace interlock::edge_cursor_test {
namespace {

std::vector<uint32_t> sources_of(std::span<const Edge> edges) {
  std::vector<uint32_t> sources;
  for (const Edge& edge : edges) sources.push_back(edge.from.index);
  return sources;
}

TEST(EdgeCursor, FindsTheEdgesOfWhateverIsAskedForNext) {
  const Program program = program_with_queues(R"(interlock 1
memory x 64
g: queue graph
dispatch A writes x[0:1] on g
dispatch B reads x[0:1] after 0 on g
dispatch C writes x[1:2] on g
dispatch D reads x[0:2] after 0 1 2 on g
dispatch E writes x[2:3] on g
dispatch F reads x[0:3] after 3 4 on g
)");
  const auto expected = [&](uint32_t i) {
    return sources_of(program.edges_to(DispatchId(size_t{i})));
  };
  ASSERT_EQ(expected(3), (std::vector<uint32_t>{0, 1, 2}));
  for (uint32_t a = 0; a < 6; ++a) {
    for (uint32_t b = 0; b < 6; ++b) {
      for (uint32_t c = 0; c < 6; ++c) {
        EdgeCursor cursor(program);
        for (const uint32_t i : {a, b, c}) {
          ASSERT_EQ(sources_of(cursor.to(DispatchId(size_t{i}))), expected(i)) << a << b << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace interlock::edge_cursor_test
