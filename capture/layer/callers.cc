#include "capture/layer/callers.h"

#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "capture/log/run_records.h"

namespace interlock {
namespace {

// So many frames are kept; before them come those of the layer, of the loader and of other layers.
constexpr size_t kKeptFrames = 8;
constexpr size_t kFramesMax = 32;

struct Frames {
  std::array<uint64_t, kFramesMax> addresses;
  size_t count = 0;
};

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* to) {
  auto* const frames = static_cast<Frames*>(to);
  const uint64_t address = _Unwind_GetIP(context);
  if (address == 0 || frames->count == frames->addresses.size()) return _URC_END_OF_STACK;
  // The return address is that of the next instruction, which may belong to the next function.
  frames->addresses[frames->count++] = address - 1;
  return _URC_NO_REASON;
}

struct Module {
  ModuleRecord record;
  bool is_skipped = false;  // The layer itself, or the loader.
};

struct Search {
  uint64_t address;
  Module* found;
};

std::string path_of_program() {
  std::array<char, 4096> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : std::string("program");
}

int look_for_address(dl_phdr_info* info, size_t, void* to) {
  auto* const search = static_cast<Search*>(to);
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (search->address < begin || search->address - begin >= segment.p_memsz) continue;
    ModuleRecord& record = search->found->record;
    record.begin = begin;
    record.end = begin + segment.p_memsz;
    record.bias = info->dlpi_addr;
    record.path = *info->dlpi_name == '\0' ? path_of_program() : info->dlpi_name;
    return 1;
  }
  return 0;
}

bool is_loader(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libvulkan.so");
}

// Those that were seen, and the lock of it. Never gone, as other threads may go on until the end.
struct SeenModules {
  std::mutex mutex;
  std::vector<Module> modules;
};

SeenModules& seen_modules() {
  static SeenModules& seen = *new SeenModules;
  return seen;
}

// Whether code at this address is of the application, or of a library of it.
bool is_of_application(LogWriter& log, uint64_t address) {
  SeenModules& seen = seen_modules();
  const std::lock_guard lock(seen.mutex);
  for (const Module& module : seen.modules) {
    if (address >= module.record.begin && address < module.record.end) return !module.is_skipped;
  }
  Module found;
  Search search{address, &found};
  if (dl_iterate_phdr(look_for_address, &search) == 0) return true;  // Made while it runs.
  const auto own = reinterpret_cast<uint64_t>(&is_of_application);
  found.is_skipped =
      (own >= found.record.begin && own < found.record.end) || is_loader(found.record.path);
  if (!found.is_skipped) log.append(found.record);
  seen.modules.push_back(found);
  return !found.is_skipped;
}

}  // namespace

void append_caller(LogWriter& log, uint64_t handle) {
  Frames frames;
  _Unwind_Backtrace(take_frame, &frames);
  CallerRecord record;
  record.handle = handle;
  for (size_t i = 0; i < frames.count && record.addresses.size() < kKeptFrames; ++i) {
    if (is_of_application(log, frames.addresses[i]))
      record.addresses.push_back(frames.addresses[i]);
  }
  log.append(record);
}

}  // namespace interlock
