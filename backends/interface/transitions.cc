#include "backends/interface/transitions.h"

#include <algorithm>

namespace interlock {

std::optional<Error> transition_refusal(const Program& program) {
  const bool has_any = std::ranges::any_of(program.dispatches, &Dispatch::is_transition);
  if (!has_any) return std::nullopt;
  return Error{
      "A barrier of the program transitions or discards its operands, which this backend does not "
      "execute; the cpu backend does.",
      ErrorKind::kRefused};
}

}  // namespace interlock
