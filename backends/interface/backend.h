// Backend: executes schedules on real memory. witness mode is deterministic and legal, hence a
// difference from the reference is a real bug; overlap mode is what a device does by itself.
//
// This folder has what every backend is built of and no device knows: the interface, the bytes
// before a run (image.h), the params of a dispatch, staging of late writes, poison and guards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/interface/image.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

enum class ExecutionMode : uint8_t {
  kWitness,  // The steps of the schedule one after another, each ordered and visible to the next.
  kOverlap,  // The program's own sync and no more.
};

struct Availability {
  bool is_available = false;
  std::string reason;  // Why not; or the device, for a report.
};

// What a run may use of the device. 0 where a backend knows no limit.
struct Capabilities {
  std::string device;        // Its name, and the driver's name and version.
  uint32_t queue_count = 0;  // That overlap mode spreads dispatches over; 0 without that mode.
  uint32_t device_queue_count = 0;   // Of its own: those of a program with several share them.
  bool imports_host_memory = false;  // Several devices can share host memory.
  bool has_byte_access = false;      // Operands may start and end at any byte.
  // Divides and takes roots correctly rounded, and keeps subnormals, infinities and NaNs: then f32
  // kernels have the bits of the CPU.
  bool rounds_correctly = false;
  uint64_t extent_max = 0;         // Rows, columns and contracted extents of a table kernel.
  uint64_t operand_bytes_max = 0;  // Of a table kernel; mix has no limit.
  uint32_t binding_count_max = 0;  // Operands of a dispatch of mix that stays one launch.
  uint64_t mix_bytes_max = 0;      // Bytes of a dispatch of mix that stays one launch.
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Availability availability() const = 0;
  virtual bool supports(ExecutionMode mode) const = 0;

  // Requires: available, or it was: a device that is lost had them.
  virtual Capabilities capabilities() const = 0;

  // Returns the final bytes. The schedule of the reference order is the reference on this backend.
  // Requires: supports(mode); `schedule` runs every slice once and commits whatever it runs late.
  // Backends do not check that it is legal: the program order of an `order=` program (reference.h)
  // may break issue order's dependencies, and witness mode executes it all the same.
  // Errors: the program's memories exceed the execution limit; the device failed. Of kind kRefused:
  // the device lacks what the program needs. Of kind kFault: a kernel or the driver is wrong, since
  // a guard, validation or the emulation of a device says so.
  virtual Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                                  ExecutionMode mode) = 0;

  // The names of the ways in which overlap mode can issue a program, the usual one first. None:
  // there is one way, and it has no name.
  virtual std::vector<std::string_view> lowerings() const { return {}; }

  // Returns a backend of the same name and device whose overlap mode issues programs in this way;
  // null if there is no such way. The backends do not run at the same time.
  virtual std::unique_ptr<Backend> with_lowering(std::string_view) const { return nullptr; }
};

}  // namespace interlock
