// The only source that compiles all bodies for the CPU's fast path.
#include "backends/cpu/kernel_bodies.h"

#include <vector>

#include "backends/kernels/all_kernels.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

template <class Kernel>
void run_slice(CpuMemory& memory, const KernelParams& params, uint64_t slice) {
  const SingleLane lane{};
  Kernel::run(lane, memory, params, slice);
}

std::vector<CpuBody> make_bodies() {
  std::vector<CpuBody> bodies(kernel_table().size());
  for_each_kernel([&]<class Kernel>(std::string_view name) {
    bodies[find_kernel(name).value().index] = run_slice<Kernel>;
  });
  for (const CpuBody body : bodies) INTERLOCK_CHECK(body != nullptr);
  return bodies;
}

}  // namespace

std::span<const CpuBody> cpu_bodies() {
  static const std::vector<CpuBody> bodies = make_bodies();
  return bodies;
}

}  // namespace interlock
