// ProgramBuilder: the rules that make a list of items a valid Program, and their error messages.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/name_table.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/written_backward.h"

namespace interlock {

// The part of an item that an error is about; the parser knows in which column it stands.
enum class ItemPart : uint8_t {
  kItem,
  kLabel,
  kName,  // Of a memory, tensor or capture; the loss of a backward pass.
  kSize,  // The bytes of a memory, the shape of a tensor.
  kBase,  // The memory or tensor that a tensor is placed in.
  kOffset,
  kInitial,
  kKernel,
  kOrder,
  kOperand,    // Of a dispatch, a barrier, an output or a backward pass, by position.
  kAttribute,  // By position.
  kFirst,      // The moved dispatch of a witness, the first of an expectation.
  kSlices,
  kSecond,  // The anchor of a witness, the second dispatch of an expectation.
  kEncoder,
  kMode,  // Of a backward pass.
};

struct ItemPlace {
  ItemPart part = ItemPart::kItem;
  size_t index = 0;  // Of kOperand and kAttribute.
};

// A capture that has not ended.
struct OpenCapture {
  NameId name;
  CaptureBody body;
  std::vector<TensorId> adopted;  // That nothing before it adopts into.
  uint64_t expansion_count = 0;   // What a replay adds, as Limits::expansion_count counts it.
};

// Who writes backward passes. The builder knows none: what is valid does not depend on how a
// gradient is computed.
struct BackwardSource {
  // Why there is no pass of this name, as a sentence without its first capital; none if there is.
  std::optional<std::string> (*name_error)(std::string_view mode);
  // As write_backward() of backward/backward.h.
  Result<WrittenBackward> (*write)(const Program& program, const BackwardDraft& request,
                                   BackwardRoom& room);
};

// Feed items in order, names before use; then finish() once. After an error the builder is as it
// was before the failed add, so that a lenient caller can skip the item and go on. Errors: complete
// sentences without a position; the parser adds it.
class ProgramBuilder {
 public:
  // Without `backwards` every backward pass is an error. Requires: it outlives this and its copies.
  explicit ProgramBuilder(Limits limits = {}, const BackwardSource* backwards = nullptr);

  Result<Success> add(const MemoryDraft& item);
  Result<Success> add(const TensorDraft& item);
  Result<Success> add(const OutputDraft& item);
  Result<Success> add(const DispatchDraft& item);
  Result<Success> add(const BarrierDraft& item);
  Result<Success> add(const LifetimeDraft& item);
  Result<Success> add(const CaptureDraft& item);
  Result<Success> add(const EndDraft& item);
  Result<Success> add(const ReplayDraft& item);
  Result<Success> add(const BackwardDraft& item);
  Result<Success> add(const WitnessDraft& item);
  Result<Success> add(const ExpectDraft& item);
  Result<Success> add(const ItemDraft& item);

  // What the error of the last failed add() is about.
  ItemPlace error_place() const { return error_place_; }

  // Forgets a capture that has not ended, and all that it records: for lenient callers, before
  // finish().
  void drop_open_capture();

  // Requires: called once, last. Errors: a capture has not ended.
  Result<Program> finish();

