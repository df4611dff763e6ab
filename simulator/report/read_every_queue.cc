#include "simulator/report/read_every_queue.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/order/signal_order.h"

namespace interlock {

void read_every_queue(ParseOptions& options) {
  options.reads_every_queue = true;
  options.find_fault = [](const Program& program) -> std::optional<ProgramFault> {
    const std::optional<UnorderedSignals> pair = find_unordered_signals(program);
    if (!pair) return std::nullopt;
    const std::string_view semaphore = program.name(program.semaphores[pair->semaphore.index].name);
    return ProgramFault{
        pair->higher, pair->lower,
        fmt::format("nothing orders this signal of '{}' after the one of the next lower value, so "
                    "that it is open which of them a wait is for; let it come after that one",
                    semaphore)};
  };
}

}  // namespace interlock
