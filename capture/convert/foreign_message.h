// What a message of Khronos's synchronization validation says, as far as it is words of its own:
// "vkCmdDispatch: Hazard READ_AFTER_WRITE for …. Access info (usage: …, prior_usage: …, command:
// vkCmdDispatch, seq_no: 4, reset_no: 1)." Version 1.3.239 of it writes so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/program/finding_kind.h"

namespace interlock {

// A command as such messages name it: by its position, from 1, among those of its command buffer
// that they look at.
struct ForeignCommand {
  std::string name;            // "vkCmdDispatch".
  uint64_t sequence = 0;       // 0: it is not said.
  uint64_t commands = 0;       // The handle of its command buffer; 0: that of the other one.
  bool is_transition = false;  // What it names there is a change of layout.
};

struct ForeignMessage {
  std::optional<FindingKind> kind;
  ForeignCommand prior;
  bool is_transition = false;  // So is what the later command does.
  // Of one about a submission: the command in it.
  std::optional<ForeignCommand> recorded;
};

ForeignMessage parsed_message(std::string_view name, std::string_view text);

}  // namespace interlock
