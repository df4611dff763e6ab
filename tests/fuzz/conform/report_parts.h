// Parts of a report of conformance, for tests that ask for them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/conform/conform.h"

namespace interlock::conform_test {

// Those with this verdict.
inline std::vector<std::string> names_of(const ConformReport& report, ConformVerdict verdict) {
  std::vector<std::string> names;
  for (const ConformProperty& property : report.properties) {
    if (property.verdict == verdict) names.emplace_back(property.name);
  }
  return names;
}

// Requires: there is one.
inline const ConformProperty& property_of(const ConformReport& report, std::string_view name) {
  return *std::ranges::find(report.properties, name, &ConformProperty::name);
}

}  // namespace interlock::conform_test
