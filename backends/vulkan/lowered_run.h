// LoweredRun: what a run makes of its program, and its bytes on their way to the device and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "backends/interface/device_layout.h"
#include "backends/interface/host_statements.h"
#include "backends/vulkan/command_list.h"
#include "encoder/program/result.h"

namespace interlock {

struct LoweredRun {
  explicit LoweredRun(const Program& program) : layout(program), host(program) {}

  // Writes the memories with their guards, and zeros after them.
  void store(const MemoryImage& image, uint8_t* arena) const {
    layout.store(image, arena);
    std::fill(arena + layout.memories_end_bytes(), arena + layout.size_bytes(), uint8_t{0});
    host.store(arena);
  }

  // Reads the memories back. Errors: the device wrote outside of them.
  Result<Success> load(const uint8_t* arena, MemoryImage& image) const {
    if (const std::optional<StrayWrite> stray = layout.find_stray_write(arena)) {
      return Error{
          stray->is_before
              ? fmt::format("The device wrote bytes before memory '{}'.", stray->memory)
              : fmt::format(
                    "The device wrote bytes past memory '{}', which has {} bytes: a shader or a driver is wrong.",
                    stray->memory, stray->size_bytes),
          ErrorKind::kFault};
    }
    image = layout.load(arena);
    image.host_reads = host.load(arena);
    return Success{};
  }

  // What the host reads when the run is over: from the start of the allocation on.
  uint64_t download_bytes() const {
    return std::max(layout.memories_end_bytes(), host.reads_end_bytes());
  }

  DeviceLayout layout;
  CommandList list;
  HostCopies host;
};

}  // namespace interlock
