// The encoders for several queues by name: ours first, then the models.

#include <array>

#include "encoder/program/registry.h"
#include "encoder/queues/minimal_encoders.h"
#include "encoder/queues/queue_encoder.h"

namespace interlock {
namespace {

constexpr std::array kQueueEncoders = {
    QueueEncoderEntry{"semaphores",
                      "ours: serial queues, the fewest waits that add no order to theirs", false,
                      true, &encode_semaphores},
    QueueEncoderEntry{"edges", "ours: a graph queue, the fewest edges that add no order", false,
                      false, &encode_edges},
};

}  // namespace

std::span<const QueueEncoderEntry> queue_encoder_registry() { return kQueueEncoders; }

const QueueEncoderEntry* find_queue_encoder(std::string_view name) {
  return find_entry(queue_encoder_registry(), name);
}

}  // namespace interlock
