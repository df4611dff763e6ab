// The basic idea: a value is on its way from one place of program order to another. A walk that
// keeps for every byte where it was written raw last asks once for each value, where its way ends.
#include "encoder/backward/backward_raw_writes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/interval_map.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

class RawWriteCheck {
 public:
  RawWriteCheck(const Program& program, const BackwardValues& values, const BackwardGraph& graph)
      : program_(program),
        values_(values),
        graph_(graph),
        begins_(values.count(), 0),
        ends_(values.count(), 0) {}

  Result<Success> check() {
    find_ways();
    std::vector<std::pair<size_t, uint32_t>> ends;
    for (uint32_t value = 0; value < ends_.size(); ++value) {
      if (ends_[value] > 0) ends.emplace_back(ends_[value], value);
    }
    std::sort(ends.begin(), ends.end());
    auto next = ends.begin();
    IntervalMap<size_t> written;  // The place of the last raw write; 0 of bytes without one.
    for (size_t place = 1; place <= end_place(); ++place) {
      for (; next != ends.end() && next->first == place; ++next) {
        const uint32_t value = next->second;
        const Tensor& root = program_.tensor(values_.value(value).root);
        size_t last = 0;
        written.for_each(root.memory, root.range,
                         [&](const auto& run) { last = std::max(last, run.value); });
        if (last > begins_[value]) return error_about(value, dispatch_at(last));
      }
      if (place == end_place() || values_.steps()[place - 1].is_adoption) continue;
      for (const Access& access : program_.accesses_of(dispatch_at(place))) {
        const bool is_raw_write = !access.only_reads() && !access.tensor.is_some();
        if (is_raw_write) written.assign(access.memory, access.range, place);
      }
    }
    return Success{};
  }

 private:
  // Places count from 1; the program ends at the last one.
  size_t end_place() const { return values_.steps().size() + 1; }
  DispatchId dispatch_at(size_t place) const {
    return DispatchId(values_.steps()[place - 1].dispatch);
  }

  void find_ways() {
    size_t place = 0;
    for (const BackwardNode& node : graph_.nodes) {
      do {
        ++place;
      } while (values_.steps()[place - 1].is_adoption || dispatch_at(place) != node.dispatch);
      for (const int input : node.inputs) {
        const uint32_t value = node.values[static_cast<size_t>(input)];
        if (begins_[value] == 0) begins_[value] = place;
        ends_[value] = place;
      }
      for (const int output : node.outputs) {
        begins_[node.values[static_cast<size_t>(output)]] = place;
      }
    }
    if (begins_[graph_.loss] > 0) ends_[graph_.loss] = end_place();
    for (const uint32_t value : graph_.wrt) {
      if (begins_[value] > 0) ends_[value] = end_place();
    }
  }

  Error error_about(uint32_t value, DispatchId writer) const {
    const std::string loss = in_quotes(program_.name(program_.tensor(graph_.loss_tensor).name));
    const auto wrt = std::find(graph_.wrt.begin(), graph_.wrt.end(), value);
    if (wrt != graph_.wrt.end()) {
      const TensorId tensor =
          graph_.wrt_tensors[static_cast<size_t>(std::distance(graph_.wrt.begin(), wrt))];
      const std::string name = in_quotes(program_.name(program_.tensor(tensor).name));
      return error_of(
          "The loss {} depends on what {} held before {}, which writes raw bytes of it, and the gradient is that by what {} holds now; take it before, or leave {} as it is and write another tensor.",
          loss, name, program_.description_of(writer), name, name);
    }
    const std::string end = ends_[value] == end_place()
                                ? "the program ends"
                                : program_.description_of(dispatch_at(ends_[value])) + " reads it";
    return error_of(
        "The backward pass from {} meets {}, which writes raw bytes of {} before {}; a backward pass follows tensors only.",
        loss, program_.description_of(writer),
        program_.name(program_.tensor(values_.value(value).root).name), end);
  }

  const Program& program_;
  const BackwardValues& values_;
  const BackwardGraph& graph_;
  std::vector<size_t> begins_;  // By value: the place where its way begins, 0 without one.
  std::vector<size_t> ends_;    // By value: where what it held is needed last.
};

}  // namespace

Result<Success> check_raw_writes(const Program& program, const BackwardValues& values,
                                 const BackwardGraph& graph) {
  return RawWriteCheck(program, values, graph).check();
}

}  // namespace interlock
