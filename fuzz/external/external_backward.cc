// The basic idea is that of external_passes.cc: what the pass may have appended is taken out again,
// and the texts are compared.
#include "fuzz/external/external_backward.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/text/printer.h"
#include "fuzz/external/external_passes.h"
#include "fuzz/external/external_program.h"

namespace interlock {
namespace {

std::string_view tensor_name(const Program& program, const Tensor& tensor) {
  return program.name(tensor.name);
}

// Takes out of an answer what a pass may append.
class AppendixRemoval {
 public:
  explicit AppendixRemoval(const ProgramDraft& given) {
    for (const ItemDraft& item : given.items) {
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
        given_tensors_.insert(tensor->name);
      } else {
        ++given_count_;
      }
    }
  }

  Result<ProgramDraft> rest_of(const ProgramDraft& answer) const {
    ProgramDraft rest;
    size_t count = 0;  // Of what is no tensor.
    for (const ItemDraft& item : answer.items) {
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
        if (given_tensors_.count(tensor->name) == 0) {
          auto taken = take(*tensor);
          if (!taken) return taken.error();
          continue;
        }
      } else if (++count > given_count_) {
        auto taken = take(item);
        if (!taken) return taken.error();
        continue;
      }
      rest.items.push_back(item);
    }
    return rest;
  }

 private:
  static Result<Success> take(const TensorDraft& tensor) {
    const bool has_place =
        tensor.placement != Placement::kUnplaced && tensor.placement != Placement::kView;
    if (!has_place) return Success{};
    return error_of("The answer gives its tensor {} a place, which planners do.",
                    in_quotes(tensor.name));
  }

  static Result<Success> take(const ItemDraft& item) {
    if (std::holds_alternative<DispatchDraft>(item)) return Success{};
    return error_of("The answer appends {}, and a backward pass has dispatches alone.",
                    in_quotes(print(item)));
  }

  std::set<std::string_view> given_tensors_;
  size_t given_count_ = 0;
};

// Requires: without what was appended `answer` is `given`, but for the order of tensors.
Result<Success> check_tensors(const Program& given, const Program& answer) {
  for (size_t i = 0; i < given.tensors.size(); ++i) {
    const std::string_view name = tensor_name(answer, answer.tensors[i]);
    if (name == tensor_name(given, given.tensors[i])) continue;
    return error_of("The answer has tensor {} where the program has {}: its own come after all.",
                    in_quotes(name), in_quotes(tensor_name(given, given.tensors[i])));
  }
  return Success{};
}

Result<Success> check_writes(const Program& given, const Program& answer) {
  for (size_t i = given.dispatches.size(); i < answer.dispatches.size(); ++i) {
    for (const Access& access : answer.accesses_of(answer.dispatches[i])) {
      if (access.mode == AccessMode::kRead || access.mode == AccessMode::kUniform ||
          access.mode == AccessMode::kIndirect) {
        continue;
      }
      const bool is_own = access.tensor.is_some() &&
                          answer.tensor(access.tensor).root.index >= given.tensors.size();
      if (is_own) continue;
      return error_of("Dispatch {} of the answer writes {}, which is not its own.", i,
                      access.tensor.is_some()
                          ? "tensor " + in_quotes(tensor_name(answer, answer.tensor(access.tensor)))
                          : "bytes of a memory");
    }
  }
  return Success{};
}

Result<Success> check_wanted(const Program& given, const Program& answer,
                             const std::vector<WantedGradient>& wanted) {
  for (const WantedGradient& want : wanted) {
    const TensorId id = answer.find_tensor(want.gradient);
    if (!id.is_some() || id.index < given.tensors.size()) {
      return error_of("The answer has no tensor {} of its own, the gradient by {}.",
                      in_quotes(want.gradient), in_quotes(want.tensor));
    }
    const Tensor& gradient = answer.tensor(id);
    const Tensor& tensor = answer.tensor(answer.find_tensor(want.tensor));
    if (gradient.shape == tensor.shape && gradient.dtype == tensor.dtype) continue;
    return error_of("The gradient {} has not the shape and type of {}, by which it is.",
                    in_quotes(want.gradient), in_quotes(want.tensor));
  }
  return Success{};
}

}  // namespace

std::vector<WantedGradient> wanted_gradients(std::string_view remark) {
  constexpr std::string_view kWord = " wrt=";
  const size_t begin = remark.find(kWord);
  INTERLOCK_CHECK(begin != std::string_view::npos);
  std::vector<WantedGradient> wanted;
  for (std::string_view rest = remark.substr(begin + kWord.size()); !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t colon = pair.find(':');
    INTERLOCK_CHECK(colon != std::string_view::npos);
    wanted.push_back({std::string(pair.substr(0, colon)), std::string(pair.substr(colon + 1))});
  }
  return wanted;
}

std::string backward_question_text(const Program& program, const std::string& remark) {
  return with_remark(question_text(program), remark);
}

Result<Program> backward_answer_of(const Program& given, std::string_view text,
                                   const std::vector<WantedGradient>& wanted) {
  Result<Program> answer = parsed_answer(text);
  if (!answer) return answer;
  const ProgramDraft given_draft = draft_of(given);
  const auto rest = AppendixRemoval(given_draft).rest_of(draft_of(*answer));
  if (!rest) return rest.error();
  auto checked = check_same_text(print(given_draft), print(*rest), "what it appends");
  if (checked && answer->has_program_order) {
    checked = Error{"The answer has `order=`, and what it appends comes last in any case."};
  }
  if (checked) checked = check_tensors(given, *answer);
  if (checked) checked = check_writes(given, *answer);
  if (checked) checked = check_wanted(given, *answer, wanted);
  if (!checked) return checked.error();
  return answer;
}

}  // namespace interlock
