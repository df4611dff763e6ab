// A value's first contribution is its cotangent; it may be the very tensor of another value, where
// a rule passes the cotangent on. The next one makes it a tensor of its own, to which all later
// ones are added in place.
#include "encoder/backward/backward_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

std::string_view streaming_kernel_of(std::string_view kernel) {
  if (kernel == "softmax_vjp") return "softmax_vjp_stream";
  if (kernel == "rms_norm_vjp") return "rms_norm_vjp_stream";
  return kernel;
}

}  // namespace

BackwardWriter::BackwardWriter(const Program& program, const BackwardGraph& graph,
                               BackwardRoom& room)
    : program_(program),
      graph_(graph),
      room_(room),
      names_(tensor_names(program)),
      labels_(label_names(program)),
      result_(new_set("")),
      reserved_(graph.roots.size()) {
  if (program.has_program_order) {
    for (const Dispatch& dispatch : program.dispatches) {
      next_order_ = std::max(next_order_, dispatch.order + 1);
    }
  }
  name_gradients();
  const std::string seed = own(graph.loss, result_);
  declare_as(seed, shape_of(graph.loss), InitialKind::kOnes);
  result_.of[graph.loss] = {seed, false};
}

CotangentSet BackwardWriter::new_set(std::string suffix) const {
  CotangentSet set;
  set.suffix = std::move(suffix);
  set.of.resize(graph_.roots.size());
  set.node.resize(graph_.nodes.size());
  return set;
}

bool BackwardWriter::take_rewalks(uint64_t count) {
  if (error_) return false;
  if (count <= room_.rewalk_count) {
    room_.rewalk_count -= count;
    return true;
  }
  error_ = error_of(
      "The backward pass starts anew at each group of weights that share dispatches, and visits {} dispatches once more; the limit of {} for all passes leaves {}.",
      count, room_.limits.rewalk_count, room_.rewalk_count);
  return false;
}

void BackwardWriter::take_expansion(uint64_t count) {
  if (error_) return;
  if (count <= room_.expansion_count) {
    room_.expansion_count -= count;
    return;
  }
  room_.expansion_count = 0;
  error_ = error_of(
      "The replays and backward passes add more than the limit of {} statements, operands and attributes.",
      room_.limits.expansion_count);
}

void BackwardWriter::append_tensor(TensorDraft tensor) {
  take_expansion(1);
  tensors_.emplace_back(std::move(tensor));
}

// Other tensors that hold the same value have views of its gradient.
bool BackwardWriter::is_own(size_t i) const {
  return graph_.roots[graph_.wrt[i]] == graph_.wrt_tensors[i];
}

// The gradients that were asked for have their names before anything else can take them.
void BackwardWriter::name_gradients() {
  for (size_t i = 0; i < graph_.wrt.size(); ++i) {
    const Tensor& tensor = program_.tensor(graph_.wrt_tensors[i]);
    const std::string name = names_.claim(fmt::format("d_{}", program_.name(tensor.name)));
    if (is_own(i)) reserved_[graph_.wrt[i]] = name;
    gradients_.push_back(name);
  }
}

void BackwardWriter::declare_as(const std::string& name, const Shape& shape, InitialKind initial) {
  shapes_.emplace(name, shape);
  append_tensor({.name = name,
                 .shape = shape,
                 .placement = Placement::kUnplaced,
                 .initial = {.kind = initial}});
}

std::string BackwardWriter::declare(const std::string& wanted, const Shape& shape,
                                    InitialKind initial) {
  std::string name = names_.claim(wanted);
  declare_as(name, shape, initial);
  return name;
}

// The tensor itself, or a view of it, if it was declared with another shape.
std::string BackwardWriter::shaped(const std::string& tensor, const Shape& shape) {
  if (shapes_.find(tensor)->second == shape) return tensor;
  std::string& name = views_[{tensor, shape}];
  if (!name.empty()) return name;
  name = names_.claim(tensor + ".view");
  shapes_.emplace(name, shape);
  append_tensor({.name = name, .shape = shape, .placement = Placement::kView, .base = tensor});
  return name;
}

// A name for the tensor that is the value's cotangent and no other one's.
std::string BackwardWriter::own(uint32_t value, CotangentSet& set) {
  if (&set == &result_ && !reserved_[value].empty()) return reserved_[value];
  const Tensor& root = program_.tensor(graph_.roots[value]);
  return names_.claim(fmt::format("d_{}{}", program_.name(root.name), set.suffix));
}

