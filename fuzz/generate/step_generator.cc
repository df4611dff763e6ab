// The basic idea is to make a forward pass with few shapes, so that values fit on each other's
// bytes, and to take some of its dispatches back in reverse order: what the forward pass has saved
// is then read late, which is what planners get wrong.
#include "fuzz/generate/step_generator.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "encoder/backward/vjp_rules.h"
#include "encoder/kernel/kernel_table.h"
#include "fuzz/generate/step_sketch.h"

namespace interlock {
namespace {

constexpr uint64_t kExtents[] = {1, 1, 2, 3, 4, 8};

class StepGenerator {
 public:
  StepGenerator(Choice& choice, const StepOptions& options)
      : choice_(choice),
        options_(options),
        sketch_(choice),
        rows_(kExtents[choice.below(5)]),
        cols_(kExtents[choice.below(6)]),
        inner_(kExtents[choice.below(4)]) {
    // Each kind is in two of three programs, with any weight (Groce et al., ISSTA 2012).
    for (uint32_t& weight : weights_) {
      weight = choice.chance(2, 3) ? 1 + static_cast<uint32_t>(choice.below(15)) : 0;
    }
  }

  ProgramDraft run() {
    constexpr Kind kKinds[] = {&StepGenerator::add_elementwise, &StepGenerator::add_reduction,
                               &StepGenerator::add_matmul,      &StepGenerator::add_normalization,
                               &StepGenerator::add_bytewise,    &StepGenerator::add_backward,
                               &StepGenerator::add_opaque,      &StepGenerator::add_view,
                               &StepGenerator::add_lifetime};
    constexpr size_t kDifferentiableCount = 5;
    const size_t every_count = std::size(kKinds) - (options_.has_lifetimes ? 0 : 1);
    const size_t kind_count = options_.is_differentiable ? kDifferentiableCount : every_count;
    uint64_t total = 0;
    for (size_t i = 0; i < kind_count; ++i) total += weights_[i];
    const uint64_t target = 1 + choice_.below(options_.max_dispatches);
    // Some kinds add no dispatch; the bound ends the loop for bytes that always choose those.
    for (uint64_t i = 0; i < 3 * target && sketch_.dispatch_count() < target; ++i) {
      size_t kind = 0;
      uint64_t drawn = total == 0 ? 0 : choice_.below(total);
      while (kind + 1 < kind_count && drawn >= weights_[kind]) drawn -= weights_[kind++];
      (this->*kKinds[kind])();
    }
    if (sketch_.dispatch_count() == 0) add_elementwise();
    return sketch_.finish();
  }

 private:
  using enum AccessMode;
  using Kind = void (StepGenerator::*)();

  void add_elementwise() {
    const StepShape shape = choice_.chance(3, 4) ? matrix() : row();
    const size_t x = sketch_.pick_input(shape);
    switch (choice_.below(4)) {
      case 0:
        return emit_forward("scale", {{kRead, x}}, shape, 1, {{"factor", "0.5"}});
      case 1:
        return emit_forward("silu", {{kRead, x}}, shape, 1);
      default: {
        const size_t y = sketch_.pick_input(shape);
        return emit_forward(choice_.chance(1, 2) ? "add" : "mul", {{kRead, x}, {kRead, y}}, shape,
                            2);
      }
    }
  }

  void add_reduction() {
    const bool over_rows = choice_.chance(1, 2);
    const size_t x = sketch_.pick_input(matrix());
    emit_forward(over_rows ? "col_sum" : "row_sum", {{kRead, x}},
                 over_rows ? row() : StepShape{rows_}, 0);
  }

  void add_matmul() {
    const uint64_t form = choice_.below(3);
    const StepShape left = form == 2 ? StepShape{inner_, rows_} : StepShape{rows_, inner_};
    const StepShape right = form == 1 ? StepShape{cols_, inner_} : StepShape{inner_, cols_};
    const size_t a = sketch_.pick_input(left);
    const size_t b = sketch_.pick_input(right);
    constexpr const char* kForms[] = {"matmul_nn", "matmul_nt", "matmul_tn"};
    emit_forward(kForms[form], {{kRead, a}, {kRead, b}}, matrix(), 0);
  }

