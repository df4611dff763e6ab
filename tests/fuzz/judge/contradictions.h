// Contradictions: what the verdicts on a random tiny program of several queues, or of the host, and
// second methods that share nothing with them say of each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace interlock {

struct Contradiction {
  std::string method;   // The second method, in a word or two: "chains", "all executions".
  std::string message;  // What the two say: a complete sentence.
  std::string program;  // Its text.
};

// Draws program `number` of a seed and compares what is said of it; none where all agree, as they
// do unless there is a fault in one of them. Programs of eight sorts take turns, by `number`: those
// of campaigns, those with much sync, with stages, with destroys, with signals in any order, with a
// host and its cache, those that are stuck, and those that are so small that all their executions
// are tried.
// Cost: about a millisecond or two.
std::optional<Contradiction> find_contradiction(uint64_t seed, uint64_t number);

// The same of the machine of counters alone, beside the host and its cache: whether it can reverse
// what the clocks call a hazard, and nothing else. Other programs than those.
std::optional<Contradiction> find_contradiction_by_machine(uint64_t seed, uint64_t number);

}  // namespace interlock
