#include "encoder/import/import_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace interlock {
namespace {

std::string counted_noun(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string text_of(const ImportCounts& counts) {
  constexpr size_t kNamedMax = 10;
  std::string text = fmt::format("{}, {}", counted_noun(counts.node_count, "node"),
                                 counted_noun(counts.edge_count, "edge"));
  if (counts.programmatic_count > 0)
    text += fmt::format(", {} programmatic", counts.programmatic_count);
  const size_t unknown = counts.unknown.size();
  text += unknown == 0 ? "; accesses of all are known.\n"
                       : fmt::format("; {} of {} {} no accesses: nothing is known of {}.\n",
                                     unknown, counted_noun(counts.node_count, "node"),
                                     unknown == 1 ? "has" : "have", unknown == 1 ? "it" : "them");
  for (size_t i = 0; i < std::min(unknown, kNamedMax); ++i) {
    text += fmt::format("  no accesses: {}\n", counts.unknown[i]);
  }
  if (unknown > kNamedMax) text += fmt::format("  … and {} more.\n", unknown - kNamedMax);
  if (counts.half_known_count > 0) {
    text +=
        fmt::format("Of {} one end lies in no memory that has an address; the other is known.\n",
                    counted_noun(counts.half_known_count, "copy node"));
  }
  if (counts.outside_count > 0) {
    text += fmt::format(
        "Of {}, for events or semaphores, it is not known what they order outside of the graph.\n",
        counted_noun(counts.outside_count, "node"));
  }
  if (counts.other_port_count > 0) {
    text += fmt::format("Of {} the port is not known; it counts as programmatic.\n",
                        counted_noun(counts.other_port_count, "edge"));
  }
  if (counts.left_out_count > 0) {
    text += fmt::format(
        "Left out: {} of graphs that no child graph node names, as bodies of conditional nodes.\n",
        counted_noun(counts.left_out_count, "node"));
  }
  for (size_t i = 0; i < std::min(counts.unused_lines.size(), kNamedMax); ++i) {
    text +=
        fmt::format("Line {} of the access sets is used for no node.\n", counts.unused_lines[i]);
  }
  if (counts.unused_lines.size() > kNamedMax) {
    text += fmt::format("… and {} lines more.\n", counts.unused_lines.size() - kNamedMax);
  }
  return text;
}

}  // namespace interlock
