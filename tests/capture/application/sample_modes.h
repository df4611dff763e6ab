// What each mode of the sample application has, and those modes that have a file of their own.
#pragma once

#include <string_view>

#include "tests/capture/application/sample_device.h"

namespace interlock {

// In c, of a that is 5, in each mode.
inline constexpr uint32_t kSampleResult = 7;

struct Sample {
  explicit Sample(SampleWishes wishes = {}) : device(wishes) {}

  SampleDevice device;
  SampleBuffer a = device.buffer();
  SampleBuffer b = device.buffer();
  SampleBuffer c = device.buffer();
  VkDescriptorSet first = device.set(a, b);
  VkDescriptorSet second = device.set(b, c);
};

void barrier(VkCommandBuffer commands, VkPipelineStageFlags source_stage,
             VkAccessFlags source_access, VkPipelineStageFlags destination_stage,
             VkAccessFlags destination_access);
// From what dispatches write to what they read.
void compute_barrier(VkCommandBuffer commands);

// Both dispatches, with a barrier in between.
void run_ordered(Sample& sample);
// The missing barrier, with the labels of VK_EXT_debug_marker.
void run_markers(Sample& sample);
// What is chained to what a changed driver says of its families of queues; then what is ordered.
void run_family_chains(Sample& sample);
// Children are forked and end while another thread goes on.
void run_forks(Sample& sample);
// Submits nothing that is wrong, and does not end for half a minute.
void run_barrier_and_stays(Sample& sample);
// An image is cleared and copied, between three layouts. Both its barriers are needed.
void run_picture(Sample& sample);
// An image is drawn and copied; the pass has a dependency on what comes after, or none.
void run_pass(Sample& sample);
void run_unordered_pass(Sample& sample);
// The missing barrier, with debug labels.
void run_labels(Sample& sample);
// Names a buffer by the loader's function though nobody asked for the extension, as libplacebo
// does.
void run_unasked_names(Sample& sample);
// Two threads record and submit at once, each to buffers of its own, and meet at the end.
void run_threads(Sample& sample);

// The second dispatch is of a queue of another family, with a semaphore before it or without.
void run_queues(Sample& sample);
void run_unordered_queues(Sample& sample);

// The missing barrier, and the same with a barrier, of dispatches that find their buffers by
// addresses: in push constants, or in a table whose address is one.
void run_addresses(Sample& sample);
void run_ordered_addresses(Sample& sample);
void run_addresses_in_a_table(Sample& sample);
void run_ordered_table(Sample& sample);
// A set is bound, and not used until another layout was in use.
void run_set_that_stays(Sample& sample);
// The missing barrier: what is between the dispatches is memory of the host, by two imports.
void run_imports(Sample& sample);
// The same of memory that is exported as a file and imported from it.
void run_shared_file(Sample& sample);

// Calls that other modes do not make: events, newer-events, event-twice, newer, pushed,
// simultaneous, blit, resolve; with all that orders them, or without one dependency.
void run_calls(Sample& sample, std::string_view name, bool is_ordered);

// Prints what recording a command takes, and submits nothing.
void run_record(Sample& sample);
void run_record_briefly(Sample& sample);

}  // namespace interlock
