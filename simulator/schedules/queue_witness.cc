// The basic idea: two dispatches that share bytes, of which the later one in reference order begins
// before the other has committed, are turned around, or one misses what the other wrote; so there
// is a line for each such pair, and the plainest comes first.
#include "simulator/schedules/queue_witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "encoder/program/stop.h"
#include "simulator/order/host_atoms.h"
#include "simulator/schedules/queue_schedule.h"

namespace interlock {
namespace {

constexpr uint64_t kHazardsAsked = 1000;

// When a dispatch begins to fetch, and when it has committed: positions of steps.
struct StepSpan {
  size_t begin = SIZE_MAX;
  size_t end = 0;
};

std::vector<StepSpan> step_spans_of(const Program& program, const Schedule& schedule) {
  std::vector<StepSpan> spans(program.dispatches.size());
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    StepSpan& span = spans[schedule.steps[i].dispatch.index];
    span.begin = std::min(span.begin, i);
    span.end = std::max(span.end, i);
  }
  return spans;
}

// By dispatch: when the first begins of it and all later ones.
std::vector<size_t> earliest_begins(const std::vector<StepSpan>& spans) {
  std::vector<size_t> begins(spans.size());
  size_t earliest = SIZE_MAX;
  for (size_t i = spans.size(); i-- > 0;) {
    earliest = std::min(earliest, spans[i].begin);
    begins[i] = earliest;
  }
  return begins;
}

bool share_written_bytes(const Program& program, DispatchId first, DispatchId second) {
  const auto others = program.accesses_of(second);
  return std::ranges::any_of(program.accesses_of(first), [&](const Access& one) {
    return std::ranges::any_of(others, [&](const Access& other) {
      return one.memory == other.memory && !(one.only_reads() && other.only_reads()) &&
             share_a_byte(one.range, other.range);
    });
  });
}

class WitnessSearch {
 public:
  WitnessSearch(const Program& program, const std::function<bool(const Schedule&)>& differs,
                uint64_t attempt_limit)
      : program_(program), differs_(differs), attempts_left_(attempt_limit) {}

  // Whether some line about the two shows it; it is found() then.
  bool try_pair(DispatchId first, DispatchId second) {
    const std::array kLines = {Displacement{second, first, DisplacementKind::kBefore},
                               Displacement{first, second, DisplacementKind::kCommitsAfter},
                               Displacement{second, first, DisplacementKind::kFetchesBefore}};
    return std::ranges::any_of(kLines, [this](const Displacement& line) { return try_line(line); });
  }

  bool is_over() const { return attempts_left_ == 0 || !found_.empty() || is_stopped(); }
  const std::vector<Displacement>& found() const { return found_; }

 private:
  bool try_line(const Displacement& line) {
    if (is_over()) return false;
    --attempts_left_;
    const Result<Schedule> said = queue_schedule_of(program_, {line});
    if (!said || !differs_(*said) || is_stopped()) return false;
    found_ = {line};
    return true;
  }

  const Program& program_;
  const std::function<bool(const Schedule&)>& differs_;
  uint64_t attempts_left_;
  std::vector<Displacement> found_;
};

}  // namespace

std::vector<Displacement> find_queue_witness(const Program& program, const HappensBefore& order,
                                             const Schedule& schedule,
                                             const std::function<bool(const Schedule&)>& differs,
                                             uint64_t attempt_limit) {
  WitnessSearch search(program, differs, attempt_limit);
  const std::vector<StepSpan> spans = step_spans_of(program, schedule);
  const std::vector<size_t> begins = earliest_begins(spans);
  std::vector<size_t> open;  // Dispatches that later ones can begin before the end of, in order.
  for (size_t second = 1; second < spans.size() && !search.is_over(); ++second) {
    open.push_back(second - 1);
    std::erase_if(open, [&](size_t first) { return spans[first].end <= begins[second]; });
    for (size_t i = open.size(); i-- > 0 && !search.is_over();) {
      if (spans[second].begin >= spans[open[i]].end) continue;
      const DispatchId a(open[i]);
      const DispatchId b(second);
      if (share_written_bytes(program, a, b)) search.try_pair(a, b);
    }
  }
  if (search.is_over()) return search.found();
  for (const Hazard& hazard : find_queue_hazards(program, order, kHazardsAsked).hazards) {
    search.try_pair(hazard.first.dispatch, hazard.second.dispatch);
    if (search.is_over()) break;
  }
  return search.found();
}

HazardList find_queue_hazards(const Program& program, const HappensBefore& order, uint64_t limit) {
  if (order.queues().is_too_wide()) return {.hazards = {}, .is_cut = true};
  if (!has_host_atoms(program)) return find_all_hazards(program, order, limit);
  const Program atoms = with_whole_atoms(program);
  return find_all_hazards(atoms, HappensBefore(atoms, &program), limit);
}

std::string text_of_steps(const Program& program, const Schedule& schedule) {
  constexpr std::array<std::string_view, 5> kWords = {"run", "run late", "commit", "fetch", "drop"};
  constexpr size_t kWidth = 96;
  std::string text;
  size_t line_begin = 0;
  for (const Step& step : schedule.steps) {
    const std::string word = fmt::format("{} {}", kWords[static_cast<size_t>(step.kind)],
                                         program.reference_of(step.dispatch));
    if (!text.empty()) text += ",";
    if (text.size() - line_begin + word.size() > kWidth && !text.empty()) {
      text += "\n    ";
      line_begin = text.size();
    } else if (!text.empty()) {
      text += " ";
    }
    text += word;
  }
  return text;
}

}  // namespace interlock
