// Matchers for GoogleTest: what a unit test of a command encoder claims about its barriers.
//
//     TEST(MyEncoder, OrdersEveryHazard) {
//       EXPECT_THAT(encode_with(MyEncoder(), kLayerNormVjp),
//                   AllOf(IsHazardFree(), HasFewestBarriers()));
//     }
//
// They match a Program or the text of one. A failure shows what `interlock check` prints.
// docs/testing.md has the rest.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/finding_kind.h"
#include "fuzz/testing/judgements.h"
#include "fuzz/testing/programs.h"
#include "fuzz/testing/sample_programs.h"

namespace interlock {

// A matcher of programs and of their texts, made of a judge and its words. Behind every matcher
// below; also for claims of your own.
class ProgramMatcher {
 public:
  using Judge = std::function<Result<Judgement>(const Program&)>;

  ProgramMatcher(Judge judge, std::string claim, std::string denial)
      : judge_(std::move(judge)), claim_(std::move(claim)), denial_(std::move(denial)) {}

  bool MatchAndExplain(const Program& program, ::testing::MatchResultListener* listener) const {
    const Result<Judgement> judgement = judge_(program);
    if (!judgement) return fail(judgement.error());
    *listener << judgement->reason;
    return judgement->holds;
  }
  bool MatchAndExplain(std::string_view text, ::testing::MatchResultListener* listener) const {
    const Result<Program> program = parse_body(text);
    return program ? MatchAndExplain(*program, listener) : fail(program.error());
  }
  void DescribeTo(std::ostream* out) const { *out << claim_; }
  void DescribeNegationTo(std::ostream* out) const { *out << denial_; }

 private:
  // Fails the test whether or not the claim is negated: with a misspelt name it is about nothing.
  static bool fail(const Error& error) {
    ADD_FAILURE() << error.message;
    return false;
  }

