#include "encoder/program/check.h"

#include <cstdio>
#include <cstdlib>

namespace interlock {

void fail_check(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold. Please report this as a bug.\n",
               file, line, condition);
  std::abort();
}

}  // namespace interlock
