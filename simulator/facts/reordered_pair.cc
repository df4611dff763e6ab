#include "simulator/facts/reordered_pair.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace interlock {
namespace {

// The lowest position through which `writer` writes a byte of `bytes`.
AccessRef write_of(const Program& program, DispatchId writer, MemoryId memory, ByteRange bytes) {
  const std::span<const Access> accesses = program.accesses_of(writer);
  for (uint32_t k = 0; k < accesses.size(); ++k) {
    const bool writes = accesses[k].writes() || accesses[k].is_atomic();
    if (writes && accesses[k].memory == memory && share_a_byte(accesses[k].range, bytes)) {
      return {writer, k};
    }
  }
  return {writer, 0};
}

bool are_inverted(const Program& program, DispatchId a, DispatchId b) {
  return a.is_some() && b.is_some() && a < b &&
         program.dispatch(a).order > program.dispatch(b).order;
}

}  // namespace

ReorderedPair reordered_pair_of(const Program& program, const ReorderedRead& read) {
  const auto pair_of = [&](DispatchId first, DispatchId second, bool is_inverted) {
    const auto access_of_dispatch = [&](DispatchId id) {
      return id == read.reader ? AccessRef{read.reader, read.access}
                               : write_of(program, id, read.memory, read.bytes);
    };
    return ReorderedPair{access_of_dispatch(first), access_of_dispatch(second), is_inverted};
  };
  const std::pair<DispatchId, DispatchId> pairs[] = {{read.seen_writer, read.reader},
                                                     {read.reader, read.right_writer},
                                                     {read.right_writer, read.seen_writer}};
  for (const auto& [first, second] : pairs) {
    if (are_inverted(program, first, second)) return pair_of(first, second, true);
  }
  const DispatchId writer = read.seen_writer.is_some() ? read.seen_writer : read.right_writer;
  const auto [first, second] = read.reader.is_some()
                                   ? std::minmax({writer, read.reader})
                                   : std::minmax({read.seen_writer, read.right_writer});
  return pair_of(first, second, false);
}

}  // namespace interlock
