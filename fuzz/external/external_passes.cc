// The basic idea of judging an answer is to take out of it again what the pass may have put there,
// and to compare the texts.
#include "fuzz/external/external_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/replay/first_accumulations.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/external/external_program.h"

namespace interlock {
namespace {

using TensorsByName = std::map<std::string_view, const TensorDraft*>;

TensorsByName tensors_by_name(const ProgramDraft& draft) {
  TensorsByName tensors;
  for (const ItemDraft& item : draft.items) {
    if (const auto* tensor = std::get_if<TensorDraft>(&item)) tensors.emplace(tensor->name, tensor);
  }
  return tensors;
}

std::set<std::string_view> memory_names(const ProgramDraft& draft) {
  std::set<std::string_view> names;
  for (const ItemDraft& item : draft.items) {
    if (const auto* memory = std::get_if<MemoryDraft>(&item)) names.insert(memory->name);
  }
  return names;
}

// "h" of "tensor h f32[4] = random(1)"; empty of other lines.
std::string_view tensor_name_in(std::string_view line) {
  constexpr std::string_view kWord = "tensor ";
  if (!line.starts_with(kWord)) return "";
  line.remove_prefix(kWord.size());
  return line.substr(0, line.find(' '));
}

// With its tensors by name, since a planner may have to reorder them.
std::string text_with_sorted_tensors(const ProgramDraft& draft) {
  std::string tensors;
  std::string rest;
  for (const auto& [name, tensor] : tensors_by_name(draft))
    tensors += print(ItemDraft(*tensor)) + '\n';
  for (const ItemDraft& item : draft.items) {
    if (!std::holds_alternative<TensorDraft>(item)) rest += print(item) + '\n';
  }
  return tensors + rest;
}

// Takes the place of an answer's tensor away where the program has none.
class PlanRemoval {
 public:
  PlanRemoval(const ProgramDraft& given, const ProgramDraft& answer, uint64_t alignment_bytes)
      : answer_(answer),
        given_tensors_(tensors_by_name(given)),
        given_memories_(memory_names(given)),
        alignment_bytes_(alignment_bytes) {}

  Result<ProgramDraft> run() const {
    ProgramDraft bare;
    for (ItemDraft item : answer_.items) {
      if (is_evidence(item)) continue;
      if (const auto* memory = std::get_if<MemoryDraft>(&item)) {
        if (is_of_plan(memory->name)) continue;
      } else if (const auto* lifetime = std::get_if<LifetimeDraft>(&item)) {
        if (lifetime->kind == LifetimeKind::kReset && is_of_plan(lifetime->name)) continue;
      } else if (auto* tensor = std::get_if<TensorDraft>(&item)) {
        auto taken = take_place(*tensor);
        if (!taken) return taken.error();
      }
      bare.items.push_back(std::move(item));
    }
    return bare;
  }

 private:
  bool is_of_plan(std::string_view memory) const { return given_memories_.count(memory) == 0; }

  bool is_to_be_placed(std::string_view tensor) const {
    const auto found = given_tensors_.find(tensor);
    return found != given_tensors_.end() && found->second->placement == Placement::kUnplaced;
  }

  Result<Success> take_place(TensorDraft& tensor) const {
    if (!is_to_be_placed(tensor.name)) return Success{};
    const std::string name = in_quotes(tensor.name);
    if (tensor.placement == Placement::kUnplaced) {
      return error_of("The answer gives tensor {} no place.", name);
    }
    if (tensor.placement == Placement::kView) {
      return error_of("The answer makes tensor {} a view, and not a value with a place.", name);
    }
    if (tensor.placement == Placement::kDonation && !is_to_be_placed(tensor.base)) {
      return error_of("In the answer tensor {} donates {}, which is not for the planner to place.",
                      name, in_quotes(tensor.base));
    }
    if (tensor.placement == Placement::kPlaced && !is_of_plan(tensor.base)) {
      return error_of("The answer places tensor {} in memory {}, which is that of the program.",
                      name, in_quotes(tensor.base));
    }
    if (tensor.placement == Placement::kPlaced && tensor.offset_bytes % alignment_bytes_ != 0) {
      return error_of("The answer places tensor {} at {}, which is no multiple of {}.", name,
                      tensor.offset_bytes, alignment_bytes_);
    }
    tensor.placement = Placement::kUnplaced;
    tensor.base.clear();
    tensor.offset_bytes = 0;
    return Success{};
  }

