// A worker process on the CPU backend that has the fault of a bad driver: `faulty_worker FAULT N`
// has it at its Nth run, and every N runs if it survives.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/remote/serve.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

class FaultyBackend final : public Backend {
 public:
  FaultyBackend(std::string fault, int period) : fault_(std::move(fault)), period_(period) {}

  std::string_view name() const override { return "faulty"; }
  Availability availability() const override {
    return is_lost_ ? Availability{false, "The device was lost."} : cpu_.availability();
  }
  bool supports(ExecutionMode) const override { return true; }
  Capabilities capabilities() const override {
    Capabilities capabilities = cpu_.capabilities();
    capabilities.rounds_correctly = fault_ != "sloppy" && fault_ != "schedule";
    return capabilities;
  }

  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override {
    const bool is_turn = ++run_count_ % period_ == 0;
    if (is_turn && fault_ == "crash") raise(SIGSEGV);
    if (is_turn && fault_ == "exit") std::exit(7);
    if (is_turn && fault_ == "interrupt") kill(getppid(), SIGINT);
    if (is_turn && (fault_ == "hang" || fault_ == "interrupt")) pause();
    if (is_turn && fault_ == "print") std::puts("a driver says hello");
    if (is_turn && fault_ == "lose") {
      is_lost_ = true;
      return Error{"The device was lost."};
    }
    if (is_turn && fault_ == "stray") {
      return Error{"A kernel wrote bytes around memory 'a'.", ErrorKind::kFault};
    }
    if (is_turn && fault_ == "refuse") {
      return Error{"An operand is too large.", ErrorKind::kRefused};
    }
    const bool is_overlap = mode == ExecutionMode::kOverlap;
    auto image = cpu_.run(program, is_overlap ? reference_order_schedule(program) : schedule,
                          ExecutionMode::kWitness);
    const bool is_displaced = !(schedule == reference_order_schedule(program));
    if (is_turn && fault_ == "schedule" && image && is_displaced) break_all(*image);
    if (is_turn && (fault_ == "scale" || fault_ == "sloppy") && image) break_scale(program, *image);
    if (is_turn && fault_ == "overlap" && image && is_overlap) break_all(*image);
    return image;
  }

 private:
  static void break_all(MemoryImage& image) {
    for (std::vector<uint8_t>& memory : image.memories) {
      for (uint8_t& byte : memory) byte ^= 1;
    }
  }

  // The third byte that each `scale` writes is wrong, far beyond rounding.
  static void break_scale(const Program& program, MemoryImage& image) {
    for (const Dispatch& dispatch : program.dispatches) {
      if (kernel_entry(dispatch.kernel).name != "scale") continue;
      const Access& output = program.accesses_of(dispatch).back();
      if (!output.range.is_empty())
        image.memories[output.memory.index][output.range.begin + 2] ^= 1;
    }
  }

  std::string fault_;
  int period_;
  int run_count_ = 0;
  bool is_lost_ = false;
  CpuBackend cpu_;
};

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (std::string(argv[1]) == "absent") return 0;
  signal(SIGSEGV, SIG_DFL);  // A sanitizer would say more than is asked.
  interlock::FaultyBackend backend(argv[1], std::atoi(argv[2]));
  interlock::serve_as_worker(backend);
  return 0;
}
