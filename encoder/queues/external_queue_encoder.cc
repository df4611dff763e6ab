#include "encoder/queues/external_queue_encoder.h"

#include <optional>
#include <utility>

#include "encoder/queues/dispatch_conflicts.h"

namespace interlock {

Result<Encoding> encode_by(const Program& program, uint32_t queue_count,
                           const QueueEncoderEntry& encoder) {
  if (encoder.external != nullptr) {
    if (auto checked = check_is_dispatches(program); !checked) return checked.error();
    return encoder.external->encode(program, queue_count);
  }
  Result<Program> encoded = encoder.encode(program, queue_count);
  if (!encoded) return encoded.error();
  return Encoding{std::move(*encoded), std::nullopt, {}};
}

}  // namespace interlock
