// A worker process on the CPU backend that has the fault of a bad driver: `faulty_worker FAULT N`
// has it at its Nth run, and every N runs if it survives.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "backends/remote/serve.h"
#include "encoder/kernel_table.h"

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
  Capabilities capabilities() const override { return cpu_.capabilities(); }

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
    const bool is_overlap = mode == ExecutionMode::kOverlap;
    auto image = cpu_.run(program, is_overlap ? issue_order_schedule(program) : schedule,
                          ExecutionMode::kWitness);
    if (is_turn && fault_ == "scale" && image) break_scale(program, *image);
    if (is_turn && fault_ == "overlap" && image && is_overlap) image->memories[0][0] ^= 1;
    return image;
  }

 private:
  // The first byte that each `scale` writes is wrong.
  static void break_scale(const Program& program, MemoryImage& image) {
    for (const Dispatch& dispatch : program.dispatches) {
      if (kernel_entry(dispatch.kernel).name != "scale") continue;
      const Access& output = program.accesses_of(dispatch).back();
      if (!output.range.is_empty()) image.memories[output.memory.index][output.range.begin] ^= 1;
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
