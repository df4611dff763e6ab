// Random programs with several queues, as text: small ones, in which every sort of sync meets.
#pragma once

#include <string>

#include "simulator/schedules/choice.h"

namespace interlock {

struct RandomMachineProgramOptions {
  int dispatch_count_max = 6;
  int sync_count_max = 5;
  // The signals of a semaphore are all of one queue, or of the host, and so in order.
  bool orders_signals = true;
  // Some semaphores are binary, and the program may use them out of order.
  bool has_binary = false;
  bool is_serial = false;  // All queues are serial ones that no other joins.
};

// A text of two or three queues of any kinds, q0 among them. Most are valid programs; a few are
// not, as where the parser wants more than names and numbers that fit.
std::string random_machine_program(Choice& choice, const RandomMachineProgramOptions& options = {});

}  // namespace interlock
