// ExactIndex: what dispatches touched, as records of the log tell that come after what they are
// about. The basic idea is to pass over the rest of a log once, to keep where each of these records
// stands, and to read one when it is asked for.
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
  // `name` is that of the file. Requires: `log` outlives this.
  ExactIndex(std::istream& log, std::string name) : log_(log), name_(std::move(name)) {}

  // Looks through the records from where the log stands, and leaves it there; once. What cannot be
  // read is not found later, and whoever reads the log comes to it.
  void scan();

  // None if the log does not say: the submission was not known to be complete when it ended; and if
  // it says so twice, as of what two devices did nobody knows which is meant. Cost: size_of()
  // bytes.
  std::optional<ExactAccessesRecord> find(uint64_t submission, uint64_t slot);

  // How many bytes of the log find() reads for it; 0 if it finds nothing.
  uint64_t size_of(uint64_t submission, uint64_t slot) const;

 private:
  struct Place {
    std::streamoff begin = 0;
    uint64_t size_bytes = 0;
    bool is_unique = true;
  };

  const Place* find_place(uint64_t submission, uint64_t slot) const;

  std::istream& log_;
  std::string name_;
  bool is_scanned_ = false;
  std::map<std::pair<uint64_t, uint64_t>, Place> places_;
};

}  // namespace interlock
