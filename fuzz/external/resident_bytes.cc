#include "fuzz/external/resident_bytes.h"

#include <unistd.h>

#include <fstream>

namespace interlock {

std::optional<uint64_t> resident_bytes_of(const std::string& statm_path) {
  std::ifstream file(statm_path);
  uint64_t size_pages = 0;
  uint64_t resident_pages = 0;
  if (!(file >> size_pages >> resident_pages)) return std::nullopt;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace interlock
