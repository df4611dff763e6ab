// CapturedEvents: events as `set` and `await` of the text format.
//
// The newer calls say at the set what becomes visible to whom, the older ones at each wait: so one
// set of an older call is as many sets here as there are waits for it, each with its scopes. They
// are looked for in what the submission executes after the set; that of a wait in a later
// submission is put there when the wait comes. A wait whose set is not known is taken for a
// barrier: that orders what the event does, and more. One for a set of another queue orders
// nothing: events "must not be used to insert a dependency between commands submitted to different
// queues" (Vulkan 1.3, 7.5). Nor does one for an event that the host had set when the wait was
// submitted: what it did before is before the submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/convert/command_lists.h"
#include "capture/convert/graphics_passes.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/summary.h"
#include "capture/log/queue_records.h"

namespace interlock {

// What a submission executes after a command of it.
struct RestOfSubmission {
  std::vector<std::span<const Command>>
      begun;  // Of the lists that the command is in; outermost first.
  std::span<const std::shared_ptr<const RecordedCommands>> lists;  // After those. Some are null.
};

class CapturedEvents {
 public:
  // Requires: both outlive this.
  CapturedEvents(ProgramWriter& writer, CaptureSummary& summary)
      : writer_(writer), summary_(summary) {}

  // Cost: with the older calls, the commands up to the next set or reset of the event; a step each.
  void set(const SetEventCommand& command, const PassPlace& place, const RestOfSubmission& rest);
  void reset(const ResetEventCommand& command) { forget(command.event); }
  // Of the host.
  void apply(const HostEventRecord& record);
  void destroy(uint64_t event) { forget(event); }
  void wait(const WaitEventsCommand& command, const PassPlace& place);

 private:
  // How an event was set last.
  struct Event {
    std::string queue;
    uint64_t window = 0;
    bool is_of_host = false;  // The host set it.
    // Of the newer calls: every wait is for the first one. Else each wait is for the next one. One
    // without a name orders nothing.
    bool is_for_all = false;
    std::deque<std::string> names;
    // Of the older calls: for waits to come.
    std::vector<CapturedDependency> source;
    PassPlace place;
    bool has_place = false;
    uint64_t place_in_text = 0;
    size_t set_count = 0;
  };

  void forget(uint64_t event);
  // The waits for an event in what is left, each as what becomes visible there.
  std::vector<std::vector<CapturedDependency>> waits_for(const SetEventCommand& command,
                                                         const RestOfSubmission& rest) const;
  // The set for one more wait, where the event was set.
  std::string add_set_for(const WaitEventsCommand& wait, Event& event);
  // Returns the name of the event that is set in the text; empty if nothing is ordered.
  std::string add_set(const std::vector<CapturedDependency>& dependencies, const PassPlace& place,
                      const std::string& label);
  void add_await(const std::string& name, const PassPlace& place, const std::string& label);

  ProgramWriter& writer_;
  CaptureSummary& summary_;
  std::map<uint64_t, Event> events_;
  uint64_t count_ = 0;  // In the text.
};

}  // namespace interlock
