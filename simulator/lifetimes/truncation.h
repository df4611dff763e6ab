// Truncation: a check that was ended before it had seen everything. What it lists is true, and what
// it does not list proves nothing, so that no claim may rest on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace interlock {

enum class TruncationCause : uint8_t {
  kHazards,           // More hazards than may be listed.
  kAliases,           // More outputs against alias contracts than may be listed.
  kScopedSearch,      // Steps of the search for hazards beside scoped barriers.
  kAllPairs,          // Overlaps looked at, to list every hazardous pair.
  kLifetimeFindings,  // More wrong reads than may be listed.
  kLifetimeRuns,      // Runs of bytes with different owners, visited to follow values.
  kHolders,           // Entries in the lists of tensors that hold values by adoption.
  kGradients,         // Dispatches visited to judge gradients.
  kGraphPaths,        // Paths into which the graph queues fall.
  kGradientOrder,  // Backward passes whose statements are mixed with others in the reference run.
};

struct Truncation {
  TruncationCause cause;
  uint64_t limit = 0;  // The value that was reached.

  bool operator==(const Truncation&) const = default;
};

// Which limit was reached, its value, and what to do about it: to stand after "no verdict: ",
// without a full stop.
std::string text_of(const Truncation& truncation);

// The same of several. Requires: there is one.
std::string text_of(const std::vector<Truncation>& truncations);

}  // namespace interlock
