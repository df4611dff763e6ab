// EdgeCursor: the edges that lead to each dispatch, for whoever visits dispatches in order.
#pragma once

#include <cstddef>
#include <span>

#include "encoder/program/program.h"

namespace interlock {

class EdgeCursor {
 public:
  // `program` outlives this.
  explicit EdgeCursor(const Program& program) : program_(program) {}

  // As Program::edges_to(). Cost: constant if all dispatches with edges between the last one and
  // this one were asked for.
  std::span<const Edge> to(DispatchId id) {
    const std::span<const Edge> edges = program_.edges;
    const bool is_behind = next_ < edges.size() && edges[next_].to < id;
    const bool is_ahead = next_ > 0 && !(edges[next_ - 1].to < id);
    if (is_behind || is_ahead) {
      const auto found = program_.edges_to(id);
      if (!found.empty()) next_ = static_cast<size_t>(&found.back() - edges.data()) + 1;
      return found;
    }
    const size_t begin = next_;
    while (next_ < edges.size() && edges[next_].to == id) ++next_;
    return edges.subspan(begin, next_ - begin);
  }

 private:
  const Program& program_;
  size_t next_ = 0;  // After the edges of the last one.
};

}  // namespace interlock
