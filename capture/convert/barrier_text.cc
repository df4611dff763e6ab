#include "capture/convert/barrier_text.h"

#include <algorithm>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/scopes.h"
#include "encoder/program/limits.h"

namespace interlock {
namespace {

constexpr size_t kOperandsMax = Limits().operand_count_per_barrier;
constexpr size_t kDependenciesMax = Limits().dependency_count_per_barrier;

std::vector<CapturedBytes> bytes_of(const CapturedDependency& dependency) {
  const DependencyFields& fields = dependency.fields;
  if (dependency.buffer != nullptr) {
    return bytes_of(*dependency.buffer, fields.offset_bytes, fields.size_bytes);
  }
  return bytes_of(*dependency.image, fields.range);
}

bool has_scopes(const DependencyDraft& dependency, Scope source, Scope destination) {
  return dependency.source == source && dependency.destination == destination;
}

}  // namespace

std::vector<DependencyDraft> dependencies_of(const std::vector<CapturedDependency>& dependencies,
                                             ProgramWriter& writer, CaptureSummary& summary) {
  std::vector<DependencyDraft> result;
  size_t operand_count = 0;
  for (const CapturedDependency& dependency : dependencies) {
    const DependencyFields& fields = dependency.fields;
    if (fields.old_layout != fields.new_layout) {
      summary.remark("layout transitions, of which only the order is judged");
    }
    if (has_unknown_stages(fields.source_stages | fields.destination_stages)) {
      summary.note("a barrier of stages of graphics");
    }
    const Scope source = scope_of(fields.source_stages, fields.source_accesses, ScopeEnd::kFirst);
    const Scope destination =
        scope_of(fields.destination_stages, fields.destination_accesses, ScopeEnd::kSecond);
    if (source.stages == 0 || destination.stages == 0) continue;
    const bool is_global = fields.object == DependencyObject::kMemory;
    if (!is_global && dependency.buffer == nullptr && dependency.image == nullptr) {
      summary.note("a barrier on a buffer or an image that is not known");
      continue;
    }
    std::vector<CapturedBytes> bytes;
    if (!is_global) bytes = bytes_of(dependency);
    // Its execution part would stand even so; it is left out, too, which the note tells.
    if (!is_global && bytes.empty()) {
      summary.note("a barrier on a buffer or an image without memory");
      continue;
    }
    const auto rest = std::ranges::find_if(bytes, [&](const CapturedBytes& part) {
      if (operand_count >= kOperandsMax || !writer.takes_rows(part)) return true;
      ++operand_count;
      return false;
    });
    if (rest != bytes.end()) summary.note("a barrier with more operands than one may have");
    bytes.erase(rest, bytes.end());
    // Without any it would cover all memory.
    if (!is_global && bytes.empty()) continue;
    const auto same = std::ranges::find_if(result, [&](const DependencyDraft& known) {
      return has_scopes(known, source, destination) && known.operands.empty() == is_global;
    });
    if (same == result.end() && result.size() >= kDependenciesMax) {
      summary.note("a barrier with more dependencies than one may have");
      continue;
    }
    DependencyDraft& draft = same == result.end() ? result.emplace_back() : *same;
    draft.source = source;
    draft.destination = destination;
    for (const CapturedBytes& part : bytes) {
      draft.operands.push_back(writer.operand(part, AccessMode::kRead));
    }
  }
  return result;
}

}  // namespace interlock
