// ExactIndex: what dispatches touched, as records of the log tell that come after what they are
// about. The basic idea is to look ahead of whoever reads the log, by so many bytes at most, to
// keep where each of these records stands until it is passed, and to read one when it is asked for.
// So what is kept does not grow with the log.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "capture/log/exact_records.h"

namespace interlock {

class ExactIndex {
 public:
  // How far it looks ahead, and half of that at least. An application learns that a submission is
  // complete before it has logged so much more.
  static constexpr uint64_t kAheadBytes = uint64_t{128} << 20;

  // `name` is that of the file. Requires: `log` outlives this.
  ExactIndex(std::istream& log, std::string name, uint64_t ahead_bytes = kAheadBytes)
      : log_(log), name_(std::move(name)), ahead_bytes_(ahead_bytes) {}

  // Before this nothing is found: the log has such records.
  void begin() { is_begun_ = true; }

  // Looks through the records after where the log stands, and leaves it there. What cannot be read
  // is not found later, and whoever reads the log comes to it. Cost: over all calls, that of
  // reading the log once.
  void look_ahead();

  // None if the log does not say, as far as it was looked through: the submission was not known to
  // be complete when it ended; and if it says so twice, as of what two devices did nobody knows
  // which is meant. Cost: size_of() bytes.
  std::optional<ExactAccessesRecord> find(uint64_t submission, uint64_t slot);

  // How many bytes of the log find() reads for it; 0 if it finds nothing.
  uint64_t size_of(uint64_t submission, uint64_t slot) const;

  // Of how many executions it knows the record.
  size_t size() const { return places_.size(); }

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // Of a submission and a slot.
  struct Place {
    std::streamoff begin = 0;
    uint64_t size_bytes = 0;
    bool is_unique = true;
  };

  void forget_before(std::streamoff here);
  const Place* find_place(uint64_t submission, uint64_t slot) const;

  std::istream& log_;
  std::string name_;
  uint64_t ahead_bytes_;
  bool is_begun_ = false;
  bool is_at_end_ = false;        // Of what can be read.
  std::streamoff looked_to_ = 0;  // A record begins there.
  std::map<Key, Place> places_;
  std::map<std::streamoff, Key> in_order_;  // The same, by where they stand.
};

}  // namespace interlock
