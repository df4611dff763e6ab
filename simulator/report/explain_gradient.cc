#include "simulator/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

constexpr size_t kDispatchesTold = 6;

// "mm1 (dispatch 0) and mm2 (dispatch 1)"; the tail left out if it is long.
std::string names_of(const Program& program, const std::vector<DispatchId>& dispatches) {
  std::string text;
  const size_t shown = std::min(dispatches.size(), kDispatchesTold);
  for (size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == dispatches.size();
    text += i == 0 ? "" : is_last ? " and " : ", ";
    text += program.description_of(dispatches[i]);
  }
  if (shown < dispatches.size()) text += fmt::format(" and {} more", dispatches.size() - shown);
  return text;
}

std::string times(uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

// "counts the contribution of mm1 (dispatch 0) 2 times, the one-shot backward once"
std::string count_clause(const Program& program, const GradientFinding& found,
                         const GradientCount& count) {
  // The loss itself is its own gradient's seed.
  const std::string who = count.dispatches.empty()
                              ? fmt::format("{} itself", name_of(program, found.loss))
                              : names_of(program, count.dispatches);
  const std::string_view noun = count.dispatches.size() > 1 ? "contributions" : "contribution";
  if (count.actual == 0) return fmt::format("leaves out the {} of {}", noun, who);
  return fmt::format("counts the {} of {} {}, the one-shot backward {}", noun, who,
                     times(count.actual), times(count.expected));
}

// The readers of the tensor have their terms in the gradient, and these are wrong themselves.
bool has_terms_in_place_of_others(const GradientFinding& found) {
  return !found.foreign.empty() && !found.counts.empty() && found.counts.front().actual == 0 &&
         !found.counts.front().dispatches.empty();
}

std::string gradient_headline(const Program& program, const GradientFinding& found) {
  const std::string_view gradient = name_of(program, found.gradient);
  if (has_terms_in_place_of_others(found)) {
    std::vector<DispatchId> missing;
    for (const GradientCount& count : found.counts) {
      if (count.actual > 0) continue;
      missing.insert(missing.end(), count.dispatches.begin(), count.dispatches.end());
    }
    return fmt::format("gradient: {} has no contribution of {}, but {} from {} that {} of any.",
                       gradient, names_of(program, missing),
                       found.foreign.size() == 1 ? "a term" : "terms",
                       names_of(program, found.foreign),
                       found.foreign.size() == 1 ? "is no multiple" : "are no multiples");
  }
  if (!found.counts.empty()) {
    return fmt::format("gradient: {} {}.", gradient,
                       count_clause(program, found, found.counts.front()));
  }
  if (!found.foreign.empty()) {
    return fmt::format("gradient: {} has a term from {} that is no multiple of any contribution.",
                       gradient, names_of(program, found.foreign));
  }
  return fmt::format("gradient: {} is not the gradient of {} by {}.", gradient,
                     name_of(program, found.loss), name_of(program, found.tensor));
}

std::vector<std::string> details_of(const Program& program, const GradientFinding& found) {
  const std::string_view gradient = name_of(program, found.gradient);
  std::vector<std::string> details;
  const bool is_headline_of_missing = has_terms_in_place_of_others(found);
  std::vector<const GradientCount*> told;
  for (const GradientCount& count : found.counts) {
    if (count.actual > 0 || !is_headline_of_missing) told.push_back(&count);
  }
  const size_t shown = std::min(told.size(), kDispatchesTold);
  for (size_t i = 0; i < shown; ++i) {
    const bool is_headline = i == 0 && !is_headline_of_missing;
    if (!is_headline) {
      details.push_back(fmt::format("It {}.", count_clause(program, found, *told[i])));
    }
    if (!told[i]->terms.empty()) {
      details.push_back(fmt::format("The term is that of {}.", names_of(program, told[i]->terms)));
    }
  }
  if (shown < told.size()) {
    details.push_back(fmt::format("So it is with {} more.", told.size() - shown));
  }
  if (!found.counts.empty() && !found.foreign.empty() && !is_headline_of_missing) {
    details.push_back(fmt::format("It has a term from {} too, which is no multiple of any.",
                                  names_of(program, found.foreign)));
  }
  for (const DoubledCotangent& doubled : found.doubled) {
    const std::string sum = program.description_of(doubled.sum);
    const std::string_view value = name_of(program, doubled.value);
    details.push_back(
        doubled.readers.empty()
            ? fmt::format(
                  "{} adds up two tensors that both hold the whole cotangent of {} already.", sum,
                  value)
            : fmt::format(
                  "{} adds to the whole cotangent of {} what {} {} to it, which is in it already.",
                  sum, value, names_of(program, doubled.readers),
                  doubled.readers.size() == 1 ? "contributes" : "contribute"));
  }
  details.push_back(
      fmt::format("{} is to be the gradient of {} by {}: every path between the two counts once. "
                  "Nothing was rounded.",
                  gradient, name_of(program, found.loss), name_of(program, found.tensor)));
  return details;
}

std::string gradient_fix(const Program& program, const GradientFinding& found) {
  if (!found.doubled.empty() && !found.doubled.front().readers.empty()) {
    return fmt::format("go on from the whole cotangent of {}, and leave the sum of {} out.",
                       name_of(program, found.doubled.front().value),
                       program.description_of(found.doubled.front().sum));
  }
  if (!found.doubled.empty()) {
    return fmt::format("go on from one of the two that {} adds up, and leave the sum out.",
                       program.description_of(found.doubled.front().sum));
  }
  if (has_terms_in_place_of_others(found)) {
    return fmt::format("compute the {} of {} from the cotangents that one-shot has there.",
                       found.foreign.size() == 1 ? "term" : "terms",
                       names_of(program, found.foreign));
  }
  const bool leaves_out =
      !found.counts.empty() && found.counts.front().actual < found.counts.front().expected;
  if (leaves_out) {
    return fmt::format("add to {} what {} contributes.", name_of(program, found.gradient),
                       names_of(program, found.counts.front().dispatches));
  }
  return fmt::format("let each dispatch that reads {} add to {} once, as one-shot does.",
                     name_of(program, found.tensor), name_of(program, found.gradient));
}

}  // namespace

Finding explain_gradient(const Program& program, const GradientFinding& found) {
  Finding finding{place_of(program, found)};
  finding.headline = gradient_headline(program, found);
  finding.details = details_of(program, found);
  finding.fix = gradient_fix(program, found);
  return finding;
}

}  // namespace interlock
