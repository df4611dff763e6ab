#include "simulator/report/hazard_end.h"

namespace interlock {

std::string_view what_host_waits_for(bool waits_for_idle) {
  return waits_for_idle ? "`host idle`" : "the signal that the host waits for";
}

Scope source_scope_of(const HazardEnd& end, FindingKind kind) {
  // No narrower scope has what a barrier does to its operands, and that is available at once.
  if (end.is_transition()) return {kDeviceStages, 0};
  if (kind == FindingKind::kWriteAfterRead) return {bit_of(end.stage), 0};
  return {bit_of(end.stage), bit_of(*write_sort_of(end.stage, end.access))};
}

Scope destination_scope_of(const HazardEnd& end, FindingKind kind) {
  if (end.is_transition()) return {kDeviceStages, 0};  // It sees what is available.
  if (kind == FindingKind::kWriteAfterRead) return {bit_of(end.stage), 0};
  return {bit_of(end.stage),
          bit_of(kind == FindingKind::kReadAfterWrite ? *read_sort_of(end.stage, end.access)
                                                      : *write_sort_of(end.stage, end.access))};
}

}  // namespace interlock