 private:
  Error fail_at(ItemPart part, size_t index, std::string message);
  template <typename... Arguments>
  Error fail_at(ItemPart part, size_t index, fmt::format_string<Arguments...> text,
                Arguments&&... arguments) {
    return fail_at(part, index, fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  Error fail(ItemPart part, std::string message) { return fail_at(part, 0, std::move(message)); }
  template <typename... Arguments>
  Error fail(ItemPart part, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    return fail_at(part, 0, text, std::forward<Arguments>(arguments)...);
  }
  NameId intern(std::string_view name) { return names_.add(program_.names, name); }
  NameMeaning meaning_of(std::string_view name) const {
    return names_.meaning_of(program_.names, name);
  }

  Result<Success> check_name(ItemPart part, std::string_view noun, std::string_view name);
  Result<Success> check_label(const std::string& label);
  void claim_label(const std::string& label, Statement& statement);
  Result<Success> check_room_for_statements(uint64_t added_count);
  void number_memories();

  // In program_builder_values.cc.
  Result<Success> check_room_for_memory();
  Result<Success> place(const TensorDraft& item, Tensor& tensor);
  Result<Success> place_nowhere(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor);
  Result<Success> place_in_memory(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor);
  Result<Success> place_in_tensor(const TensorDraft& item, uint64_t size_bytes, Tensor& tensor);
  Result<uint64_t> size_bytes_of_shape(const TensorDraft& item);
  Result<Success> check_initial_value(const TensorDraft& item, const Tensor& tensor);
  Result<Success> check_values(const TensorDraft& item, const Tensor& tensor);
  template <typename MeaningId>
  void offer_names(MeaningId NameMeaning::*sort, class NearestName& nearest);

  // In program_builder_dispatches.cc.
  Result<KernelId> kernel_of(const DispatchDraft& item);
  Result<Success> check_order(const DispatchDraft& item);
  void claim_order(uint64_t order);
  Result<Success> append_operands(const DispatchDraft& item);
  Result<Access> resolve(const OperandDraft& operand, size_t position);
  Result<Success> append_attributes(const DispatchDraft& item, Dispatch& dispatch);
  Result<Success> check_attribute_key(const DispatchDraft& item, size_t position);
  Result<Success> append_attribute(const DispatchDraft& item, size_t position, Dispatch& dispatch);
  Result<Success> check_line_length(const DispatchDraft& item);
  Result<Success> append_dispatch(const DispatchDraft& item, Dispatch& dispatch);

  // In program_builder_statements.cc.
  Result<Success> append_dependencies(const BarrierDraft& item, Barrier& barrier);
  Result<Success> check_line_length(const BarrierDraft& item);
  Error fail_unknown_label(ItemPart part, std::string_view noun, const std::string& reference);
  Result<DispatchId> find_dispatch(ItemPart part, const std::string& reference);
  Result<BarrierId> find_barrier(const ExpectDraft& item);
  Result<TensorId> find_expected_tensor(const ExpectDraft& item);
  Result<LifetimeId> find_lifetime(const ExpectDraft& item);
  Result<Success> set_expected_dispatches(const ExpectDraft& item, Expectation& expectation);

  // In program_builder_lifetimes.cc.
  Result<TensorId> find_value(const LifetimeDraft& item, ItemPart part, const std::string& name);
  Result<Success> resolve_lifetime(const LifetimeDraft& item, Lifetime& lifetime);
  Result<Success> check_adoption(const LifetimeDraft& item, const Lifetime& lifetime);
  void place_adopted_tensors();

  // In program_builder_groups.cc.
  Result<Success> check_not_recording(std::string_view noun);
  Result<Success> check_declaration(std::string_view noun);
  Result<Success> check_expansion_room(uint64_t expansion_count);
  Result<Success> check_group(std::string_view noun);
  Result<Success> check_backward(const BackwardDraft& item);
  Result<Success> append_backward(const BackwardDraft& item);
  Result<Success> check_replay(const CaptureBody& body, uint32_t number);
  void record(StatementDraft statement);
  Result<Success> record_lifetime(const LifetimeDraft& item, const Lifetime& lifetime);
  uint64_t label_room_bytes() const;

  Limits limits_;
  const BackwardSource* backwards_;
  Program program_;
  ItemPlace error_place_;
  NameTable names_;
  // Disjoint ranges with initial values: (memory, begin) to the tensor.
  std::map<std::pair<MemoryId, uint64_t>, TensorId> initial_ranges_;
  // The numbers given by `order=`, as disjoint runs: first to last, both included. Recorded streams
  // have few runs, whatever their length.
  std::map<uint64_t, uint64_t> order_runs_;
  std::vector<bool> is_raw_operand_;  // By memory: some dispatch names the memory itself.
  std::vector<bool> is_output_;       // By tensor.
  bool has_late_memory_ = false;      // A memory is declared after an unplaced tensor.
  // By tensor without a source, for all that views or donates it too.
  std::vector<TensorId> base_of_;       // By tensor: the one that its sources end at.
  std::vector<bool> is_in_use_;         // An operand, or something that is adopted or freed.
  std::vector<bool> has_initial_;       // One of them has an initial value.
  std::vector<TensorId> adopted_from_;  // None: it is not adopted.
  std::map<TensorId, uint32_t> pin_counts_;
  std::vector<MemoryId> dropped_memories_;  // Of tensors that are adopted into.
  bool has_adoption_ = false;
  std::optional<OpenCapture> open_capture_;
  std::vector<uint64_t> expansion_counts_;  // By capture, of one replay.
  std::vector<uint32_t> replay_counts_;     // By capture.
  uint64_t expansion_count_ = 0;            // Of all replays and backward passes.
  uint64_t backward_try_count_ = 0;         // Those that did not fit, too. So the next two.
  uint64_t failed_expansion_count_ = 0;     // What passes would have added that did not fit.
  uint64_t rewalk_count_ = 0;
  bool is_in_backward_ = false;  // What is added is of a backward pass.
  uint64_t recorded_count_ = 0;  // Statements in captures.
  uint32_t group_count_ = 0;     // Captures, replays and backward passes.
  // A hostile program must not make every one of its errors scan all names.
  int advice_left_ = 8;
};

}  // namespace interlock
