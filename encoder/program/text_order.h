// TextOrder: where the statements of a program stood in the text, if it has them in another order.
#pragma once

#include <cstdint>
#include <vector>

namespace interlock {

struct TextOrder {
  uint32_t text_size = 0;                  // Statements of the text.
  std::vector<uint32_t> statements;        // By statement: its position in the text.
  std::vector<uint32_t> dispatch_numbers;  // By dispatch: as Program::number_of(); of the host: 0.
  std::vector<uint32_t> barriers;          // By barrier: its position among those of the text.
  std::vector<uint32_t> lifetimes;         // By lifetime statement, likewise.
};

}  // namespace interlock
