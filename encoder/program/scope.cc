#include "encoder/program/scope.h"

#include <iterator>

#include "encoder/program/check.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

// By Stage.
constexpr std::string_view kStageWords[] = {"compute", "copy", "indirect", "host"};
static_assert(std::size(kStageWords) == kStageCount);

struct AccessWord {
  StageAccess access;
  Stage stage;
  std::string_view word;  // After the dot.
};

// In the order of StageAccess.
constexpr AccessWord kAccessWords[] = {{StageAccess::kComputeRead, Stage::kCompute, "read"},
                                       {StageAccess::kComputeWrite, Stage::kCompute, "write"},
                                       {StageAccess::kComputeUniform, Stage::kCompute, "uniform"},
                                       {StageAccess::kCopyRead, Stage::kCopy, "read"},
                                       {StageAccess::kCopyWrite, Stage::kCopy, "write"},
                                       {StageAccess::kIndirectRead, Stage::kIndirect, "read"},
                                       {StageAccess::kHostRead, Stage::kHost, "read"},
                                       {StageAccess::kHostWrite, Stage::kHost, "write"}};
static_assert(std::size(kAccessWords) == kStageAccessCount);

constexpr std::string_view kAll = "all";

// The accesses that `all.WORD` names; none if no stage has such an access.
AccessMask accesses_of_all_stages(std::string_view word) {
  AccessMask accesses = 0;
  for (const AccessWord& candidate : kAccessWords) {
    const bool is_a_read = candidate.word == "read" || candidate.word == "uniform";
    if (candidate.word == word || (word == "read" && is_a_read)) {
      accesses |= bit_of(candidate.access);
    }
  }
  return accesses;
}

void append_word(std::string& text, std::string_view stage, std::string_view access) {
  if (!text.empty()) text += '|';
  text += stage;
  if (access.empty()) return;
  text += '.';
  text += access;
}

}  // namespace

Stage stage_of(StageAccess access) { return kAccessWords[static_cast<size_t>(access)].stage; }

std::optional<Scope> scope_of(std::string_view word) {
  const size_t dot = word.find('.');
  const std::string_view stage = word.substr(0, dot);
  const bool has_access = dot != std::string_view::npos;
  const std::string_view access = has_access ? word.substr(dot + 1) : std::string_view();
  if (stage == kAll) {
    if (!has_access) return Scope{kAllStages, 0};
    const AccessMask accesses = accesses_of_all_stages(access);
    return accesses == 0 ? std::nullopt : std::optional(Scope{kAllStages, accesses});
  }
  const auto known = position_in<Stage>(kStageWords, stage);
  if (!known) return std::nullopt;
  if (!has_access) return Scope{bit_of(*known), 0};
  for (const AccessWord& candidate : kAccessWords) {
    if (candidate.stage == *known && candidate.word == access) {
      return Scope{bit_of(*known), bit_of(candidate.access)};
    }
  }
  return std::nullopt;
}

bool names_a_stage(std::string_view word) {
  const std::string_view stage = word.substr(0, word.find('.'));
  return stage == kAll || is_one_of(kStageWords, stage);
}

std::string text_of(Scope scope) {
  INTERLOCK_CHECK(scope.stages != 0);
  std::string text;
  StageMask stages = scope.stages;
  AccessMask accesses = scope.accesses;
  if (stages == kAllStages) {
    for (const std::string_view word : {"read", "write"}) {
      const AccessMask whole = accesses_of_all_stages(word);
      if ((accesses & whole) != whole) continue;
      append_word(text, kAll, word);
      accesses &= static_cast<AccessMask>(~whole);
    }
    if (text.empty()) append_word(text, kAll, "");
    stages = 0;
  }
  for (const Stage stage : kStages) {
    const std::string_view word = word_in(kStageWords, stage);
    bool is_named = false;
    for (const AccessWord& candidate : kAccessWords) {
      if (candidate.stage != stage || (accesses & bit_of(candidate.access)) == 0) continue;
      append_word(text, word, candidate.word);
      is_named = true;
    }
    if (!is_named && (stages & bit_of(stage)) != 0) append_word(text, word, "");
  }
  return text;
}

std::string text_of(Stage stage) { return text_of(Scope{bit_of(stage), 0}); }

std::string text_of(StageAccess access) {
  return text_of(Scope{bit_of(stage_of(access)), bit_of(access)});
}

}  // namespace interlock
