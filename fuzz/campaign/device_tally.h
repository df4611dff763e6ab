// What a device did in one run, counted in what it did in a campaign.
#pragma once

#include <algorithm>

#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/device_oracle.h"

namespace interlock {

// Failures apart.
inline void add(DeviceSummary& device, const DeviceReport& run, bool has_hazard) {
  device.program_count += run.ran;
  device.refused_count += run.is_refused;
  device.schedule_count += run.schedule_count;
  device.predicted_output_count += run.predicted_output_count;
  device.diverging_output_count += run.diverging_output_count;
  device.judged_dispatch_count += run.judged_dispatch_count;
  device.bound_ratio_max = std::max(device.bound_ratio_max, run.bound_ratio_max);
  if (has_hazard) {
    device.hazard_trial_count += run.overlap_trial_count;
    device.hazard_divergence_count += run.overlap_divergence_count;
    device.hazard_program_count += run.overlap_trial_count > 0;
    device.diverging_program_count += run.overlap_divergence_count > 0;
  } else {
    device.clean_trial_count += run.overlap_trial_count;
  }
}

}  // namespace interlock
