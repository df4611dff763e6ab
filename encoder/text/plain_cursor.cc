#include "encoder/text/plain_cursor.h"

namespace interlock {

// Without a branch per byte: lines have none.
bool has_control_byte(std::string_view text) {
  bool has_one = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    has_one |= (byte < 0x20 && c != '\t') || byte == 0x7f;
  }
  return has_one;
}

}  // namespace interlock
