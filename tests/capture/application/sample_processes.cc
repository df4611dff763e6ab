// What the sample application does as a process: it forks, or does not end.

#include <sys/wait.h>
#include <unistd.h>
#include <volk.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/capture/application/sample_device.h"
#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

// Both dispatches, with a barrier in between.
VkCommandBuffer record_ordered(Sample& sample) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.first);
  compute_barrier(commands);
  sample.device.dispatch(commands, sample.second);
  return commands;
}

}  // namespace

// Children are forked and end, while another thread asks for queues, which the driver answers
// without a lock and the layer logs. Each lasts 20 s at most. A child that finds the lock of the
// log taken waits for ever; that none of 20 does, of which about every fourth would, happens once
// in 300 runs.
void run_forks(Sample& sample) {
  const VkCommandBuffer commands = record_ordered(sample);
  std::atomic<bool> is_over = false;
  const auto ask = [&] {
    VkQueue queue = VK_NULL_HANDLE;
    vkGetDeviceQueue(sample.device.device(), sample.device.family(), 0, &queue);
  };
  std::thread asking([&] {
    for (int i = 0; i < 500'000 && !is_over; ++i) ask();
  });
  bool has_failed = false;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      ask();
      _exit(0);
    }
    int status = 0;
    has_failed = waitpid(child, &status, 0) != child || status != 0 || has_failed;
  }
  is_over = true;
  asking.join();
  sample.device.run(commands);
  if (has_failed) std::exit(1);
}

void run_ordered(Sample& sample) { sample.device.run(record_ordered(sample)); }

void run_barrier_and_stays(Sample& sample) {
  run_ordered(sample);
  std::this_thread::sleep_for(std::chrono::seconds(30));
}

}  // namespace interlock
