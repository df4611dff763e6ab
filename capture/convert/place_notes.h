// PlaceNotes: beside the commands of one command buffer, what is known of some of them; each by its
// position in the list.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/convert/captured_places.h"
#include "capture/convert/foreign_message.h"

namespace interlock {

struct NotedMessage {
  ForeignMessage message;
  std::shared_ptr<const std::string> text;
};

struct PlaceNotes {
  std::map<size_t, std::shared_ptr<const CommandOrigin>> origins;
  std::map<size_t, std::vector<NotedMessage>> messages;
  // Commands as synchronization validation counts them, from its first one: where each stands in
  // the list. Where nobody validates, none are counted.
  std::vector<size_t> sequence;
};

// Where the calls of an application come from: its files of code, and where it was when it asked
// for what comes next.
class CallerBook {
 public:
  void add_module(uint64_t begin, uint64_t end, uint64_t bias, const std::string& path);
  // Of the next command of a command buffer, or submission to a queue.
  void set(uint64_t handle, const std::vector<uint64_t>& addresses);
  void add_label(uint64_t handle, std::string_view name);
  void remove_label(uint64_t handle);
  void insert_label(uint64_t handle, std::string_view name);
  void forget_labels(uint64_t handle) { labels_.erase(handle); }

  // Of what comes now; null if nothing is known. What was set for it is used up.
  std::shared_ptr<const CommandOrigin> take(uint64_t handle);

 private:
  struct Module {
    uint64_t end = 0;
    uint64_t bias = 0;
    std::shared_ptr<const std::string> path;
  };
  struct Labels {
    std::vector<std::string> open;
    std::string inserted;
  };

  void name_caller(uint64_t address, CommandOrigin& origin) const;

  std::map<uint64_t, Module> modules_;  // By where they begin.
  std::map<uint64_t, std::vector<uint64_t>> next_;
  std::map<uint64_t, Labels> labels_;
};

}  // namespace interlock
