// The least that a user of the installed package writes.

#include <cstdio>

#include "encoder/program/range.h"

int main() {
  const interlock::ByteRange written{0, 64};
  const interlock::ByteRange read{32, 96};
  if (!interlock::share_a_byte(written, read)) return 1;
  std::printf("The ranges share %u bytes.\n",
              static_cast<unsigned>(interlock::intersection(written, read).size_bytes()));
  return 0;
}