  Judge judge_;
  std::string claim_;
  std::string denial_;
};

using PolymorphicProgramMatcher = ::testing::PolymorphicMatcher<ProgramMatcher>;

inline PolymorphicProgramMatcher matches_if(ProgramMatcher::Judge judge, std::string claim,
                                            std::string denial) {
  return ::testing::MakePolymorphicMatcher(
      ProgramMatcher(std::move(judge), std::move(claim), std::move(denial)));
}

// `interlock check` finds nothing: no hazard, no reordered read, no illegal alias, no undeclared
// access, no clobbered, freed or uninitialized value that is read, no deadlock, and no wrong
// gradient.
inline PolymorphicProgramMatcher IsHazardFree() {
  return matches_if(judge_hazard_free, "is hazard free", "has a finding");
}

// A dispatch as text names it: by label, or by its index among the dispatches.
class DispatchReference {
 public:
  DispatchReference(const char* label) : text_(label) {}             // NOLINT
  DispatchReference(std::string label) : text_(std::move(label)) {}  // NOLINT
  DispatchReference(int index) : text_(std::to_string(index)) {}     // NOLINT

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// There is a finding of this kind between the two, the earlier one in issue order first; with
// several queues, in the order of the reference run. What the host does is named by its label.
inline PolymorphicProgramMatcher HasHazard(FindingKind kind, const DispatchReference& first,
                                           const DispatchReference& second) {
  const std::string words = std::string(word_of(kind)) + (is_hazard(kind) ? " hazard" : "") +
                            " between " + first.text() + " and " + second.text();
  return matches_if(
      [kind, first, second](const Program& program) {
        return judge_hazard(program, kind, first.text(), second.text());
      },
      "has the " + words, "does not have the " + words);
}

// The same by word, with the two as `first` and `second` of a finding in docs/json.md; where there
// is no second, the first twice: "RAW", "WAR", "WAW", "reordered", "clobber", "uninitialized",
// "use-after-free", "alias", "undeclared", "gradient". The words of what is between no dispatches,
// "deadlock" and "redundant", and of what no check sees, "divergence", fail the test with the
// matcher or command that is for it.
inline PolymorphicProgramMatcher HasHazard(std::string_view word, const DispatchReference& first,
                                           const DispatchReference& second) {
  if (const std::optional<FindingKind> kind = finding_kind_of(word)) {
    return HasHazard(*kind, first, second);
  }
  const std::string kind = "kind '" + std::string(word) + "'";
  return matches_if([kind](const Program&) { return Error{"No finding is of " + kind + "."}; },
                    "has a finding of " + kind, "has no finding of " + kind);
}

// Some statements wait for each other: HasDeadlock(), or those that wait in the shortest cycle, by
// label, the first of the text first: HasDeadlock("first", "second").
template <typename... Labels>
PolymorphicProgramMatcher HasDeadlock(const Labels&... labels) {
  const std::vector<std::string> waiting = {std::string(labels)...};
  std::string words = "deadlock";
  for (const std::string& label : waiting) words += (&label == &waiting[0] ? " of " : ", ") + label;
  return matches_if([waiting](const Program& program) { return judge_deadlock(program, waiting); },
                    "has a " + words, "does not have a " + words);
}

// The number of what `count_of` counts matches.
inline PolymorphicProgramMatcher HasCount(const std::string& nouns,
                                          std::function<size_t(const Program&)> count_of,
                                          const ::testing::Matcher<size_t>& count) {
  const std::string claim = "has a number of " + nouns + " that ";
  return matches_if(
      [count_of = std::move(count_of), count](const Program& program) {
        const size_t found = count_of(program);
        return Judgement{count.Matches(found), "which has " + std::to_string(found)};
      },
      claim + ::testing::DescribeMatcher<size_t>(count),
      claim + ::testing::DescribeMatcher<size_t>(count, true));
}

// The number of barriers matches: HasBarrierCount(2), HasBarrierCount(Le(10)).
inline PolymorphicProgramMatcher HasBarrierCount(const ::testing::Matcher<size_t>& count) {
  return HasCount(
      "barriers", [](const Program& program) { return program.barriers.size(); }, count);
}

// The number of waits of queues for semaphores, not those of the host.
inline PolymorphicProgramMatcher HasWaitCount(const ::testing::Matcher<size_t>& count) {
  const auto waits_of = [](const Program& program) {
    return static_cast<size_t>(
        std::count_if(program.syncs.begin(), program.syncs.end(),
                      [](const SyncStep& step) { return step.kind == SyncKind::kWait; }));
  };
  return HasCount("waits", waits_of, count);
}

// The number of edges of graph queues.
inline PolymorphicProgramMatcher HasEdgeCount(const ::testing::Matcher<size_t>& count) {
  return HasCount(
      "edges", [](const Program& program) { return program.edges.size(); }, count);
}

// Exactly as many barriers as the conflicts need in this order: the proven minimum. To be
// used with IsHazardFree(): the fewest barriers in wrong places order nothing. Those after the last
// dispatch are for what comes after the program, and do not count.
inline PolymorphicProgramMatcher HasFewestBarriers() {
  return matches_if(judge_fewest_barriers, "has the fewest barriers",
                    "does not have the fewest barriers");
}

// No barrier, wait, event, edge or other piece of sync can go without adding a finding, but for
// what stands after the last dispatch of its queue.
inline PolymorphicProgramMatcher HasNoUselessSync() {
  return matches_if(judge_no_useless_sync, "has no useless sync", "has useless sync");
}

// The program as the registered encoder encodes it matches; on `queue_count` queues at most, if it
// is one for several. 0: as the program says, or as the encoder chooses.
inline PolymorphicProgramMatcher EncodedBy(std::string encoder_name,
                                           const ::testing::Matcher<const Program&>& inner,
                                           uint32_t queue_count = 0) {
  const std::string words = "encoded by " + encoder_name + " ";
  std::string claim = words + ::testing::DescribeMatcher<const Program&>(inner);
  std::string denial = words + ::testing::DescribeMatcher<const Program&>(inner, true);
  return matches_if(
      [encoder_name = std::move(encoder_name), inner,
       queue_count](const Program& program) -> Result<Judgement> {
        const Result<Program> encoded = encode_checked(program, encoder_name, queue_count);
        if (!encoded) return encoded.error();
        ::testing::StringMatchResultListener listener;
        const bool holds = inner.MatchAndExplain(*encoded, &listener);
        return Judgement{holds, "encoded " + listener.str()};
      },
      claim, denial);
}

}  // namespace interlock
