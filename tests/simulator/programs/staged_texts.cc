#include "tests/simulator/programs/staged_texts.h"

#include <fmt/format.h>

namespace interlock {

std::string random_staged_text(Choice& choice, uint64_t dispatch_count_max) {
  const bool has_copies = choice.chance(2, 3);
  const bool has_indirect = choice.chance(1, 3);
  const bool has_uniforms = choice.chance(1, 2);
  const bool has_atomics = choice.chance(1, 2);
  const auto range = [&](uint64_t size_max) {
    const uint64_t size = 1 + choice.below(size_max);
    const uint64_t begin = choice.below(8 - size + 1);
    return fmt::format(" m[{}:{}]", begin, begin + size);
  };
  std::string text = "interlock 1\nmemory m 8\n";
  for (uint64_t count = 2 + choice.below(dispatch_count_max - 1); count > 0; --count) {
    if (has_copies && choice.chance(1, 2)) {
      const uint64_t at = choice.below(7);
      if (choice.chance(1, 2)) {
        text += fmt::format("dispatch fill writes m[{}:{}] value=7\n", at, at + 1);
      } else {
        text += fmt::format("dispatch copy reads m[{}:{}] writes m[{}:{}]\n", at, at + 1, at + 1,
                            at + 2);
      }
      continue;
    }
    std::string clauses;
    if (has_indirect && choice.chance(1, 3)) clauses += " indirect" + range(2);
    if (has_uniforms && choice.chance(1, 3)) clauses += " uniform" + range(3);
    if (choice.chance(1, 2)) clauses += " reads" + range(3);
    if (choice.chance(1, 2)) clauses += " writes" + range(2);
    if (choice.chance(1, 6)) clauses += " updates" + range(2);
    if (has_atomics && choice.chance(1, 3)) {
      clauses += " atomics" + range(2);
      clauses += choice.chance(1, 2) ? " atomic=add" : " atomic=max";
    }
    text += "dispatch Work" + clauses + "\n";
  }
  return text;
}

}  // namespace interlock