std::string BackwardWriter::cotangent_of(size_t node, int output, CotangentSet& from) {
  const uint32_t value = graph_.nodes[node].values[static_cast<size_t>(output)];
  Cotangent& cotangent = from.of[value];
  if (cotangent.tensor.empty()) {
    const std::string name = own(value, from);
    declare_as(name, shape_of(value), InitialKind::kZeros);
    cotangent = {name, false};
  }
  return shaped(cotangent.tensor, tensor_of(node, output).shape);
}

void BackwardWriter::run(size_t node, const std::vector<int>& inputs, CotangentSet& from,
                         CotangentSet& to) {
  if (error_) return;
  const BackwardNode& forward = graph_.nodes[node];
  const VjpRule& rule = *forward.rule;
  CotangentSet::NodeState& state = from.node[node];
  state.is_written.resize(rule.dispatches.size());
  std::vector<int> computed = inputs;
  std::vector<std::pair<int, int>> passed;
  for (const auto& pass : rule.passes) {
    const auto found = std::find(computed.begin(), computed.end(), pass.first);
    if (found == computed.end()) continue;
    computed.erase(found);
    passed.push_back(pass);
  }
  for (const int input : computed) {
    const auto spare = state.spare.find(input);
    if (spare == state.spare.end()) continue;
    add(node, forward.values[static_cast<size_t>(input)], spare->second, to);
  }
  for (const size_t position : dispatches_of(rule, computed)) {
    if (state.is_written[position]) continue;
    state.is_written[position] = true;
    run_dispatch(node, position, computed, from, to);
  }
  for (const auto& [input, output] : passed) {
    add(node, forward.values[static_cast<size_t>(input)], cotangent_of(node, output, from), to);
  }
}

void BackwardWriter::run_dispatch(size_t node, size_t position, const std::vector<int>& inputs,
                                  CotangentSet& from, CotangentSet& to) {
  const VjpRule& rule = *graph_.nodes[node].rule;
  CotangentSet::NodeState& state = from.node[node];
  std::vector<std::pair<uint32_t, std::string>> terms;  // To be added to a value's cotangent.
  const DispatchDraft forward =
      draft_of(program_, program_.dispatch(graph_.nodes[node].dispatch), NameId());
  DispatchDraft dispatch =
      vjp_dispatch(rule, position, forward, [&](VjpValue value) -> std::string {
        if (value.kind == VjpValueKind::kCotangent) return cotangent_of(node, value.index, from);
        if (value.kind == VjpValueKind::kGradient) {
          const bool is_wanted =
              std::find(inputs.begin(), inputs.end(), value.index) != inputs.end();
          return target_of(node, value.index, is_wanted, from, to, terms);
        }
        std::string& name = state.intermediates[value.index];
        if (name.empty()) {
          const int like = rule.intermediate_shapes[static_cast<size_t>(value.index)];
          name = declare(stem_of(node) + ".rows", tensor_of(node, like).shape, InitialKind::kNone);
        }
        return name;
      });
  if (is_streaming_) dispatch.kernel = streaming_kernel_of(dispatch.kernel);
  append(node, "vjp", std::move(dispatch));
  for (const auto& [value, term] : terms) add_up(node, term, to.of[value].tensor);
}

// The tensor that a VJP dispatch writes for an input. What is to be added up after the dispatch is
// appended to `terms`.
std::string BackwardWriter::target_of(size_t node, int input, bool is_wanted, CotangentSet& from,
                                      CotangentSet& to,
                                      std::vector<std::pair<uint32_t, std::string>>& terms) {
  const uint32_t value = graph_.nodes[node].values[static_cast<size_t>(input)];
  const Shape& shape = tensor_of(node, input).shape;
  const std::string stem =
      fmt::format("d_{}{}", program_.name(program_.tensor(graph_.roots[value]).name), to.suffix);
  if (!is_wanted) {
    std::string& spare = from.node[node].spare[input];
    if (spare.empty()) spare = declare(stem + ".spare", shape, InitialKind::kNone);
    return spare;
  }
  Cotangent& cotangent = to.of[value];
  if (!cotangent.tensor.empty() && !cotangent.is_shared) {
    const std::string part = declare(stem + ".part", shape, InitialKind::kNone);
    terms.emplace_back(value, part);
    return part;
  }
  const std::string name = own(value, to);
  declare_as(name, shape_of(value), InitialKind::kNone);
  if (cotangent.is_shared) terms.emplace_back(value, cotangent.tensor);
  cotangent = {name, false};
  return shaped(name, shape);
}