  void add_normalization() {
    const size_t x = sketch_.pick_input(matrix());
    if (choice_.chance(1, 3)) return emit_forward("softmax", {{kRead, x}}, matrix(), 1);
    StepOperands operands = {{kRead, x}, {kRead, sketch_.pick_input(row())}};
    const bool has_bias = choice_.chance(1, 3);
    if (has_bias) operands.emplace_back(kRead, sketch_.pick_input(row()));
    emit_forward(has_bias ? "layer_norm" : "rms_norm", std::move(operands), matrix(), 1);
  }

  void add_bytewise() {
    const StepShape shape = choice_.chance(1, 2) ? matrix() : row();
    if (choice_.chance(1, 3) && !options_.is_differentiable) {
      const size_t y = sketch_.add_output(shape);
      const std::string value = fmt::format("{}", choice_.below(256));
      return sketch_.emit(sketch_.dispatch_of("fill", {{kWrite, y}}, {{"value", value}}));
    }
    const size_t x = sketch_.pick_input(shape);
    emit_forward("copy", {{kRead, x}}, shape, 0);
  }

  void add_opaque() {
    DispatchDraft dispatch{.kernel = "Opaque"};
    const uint64_t read_count = choice_.below(4);
    for (uint64_t i = 0; i < read_count; ++i) {
      const std::optional<size_t> x = sketch_.pick_any();
      if (!x) break;
      OperandDraft operand{kRead, sketch_.value(*x).name, {}};
      if (choice_.chance(1, 8)) operand.slice = ByteRange{0, 4};
      dispatch.operands.push_back(std::move(operand));
    }
    const bool updates = !dispatch.operands.empty() && choice_.chance(1, 6);
    const uint64_t write_count = updates ? choice_.below(2) : 1 + choice_.below(2);
    for (uint64_t i = 0; i < write_count; ++i) {
      const size_t y = sketch_.add_output(choice_.chance(2, 3) ? matrix() : row());
      dispatch.operands.push_back({kWrite, sketch_.value(y).name, {}});
    }
    if (updates) {
      // Of what the dispatch does not read besides, nor in part.
      const size_t root = sketch_.value(sketch_.pick_any().value()).root;
      const bool is_read = std::ranges::any_of(dispatch.operands, [&](const OperandDraft& operand) {
        return sketch_.value(sketch_.find(operand.name).value()).root == root;
      });
      if (!is_read && sketch_.value(root).is_alive) {
        dispatch.operands.push_back({kUpdate, sketch_.value(root).name, {}});
      }
    }
    if (!dispatch.operands.empty()) sketch_.emit(std::move(dispatch));
  }

  void add_backward() {
    if (forward_.empty()) return add_elementwise();
    cotangents_.clear();
    const size_t count = choice_.chance(1, 2) ? 1 : 1 + choice_.below(forward_.size());
    const size_t end = choice_.chance(1, 2) ? forward_.size() : 1 + choice_.below(forward_.size());
    for (size_t i = end; i-- > end - std::min(end, count);) {
      const DispatchDraft forward = forward_[i];
      const uint64_t count_after = sketch_.dispatch_count() + vjp_dispatch_count(forward);
      if (count_after > options_.max_dispatches) return;
      emit_vjp_of(forward);
    }
  }

  void add_view() { sketch_.add_view(choice_.chance(1, 2) ? matrix() : row()); }

  void add_lifetime() {
    const std::optional<size_t> value = sketch_.pick_any();
    if (!value || choice_.chance(3, 4)) return sketch_.reset();
    if (sketch_.value(*value).is_view) return;
    if (sketch_.value(*value).is_pinned) return sketch_.unpin(*value);
    if (choice_.chance(1, 2)) return sketch_.pin(*value);
    sketch_.free(*value);
  }

  StepShape matrix() const { return {rows_, cols_}; }
  StepShape row() const { return {cols_}; }

  // Appends a kernel whose first `in_place_count` operands may share bytes with its one output.
  void emit_forward(const std::string& kernel, StepOperands operands, const StepShape& output,
                    size_t in_place_count, Attributes attributes = {}) {
    size_t donor = SIZE_MAX;
    if (in_place_count > 0 && !options_.is_differentiable && choice_.chance(1, 12)) {
      const size_t candidate = operands[choice_.below(in_place_count)].second;
      // No other operand may see the donor's bytes.
      const bool is_seen_once =
          std::ranges::count_if(operands, [&](const auto& operand) {
            return sketch_.value(operand.second).root == sketch_.value(candidate).root;
          }) == 1;
      if (is_seen_once && sketch_.can_donate(candidate)) donor = candidate;
    }
    const size_t written =
        donor == SIZE_MAX ? sketch_.add_output(output) : sketch_.add_donation(donor);
    operands.emplace_back(kWrite, written);
    DispatchDraft draft = sketch_.dispatch_of(kernel, operands, std::move(attributes));
    if (find_vjp_rule(kernel) != nullptr) forward_.push_back(draft);
    sketch_.emit(std::move(draft));
  }