  const ProgramDraft& answer_;
  const TensorsByName given_tensors_;
  const std::set<std::string_view> given_memories_;
  const uint64_t alignment_bytes_;
};

// Whether it is what may stand for a first accumulation.
bool stands_for(const ItemDraft& item, const DispatchDraft& accumulation) {
  const std::string& gradient = accumulation.operands[0].name;
  const std::string& sum = accumulation.operands[1].name;
  if (const auto* adoption = std::get_if<LifetimeDraft>(&item)) {
    return adoption->kind == LifetimeKind::kAdopt && adoption->label == accumulation.label &&
           adoption->name == sum && adoption->source == gradient && adoption->queue.empty();
  }
  const DispatchDraft copy{.label = accumulation.label,
                           .kernel = "copy",
                           .operands = {{AccessMode::kRead, gradient}, {AccessMode::kWrite, sum}}};
  return std::holds_alternative<DispatchDraft>(item) && print(item) == print(ItemDraft(copy));
}

}  // namespace

Result<Program> parsed_answer(std::string_view text) {
  ParseOptions options;
  options.reads_one_queue = true;
  Result<Program> answer = parse(text, "<answer>", options);
  if (!answer) return answer;
  answer->witness.clear();
  answer->expectations.clear();
  return answer;
}

std::string with_remark(const std::string& text, const std::string& remark) {
  const size_t head = text.find('\n') + 1;
  return fmt::format("{}# {}\n{}", text.substr(0, head), remark, text.substr(head));
}

Result<Program> spelled_out(const Program& program) {
  return build(without_evidence(expanded_draft_of(program)));
}

std::string plan_question_text(const Program& program, const std::string& remark) {
  std::map<std::string_view, uint64_t> sizes;  // Of what is to be placed.
  for (const Tensor& tensor : program.tensors) {
    if (tensor.placement != Placement::kUnplaced) continue;
    sizes.emplace(program.name(tensor.name), tensor.range.size_bytes());
  }
  const std::string text = question_text(program);
  std::string question;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    question += line;
    const auto size = sizes.find(tensor_name_in(line));
    if (size != sizes.end()) question += fmt::format("  # place {}", size->second);
    question += '\n';
  }
  return with_remark(question, remark);
}

Result<Program> plan_answer_of(const Program& given, std::string_view text,
                               uint64_t alignment_bytes) {
  Result<Program> answer = parsed_answer(text);
  if (!answer) return answer;
  const ProgramDraft given_draft = draft_of(given);
  const ProgramDraft answer_draft = draft_of(*answer);
  const auto bare = PlanRemoval(given_draft, answer_draft, alignment_bytes).run();
  if (!bare) return bare.error();
  const auto same = check_same_text(text_with_sorted_tensors(given_draft),
                                    text_with_sorted_tensors(*bare), "its places");
  if (!same) return same.error();
  return answer;
}

std::string replay_question_text(const Program& program, const std::string& remark) {
  return with_remark(print(program), remark);
}

Result<Program> replay_answer_of(const Program& given, std::string_view text) {
  Result<Program> answer = parsed_answer(text);
  if (!answer) return answer;
  const ProgramDraft given_draft = draft_of(given);
  ProgramDraft bare = without_evidence(draft_of(*answer));
  std::map<std::string, TensorDraft*> sums;
  for (ItemDraft& item : bare.items) {
    if (auto* tensor = std::get_if<TensorDraft>(&item)) sums.emplace(tensor->name, tensor);
  }
  const TensorsByName given_tensors = tensors_by_name(given_draft);
  for (const size_t position : first_accumulations(given_draft)) {
    const auto& accumulation = std::get<DispatchDraft>(given_draft.items[position]);
    if (position >= bare.items.size() || !stands_for(bare.items[position], accumulation)) continue;
    bare.items[position] = accumulation;
    const std::string& name = accumulation.operands[1].name;
    const auto sum = sums.find(name);
    const bool has_lost_its_zeros =
        sum != sums.end() && sum->second->initial.kind == InitialKind::kNone;
    if (has_lost_its_zeros) sum->second->initial = given_tensors.at(name)->initial;
  }
  const auto same =
      check_same_text(print(given_draft), print(bare), "what it does with first gradients");
  if (!same) return same.error();
  return answer;
}

}  // namespace interlock