void BackwardWriter::add(size_t node, uint32_t value, const std::string& tensor, CotangentSet& to) {
  Cotangent& cotangent = to.of[value];
  if (cotangent.tensor.empty()) {
    cotangent = {tensor, true};
    return;
  }
  if (!cotangent.is_shared) return add_up(node, tensor, cotangent.tensor);
  const std::string name = own(value, to);
  const Shape& shape = shape_of(value);
  declare_as(name, shape, InitialKind::kNone);
  DispatchDraft sum{.kernel = "add",
                    .operands = {{AccessMode::kRead, shaped(cotangent.tensor, shape)},
                                 {AccessMode::kRead, shaped(tensor, shape)},
                                 {AccessMode::kWrite, name}}};
  cotangent = {name, false};
  append(node, "sum", std::move(sum));
}

void BackwardWriter::add_up(size_t node, const std::string& term, const std::string& sum) {
  const std::string same_shape = shaped(term, shapes_.find(sum)->second);
  append(node, "sum",
         {.kernel = "accumulate",
          .operands = {{AccessMode::kRead, same_shape}, {AccessMode::kUpdate, sum}}});
}

void BackwardWriter::append(size_t node, std::string_view sort, DispatchDraft dispatch) {
  dispatch.label = labels_.claim_numbered(fmt::format("{}.{}", stem_of(node), sort));
  if (program_.has_program_order) dispatch.order = next_order_++;
  take_expansion(1 + dispatch.operands.size() + dispatch.attributes.size());
  dispatches_.emplace_back(std::move(dispatch));
}

std::vector<ItemDraft> BackwardWriter::finish() {
  for (const uint32_t value : graph_.wrt) {
    const Cotangent& cotangent = result_.of[value];
    const std::string& name = reserved_[value];
    if (cotangent.tensor.empty()) {
      const std::string zeros = own(value, result_);
      declare_as(zeros, shape_of(value), InitialKind::kZeros);
      result_.of[value] = {zeros, false};
    } else if (cotangent.is_shared && !name.empty()) {
      declare_as(name, shape_of(value), InitialKind::kNone);
      DispatchDraft copy{
          .label = labels_.claim(name + ".copy"),
          .kernel = "copy",
          .operands = {{AccessMode::kRead, cotangent.tensor}, {AccessMode::kWrite, name}}};
      if (program_.has_program_order) copy.order = next_order_++;
      dispatches_.emplace_back(std::move(copy));
      result_.of[value] = {name, false};
    }
  }
  for (size_t i = 0; i < graph_.wrt.size(); ++i) {
    if (is_own(i)) continue;
    append_tensor({.name = gradients_[i],
                   .shape = program_.tensor(graph_.wrt_tensors[i]).shape,
                   .placement = Placement::kView,
                   .base = result_.of[graph_.wrt[i]].tensor});
  }
  std::vector<ItemDraft> items = std::move(tensors_);
  items.insert(items.end(), std::make_move_iterator(dispatches_.begin()),
               std::make_move_iterator(dispatches_.end()));
  return items;
}

const Tensor& BackwardWriter::tensor_of(size_t node, int operand) const {
  const auto accesses = program_.accesses_of(graph_.nodes[node].dispatch);
  return program_.tensor(accesses[static_cast<size_t>(operand)].tensor);
}

const BackwardWriter::Shape& BackwardWriter::shape_of(uint32_t value) const {
  return program_.tensor(graph_.roots[value]).shape;
}

// The stem of labels for what is appended for a dispatch: its label, or kernel and number.
std::string BackwardWriter::stem_of(size_t node) const {
  const DispatchId id = graph_.nodes[node].dispatch;
  const Dispatch& dispatch = program_.dispatch(id);
  const NameId label = program_.statements[dispatch.statement.index].label;
  std::string stem = label.is_some()
                         ? std::string(program_.name(label))
                         : fmt::format("{}{}", program_.name(dispatch.kernel_name), id.index);
  // A dispatch of a replayed capture has '@' in its label.
  std::ranges::replace(stem, '@', '.');
  return stem;
}

}  // namespace interlock
