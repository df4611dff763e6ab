// What is known so far of each property of an encoder: the first verdict stands, and of
// counterexamples the best one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/conform/conform.h"

namespace interlock {

// In the order of the report.
enum ConformName : size_t {
  kAnswers,
  kOrdersHazards,
  kDistances,
  kOperands,
  kCommandBuffers,
  kDeterministic,
  kNoState,
  kSurvives,
  kFewest,
  kNothingRedundant,
  kBoundedMemory,
};
inline constexpr size_t kConformNameCount = kBoundedMemory + 1;

class ConformLedger {
 public:
  // No property is judged. After a request for `stop`, which may be null, none holds any more.
  explicit ConformLedger(const Stop* stop);

  ConformProperty& of(ConformName name) { return report.properties[name]; }

  // Unless it fails, or an answer is missing, without which the rest says nothing of the property.
  void hold(ConformName name, std::string detail);

  // From here on nothing more is asked: no property that is not judged yet holds any more.
  void give_up() { is_given_up_ = true; }

  // A counterexample that a replay shows is better than one that it does not; then a smaller one.
  // Of equals the first stands.
  void fail(ConformName name, std::string detail, const Program& counterexample,
            bool replays = false);

  // Files a find where it belongs: `name` if it is a finding of an answer. `where` says of what
  // program, " at distance 17".
  void fail(ConformName name, const CampaignFind& find, const std::string& where);

  // So many answers are missing of what the property asks for.
  void miss(ConformName name, uint64_t count = 1) { missing_counts_[name] += count; }

  bool misses_some() const {
    return std::ranges::any_of(missing_counts_, [](uint64_t count) { return count > 0; });
  }

  // Gives each counterexample its text, and its file if `out_dir` is not empty.
  // Errors: a file cannot be written.
  Result<Success> write_to(const std::string& out_dir);

  ConformReport report;

 private:
  const Stop* stop_;
  bool is_given_up_ = false;
  std::array<uint64_t, kConformNameCount> missing_counts_{};
};

}  // namespace interlock
