#include "encoder/program/scope.h"

#include <iterator>

#include "encoder/program/check.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

// By Stage.
constexpr std::string_view kStageWords[] = {"compute",  "copy",       "indirect",
                                            "graphics", "transition", "host"};
static_assert(std::size(kStageWords) == kStageCount);

struct AccessWord {
  StageAccess access;
  Stage stage;
  std::string_view word;  // After the dot.
};

// In the order of StageAccess.
constexpr AccessWord kAccessWords[] = {
    {StageAccess::kComputeRead, Stage::kCompute, "read"},
    {StageAccess::kComputeWrite, Stage::kCompute, "write"},
    {StageAccess::kComputeUniform, Stage::kCompute, "uniform"},
    {StageAccess::kCopyRead, Stage::kCopy, "read"},
    {StageAccess::kCopyWrite, Stage::kCopy, "write"},
    {StageAccess::kIndirectRead, Stage::kIndirect, "read"},
    {StageAccess::kGraphicsRead, Stage::kGraphics, "read"},
    {StageAccess::kGraphicsWrite, Stage::kGraphics, "write"},
    {StageAccess::kGraphicsUniform, Stage::kGraphics, "uniform"},
    {StageAccess::kHostRead, Stage::kHost, "read"},
    {StageAccess::kHostWrite, Stage::kHost, "write"},
    {StageAccess::kTransitionRead, Stage::kTransition, "read"},
    {StageAccess::kTransitionWrite, Stage::kTransition, "write"}};
static_assert(std::size(kAccessWords) == kStageAccessCount);

constexpr std::string_view kAllWord = "all";
constexpr std::string_view kDeviceWord = "device";  // `all` but the host.
constexpr std::string_view kNoneWord = "none";

// The accesses that `all.WORD` or `device.WORD` names; none if no stage has such an access.
AccessMask accesses_of_stages(StageMask stages, std::string_view word) {
  AccessMask accesses = 0;
  for (const AccessWord& candidate : kAccessWords) {
    if (is_of_transition(candidate.access) || (stages & bit_of(candidate.stage)) == 0) continue;
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
  if (word == kNoneWord) return Scope{};
  if (stage == kAllWord || stage == kDeviceWord) {
    const StageMask stages = stage == kAllWord ? kAllStages : kDeviceStages;
    if (!has_access) return Scope{stages, 0};
    const AccessMask accesses = accesses_of_stages(stages, access);
    return accesses == 0 ? std::nullopt : std::optional(Scope{stages, accesses});
  }
  const auto known = position_in<Stage>(kStageWords, stage);
  if (!known || *known == Stage::kTransition) return std::nullopt;
  if (!has_access) return Scope{bit_of(*known), 0};
  for (const AccessWord& candidate : kAccessWords) {
    if (candidate.stage == *known && candidate.word == access) {
      return Scope{bit_of(*known), bit_of(candidate.access)};
    }
  }
  return std::nullopt;
}

std::optional<Stage> stage_of_dispatches(std::string_view word) {
  for (const Stage stage : {Stage::kCompute, Stage::kCopy, Stage::kGraphics}) {
    if (word == word_in(kStageWords, stage)) return stage;
  }
  return std::nullopt;
}

bool names_a_stage(std::string_view word) {
  const std::string_view stage = word.substr(0, word.find('.'));
  const auto known = position_in<Stage>(kStageWords, stage);
  return stage == kAllWord || stage == kDeviceWord || stage == kNoneWord ||
         (known && *known != Stage::kTransition);
}

std::string text_of(Scope scope) {
  if (scope == Scope{}) return std::string(kNoneWord);
  std::string text;
  StageMask stages = scope.stages;
  AccessMask accesses = scope.accesses;
  // Of `all` and `device`: what each of their words names as a whole.
  const auto append_whole = [&](std::string_view name, StageMask whole_stages) {
    for (const std::string_view word : {"read", "write"}) {
      const AccessMask whole = accesses_of_stages(whole_stages, word);
      if ((accesses & whole) != whole) continue;
      append_word(text, name, word);
      accesses &= static_cast<AccessMask>(~whole);
    }
    if (text.empty()) append_word(text, name, "");
  };
  if (stages == kAllStages) {
    append_whole(kAllWord, kAllStages);
    stages = 0;
  } else if ((stages & kDeviceStages) == kDeviceStages) {
    append_whole(kDeviceWord, kDeviceStages);
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
