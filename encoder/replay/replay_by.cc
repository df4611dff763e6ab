#include "encoder/replay/replay_by.h"

#include <optional>
#include <utility>

namespace interlock {

Result<Encoding> replay_by(const Program& program, const ReplayEntry& replay) {
  if (replay.external != nullptr) return replay.external->apply(program, "replay");
  Result<Program> replayed = replay.apply(program);
  if (!replayed) return replayed.error();
  return Encoding{std::move(*replayed), std::nullopt, {}};
}

}  // namespace interlock
