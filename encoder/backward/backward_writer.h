// BackwardWriter: what all backward passes do alike. It runs the VJP rule of a dispatch, adds up
// cotangents where a value is used more than once, and finds names and shapes for all of it. A pass
// decides which rules run, in which order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/backward/backward.h"
#include "encoder/backward/backward_graph.h"
#include "encoder/program/draft.h"
#include "encoder/program/fresh_names.h"

namespace interlock {

// What a value's cotangent is in so far.
struct Cotangent {
  std::string tensor;  // Empty: nothing has reached the value.
  bool is_shared =
      false;  // The tensor is the cotangent of another value too: nobody may add to it.
};

// The cotangents of one walk over the graph. A pass that walks twice has two.
struct CotangentSet {
  // What a rule has left behind, in case the pass comes back for its other inputs.
  struct NodeState {
    std::vector<bool> is_written;              // By dispatch of the rule.
    std::map<int, std::string> intermediates;  // By number.
    std::map<int, std::string> spare;          // Gradients that nobody asked for, by operand.
  };

  std::string suffix;           // Of the names of its tensors, after "d_NAME".
  std::vector<Cotangent> of;    // By value.
  std::vector<NodeState> node;  // By node of the graph.
};

class BackwardWriter {
 public:
  // Requires: all outlive this.
  BackwardWriter(const Program& program, const BackwardGraph& graph, BackwardRoom& room);

  const Program& program() const { return program_; }
  const BackwardGraph& graph() const { return graph_; }

  // The set that holds the loss's cotangent from the start, and in the end the result.
  CotangentSet& result() { return result_; }
  CotangentSet new_set(std::string suffix) const;

  // Runs the rule of a node: from the cotangents of its outputs in `from` to those of these
  // operands, of node.inputs, in `to`. What ran before with the same `from` does not run again.
  // Outputs without a cotangent in `from` have zeros.
  void run(size_t node, const std::vector<int>& inputs, CotangentSet& from, CotangentSet& to);

  // Adds the cotangent `tensor` of a value to what `to` has of it. `node` names the dispatch.
  void add(size_t node, uint32_t value, const std::string& tensor, CotangentSet& to);

  // Takes room for so many visits of dispatches beyond one each. Returns whether there is.
  bool take_rewalks(uint64_t count);

  // Why there is no room. From then on nothing more is written.
  const std::optional<Error>& error() const { return error_; }

  // From here on the streaming kernels stand in for softmax_vjp and rms_norm_vjp.
  void use_streaming_kernels() { is_streaming_ = true; }

  // Requires: called once, after all that runs; no error.
  std::vector<ItemDraft> finish();

  // The names of the gradients, in the order in which they were asked for.
  const std::vector<std::string>& gradients() const { return gradients_; }

 private:
  using Shape = std::vector<uint64_t>;

  void take_expansion(uint64_t count);
  void append_tensor(TensorDraft tensor);
  void name_gradients();
  bool is_own(size_t i) const;
  std::string declare(const std::string& wanted, const Shape& shape, InitialKind initial);
  void declare_as(const std::string& name, const Shape& shape, InitialKind initial);
  std::string shaped(const std::string& tensor, const Shape& shape);
  std::string own(uint32_t value, CotangentSet& set);
  std::string cotangent_of(size_t node, int output, CotangentSet& from);
  void run_dispatch(size_t node, size_t position, const std::vector<int>& inputs,
                    CotangentSet& from, CotangentSet& to);
  std::string target_of(size_t node, int input, bool is_wanted, CotangentSet& from,
                        CotangentSet& to, std::vector<std::pair<uint32_t, std::string>>& terms);
  void add_up(size_t node, const std::string& term, const std::string& sum);
  void append(size_t node, std::string_view sort, DispatchDraft dispatch);
  const Tensor& tensor_of(size_t node, int operand) const;
  const Shape& shape_of(uint32_t value) const;
  std::string stem_of(size_t node) const;

  const Program& program_;
  const BackwardGraph& graph_;
  BackwardRoom& room_;
  std::optional<Error> error_;
  FreshNames names_;  // Of tensors.
  FreshNames labels_;
  CotangentSet result_;
  std::vector<std::string> reserved_;  // By value: the name of its gradient, if that was asked for.
  std::map<std::string, Shape, std::less<>> shapes_;  // Of declared tensors.
  std::map<std::pair<std::string, Shape>, std::string> views_;
  std::vector<ItemDraft> tensors_;
  std::vector<ItemDraft> dispatches_;
  std::vector<std::string> gradients_;
  uint64_t next_order_ = 0;
  bool is_streaming_ = false;
};

}  // namespace interlock
