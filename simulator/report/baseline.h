// Baselines: what is known of files and is committed beside them, so that a check fails for what is
// new alone: findings by their identities, and how many barriers a stream may have. JSON, one line
// a value, which merges and reviews well.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock {

inline constexpr uint64_t kBaselineBytesMax = 64ull << 20;

// How often each identity is found.
using IdentityCounts = std::map<std::string, uint64_t>;

struct Baseline {
  std::map<std::string, IdentityCounts>
      files;  // By name; those without a known finding are left out.
};

struct BarrierBudget {
  std::map<std::string, uint64_t> files;  // By name: barriers at most.
};

// Errors name `path`, the line and the column, or what stands where: the text is no such file, or
// one of a newer version, or has more than kBaselineBytesMax. Cost: n log n, of n bytes.
Result<Baseline> baseline_of(std::string_view text, std::string_view path);
Result<BarrierBudget> barrier_budget_of(std::string_view text, std::string_view path);

// What the above reads. Bytes of names that are no UTF-8 are written as \xNN, and a backslash
// before an x likewise, so that other names stay as they are. Cost: linear.
std::string text_of(const Baseline& baseline);
std::string text_of(const BarrierBudget& budget);

// What a baseline says of the findings of one file.
struct BaselineOutcome {
  std::vector<bool> is_known;     // By finding of the report.
  std::vector<bool> is_expected;  // Likewise, by a line of the file; such ones are not looked up.
  IdentityCounts found;           // Of what no line expects.
  IdentityCounts stale;           // Known more often than found.

  bool has_new() const;
  uint64_t known_count() const;
};

// Of findings with one identity the first ones are known, in the order of the report. Requires:
// `report` and `outcome` are of `program`.
BaselineOutcome judge_baseline(const Program& program, const CheckReport& report,
                               const ExpectationOutcome& outcome, const IdentityCounts& known);

// As verdict_of() of expectations.h, where findings that are known do not count.
Verdict verdict_of(const Program& program, const CheckReport& report,
                   const ExpectationOutcome& outcome, const BaselineOutcome& baseline);

}  // namespace interlock
