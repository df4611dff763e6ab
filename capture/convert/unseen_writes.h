// UnseenWrites: what devices wrote and the host need not see, while a program is cut into windows.
//
// Where the host has waited for all that was submitted, every later submission sees it, and the
// host itself does not: it sees what a dependency showed it that names its accesses (Vulkan 1.3,
// 7.1, 7.9 and 7.10). So what a window wrote is kept here until such a dependency comes, and
// stands once more at the beginning of a later window in which the host touches it, with its label
// and a full wait of its own. Whether a dependency of the window itself showed it is known where
// both are on one queue, and the dependency names its stage and its write; else it is in doubt, and
// so is what the barriers of layouts write. What is in doubt is told of where the host touches it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/range.h"

namespace interlock {

class UnseenWrites {
 public:
  // Memories that the host can touch, by their names in the program, until they are freed. What
  // devices write elsewhere is not kept.
  void add_memory(const std::string& name) { memories_.insert(name); }
  void remove_memory(const std::string& name);

  // The next statement of the program. Others than dispatches, barriers, events and accesses of the
  // host tell nothing. Cost: the pieces of its memories; of all memories for a dependency without
  // operands that names the host.
  void add(const ItemDraft& item);

  // What the host touched in this window of what earlier ones wrote: dispatches that write it, in
  // their order, each to be waited for by the host before the next statement.
  std::vector<DispatchDraft> take_touched();
  // Whether the host touched in this window what is in doubt.
  bool take_doubt() { return std::exchange(has_doubt_, false); }
  // How many pieces were looked at since this was last asked.
  uint64_t take_steps() { return std::exchange(step_count_, 0); }

  // After a full wait, and after the two above: what was shown in the window is seen from here on.
  void begin_window();

 private:
  struct Writer {
    uint64_t number = 0;
    uint64_t window = 0;
    DispatchDraft dispatch;  // Without operands.
  };
  // What dependencies of a window do: for the host once it has waited for them, and what they do
  // until then, the window itself tells.
  enum class Sight : uint8_t { kSame, kInDoubt, kShown };
  // Bytes of one place of one memory that were written, by whom last.
  struct Piece {
    uint64_t end = 0;
    std::shared_ptr<const Writer> writer;
    bool is_doubtful = false;   // In this window.
    Sight next = Sight::kSame;  // In the next one.
  };
  // Approximate writers are apart: they need not hide what others wrote.
  struct PlaceKey {
    std::string memory;
    std::string queue;
    Stage stage = Stage::kCompute;
    bool is_approximate = false;
    auto operator<=>(const PlaceKey&) const = default;
  };
  using Pieces = std::map<uint64_t, Piece>;  // By where they begin; apart from each other.

  void add_dispatch(const DispatchDraft& dispatch);
  void add_dependencies(const std::vector<DependencyDraft>& dependencies, const std::string& queue,
                        bool is_event);
  void touch(const HostAccessDraft& access);

  // The dependency shows these bytes to the host.
  void show(const DependencyDraft& dependency, const std::string& queue, bool is_event,
            const PlaceKey& key, Pieces& pieces, ByteRange bytes);
  void write(const PlaceKey& key, ByteRange bytes, const std::shared_ptr<const Writer>& writer,
             Sight next = Sight::kSame);
  // Cuts pieces at both ends of the range, and returns those within it.
  std::pair<Pieces::iterator, Pieces::iterator> cut(Pieces& pieces, ByteRange bytes);
  // There are too many pieces: of these memories all is in doubt.
  void lose_pieces();

  std::set<std::string> memories_;
  std::set<std::string> lost_;  // Of memories.
  std::map<PlaceKey, Pieces> pieces_;
  uint64_t piece_count_ = 0;
  uint64_t writer_count_ = 0;
  uint64_t window_ = 1;
  uint64_t step_count_ = 0;
  bool has_doubt_ = false;
  struct Touched {
    DispatchDraft dispatch;
    std::map<std::pair<std::string, uint64_t>, uint64_t> ranges;  // Memory and begin; the end.
  };
  std::map<uint64_t, Touched> touched_;  // By the number of the writer.
};

}  // namespace interlock
