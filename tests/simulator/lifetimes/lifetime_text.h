// Findings of lifetimes in short, as tests expect them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/lifetimes/lifetimes.h"

namespace interlock {

// "clobber B C", "use-after-free 0 C", "uninitialized C", as expect lines have it; "end" reads.
inline std::string text_of(const Program& program, const LifetimeFinding& finding) {
  const auto name = [&](AccessRef ref) {
    return ref.dispatch.is_some() ? program.reference_of(ref.dispatch) : std::string("end");
  };
  std::string text(word_of(finding.kind));
  if (finding.kind == FindingKind::kClobber) text += " " + name(finding.overwriter);
  if (finding.ended_by.is_some()) text += " " + program.reference_of(finding.ended_by);
  return text + " " + name(finding.reader);
}

inline std::vector<std::string> findings_of(const Program& program) {
  std::vector<std::string> texts;
  const LifetimeReport report = check_lifetimes(program);
  EXPECT_FALSE(report.is_truncated());
  for (const LifetimeFinding& finding : report.findings) texts.push_back(text_of(program, finding));
  return texts;
}

}  // namespace interlock
