// read_every_queue: what the whole model asks of a text, for those who read it with all its queues.
#pragma once

#include "encoder/text/parser.h"

namespace interlock {

// Lets what is parsed have several queues, the host and rows. The signals of each semaphore must
// then rise in the order of the program (signal_order.h), or the text is an error.
void read_every_queue(ParseOptions& options);

}  // namespace interlock