  // How many dispatches emit_vjp_of() appends at most: one more for each cotangent that is there.
  uint64_t vjp_dispatch_count(const DispatchDraft& forward) const {
    const VjpRule& rule = *find_vjp_rule(forward.kernel);
    const std::vector<int> inputs = inputs_of(rule);
    uint64_t count = dispatches_of(rule, inputs).size();
    std::set<std::string> met;
    for (const int input : inputs) {
      const std::string& value = forward.operands[static_cast<size_t>(input)].name;
      const bool is_first = met.insert(value).second && cotangents_.count(value) == 0;
      count += is_first ? 0 : 1;
    }
    return count;
  }

  void emit_vjp_of(const DispatchDraft& forward) {
    for (const OperandDraft& operand : forward.operands) {
      if (!sketch_.is_alive(operand.name)) return;
    }
    const VjpRule& rule = *find_vjp_rule(forward.kernel);
    std::map<std::pair<VjpValueKind, int>, std::string> names;
    const auto name_of = [&](VjpValue value) {
      std::string& name = names[{value.kind, value.index}];
      if (!name.empty()) return name;
      const bool is_intermediate = value.kind == VjpValueKind::kIntermediate;
      const int operand = is_intermediate
                              ? rule.intermediate_shapes[static_cast<size_t>(value.index)]
                              : value.index;
      const std::string& primal = forward.operands[static_cast<size_t>(operand)].name;
      if (value.kind == VjpValueKind::kCotangent) return name = cotangent_of(primal);
      return name = sketch_.value(sketch_.add_output(shape_of(primal))).name;
    };
    const std::vector<int> inputs = inputs_of(rule);
    for (DispatchDraft& dispatch : vjp_group(rule, forward, inputs, name_of)) {
      // The same function by a kernel whose output must share no byte with most of what it reads.
      const std::string streaming = std::string(dispatch.kernel) + "_stream";
      if (find_kernel(streaming) && choice_.chance(1, 2)) dispatch.kernel = streaming;
      sketch_.emit(std::move(dispatch));
    }
    for (const auto& [value, name] : names) {
      if (value.first != VjpValueKind::kGradient) continue;
      add_cotangent(forward.operands[static_cast<size_t>(value.second)].name, name);
    }
    for (const auto& [input, output] : rule.passes) {
      const std::string cotangent =
          cotangent_of(forward.operands[static_cast<size_t>(output)].name);
      add_cotangent(forward.operands[static_cast<size_t>(input)].name, cotangent);
    }
  }

  std::string cotangent_of(const std::string& value) {
    const auto known = cotangents_.find(value);
    if (known != cotangents_.end() && sketch_.is_alive(known->second)) return known->second;
    return cotangents_[value] = sketch_.value(sketch_.pick_input(shape_of(value))).name;
  }

  // Contributions add up where a value was read more than once.
  void add_cotangent(const std::string& value, const std::string& gradient) {
    const auto known = cotangents_.find(value);
    if (known == cotangents_.end()) {
      cotangents_[value] = gradient;
      return;
    }
    const size_t sum = sketch_.add_output(shape_of(value));
    const auto find = [&](const std::string& name) { return sketch_.find(name).value(); };
    sketch_.emit(sketch_.dispatch_of(
        "add", {{kRead, find(known->second)}, {kRead, find(gradient)}, {kWrite, sum}}));
    known->second = sketch_.value(sum).name;
  }

  StepShape shape_of(const std::string& name) const {
    return sketch_.value(sketch_.find(name).value()).shape;
  }

  Choice& choice_;
  const StepOptions options_;
  StepSketch sketch_;
  uint64_t rows_;
  uint64_t cols_;
  uint64_t inner_;
  std::array<uint32_t, 9> weights_{};              // By kind.
  std::vector<DispatchDraft> forward_;             // Those with a VJP rule.
  std::map<std::string, std::string> cotangents_;  // By value, during one backward pass.
};

}  // namespace

ProgramDraft generate_step(Choice& choice, const StepOptions& options) {
  return StepGenerator(choice, options).run();
}

}  // namespace interlock
