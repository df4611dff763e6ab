#include "capture/convert/barrier_text.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <utility>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/scopes.h"
#include "encoder/program/limits.h"

namespace interlock {
namespace {

constexpr size_t kBarrierOperandsMax = Limits().operand_count_per_barrier;
constexpr size_t kDependenciesMax = Limits().dependency_count_per_barrier;

std::vector<CapturedBytes> dependency_bytes(const CapturedDependency& dependency) {
  const DependencyFields& fields = dependency.fields;
  if (dependency.buffer != nullptr) {
    return bytes_of(*dependency.buffer, fields.offset_bytes, fields.size_bytes);
  }
  return bytes_of(*dependency.image, fields.range);
}

bool is_transfer_of_ownership(const DependencyFields& fields) {
  return fields.source_family != fields.destination_family &&
         fields.source_family != VK_QUEUE_FAMILY_IGNORED &&
         fields.destination_family != VK_QUEUE_FAMILY_IGNORED;
}

TransitionKind transition_of(const DependencyFields& fields) {
  if (fields.object == DependencyObject::kMemory) return TransitionKind::kNone;
  const bool changes_layout =
      fields.object == DependencyObject::kImage && fields.old_layout != fields.new_layout;
  if (changes_layout && fields.old_layout == VK_IMAGE_LAYOUT_UNDEFINED) {
    return TransitionKind::kDiscards;
  }
  return changes_layout || is_transfer_of_ownership(fields) ? TransitionKind::kKeeps
                                                            : TransitionKind::kNone;
}

// Scopes, kind and, if it has any, operands to come.
DependencyDraft draft_of(const DependencyFields& fields, const DependencyPlace& place) {
  DependencyDraft draft;
  draft.source = scope_of(fields.source_stages, fields.source_accesses, ScopeEnd::kFirst);
  draft.destination =
      scope_of(fields.destination_stages, fields.destination_accesses, ScopeEnd::kSecond);
  draft.transition = transition_of(fields);
  if (is_transfer_of_ownership(fields)) {
    // What the other side does is ordered by a semaphore for all stages (7.7.4): a scope that is of
    // the other side, and ignored, is where that chains.
    if (place.family == fields.source_family) draft.destination = {kAllStages, 0};
    if (place.family == fields.destination_family) draft.source = {kAllStages, 0};
  }
  return draft;
}

bool is_of_one_kind(const DependencyDraft& a, const DependencyDraft& b) {
  return a.source == b.source && a.destination == b.destination && a.transition == b.transition;
}

}  // namespace

std::vector<DependencyDraft> dependencies_of(const std::vector<CapturedDependency>& dependencies,
                                             const DependencyPlace& place, ProgramWriter& writer,
                                             CaptureSummary& summary) {
  std::vector<DependencyDraft> result;
  size_t operand_count = 0;
  for (const CapturedDependency& dependency : dependencies) {
    const DependencyFields& fields = dependency.fields;
    if (has_unknown_stages(fields.source_stages | fields.destination_stages)) {
      summary.note("a barrier of stages that are not followed");
    }
    if (has_parts_of_graphics(fields.source_stages | fields.destination_stages)) {
      summary.remark("dependencies of parts of graphics (they count as of all of it)");
    }
    DependencyDraft wanted = draft_of(fields, place);
    if (place.is_event && wanted.transition != TransitionKind::kNone) {
      summary.note("a layout transition, or a transfer of ownership, at an event");
      wanted.transition = TransitionKind::kNone;
    }
    const bool orders = wanted.source.stages != 0 && wanted.destination.stages != 0;
    if (!orders && wanted.transition == TransitionKind::kNone) continue;
    const bool is_global = fields.object == DependencyObject::kMemory;
    if (!is_global && dependency.buffer == nullptr && dependency.image == nullptr) {
      summary.note("a barrier on a buffer or an image that is not known");
      continue;
    }
    std::vector<CapturedBytes> bytes;
    if (!is_global) bytes = dependency_bytes(dependency);
    // Its execution part would stand even so; it is left out, too, which the note tells.
    if (!is_global && bytes.empty()) {
      summary.note("a barrier on a buffer or an image without memory");
      continue;
    }
    const auto rest = std::ranges::find_if(bytes, [&](const CapturedBytes& part) {
      if (operand_count >= kBarrierOperandsMax || !writer.takes_rows(part)) return true;
      ++operand_count;
      return false;
    });
    if (rest != bytes.end()) summary.note("a barrier with more operands than one may have");
    bytes.erase(rest, bytes.end());
    // Without any it would cover all memory.
    if (!is_global && bytes.empty()) continue;
    const auto same = std::ranges::find_if(result, [&](const DependencyDraft& known) {
      return is_of_one_kind(known, wanted) && known.operands.empty() == is_global;
    });
    if (same == result.end() && result.size() >= kDependenciesMax) {
      summary.note("a barrier with more dependencies than one may have");
      continue;
    }
    DependencyDraft& draft = same == result.end() ? result.emplace_back(std::move(wanted)) : *same;
    for (const CapturedBytes& part : bytes) {
      draft.operands.push_back(draft.transition == TransitionKind::kNone
                                   ? writer.named(part)
                                   : writer.operand(part, AccessMode::kRead));
    }
  }
  return result;
}

}  // namespace interlock
