// LineReader: the grammar. Turns one line of text into one item, and knows where its parts stand.
// What an item means in its program is the builder's business.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/build/program_builder.h"
#include "encoder/program/draft.h"
#include "encoder/text/lexer.h"

namespace interlock {

class LineReader {
 public:
  // Reads `line`, which has no newline. Returns false if it is no statement of the format; then
  // error_column() and error_message() say why.
  bool read(std::string_view line);

  // As read(), for the first statement of a file.
  bool read_header(std::string_view line);

  // From now on 'after' is an operand like others where no queue is named: one is declared.
  void take_after_for_a_name() { after_is_a_name_ = true; }

  // The item of the last line read; none of a blank one.
  const std::optional<ItemDraft>& item() const { return item_; }

  // Where a part of that item stands; where the item begins if it has no such part.
  uint32_t column_of(ItemPlace place) const;

  uint32_t error_column() const { return error_column_; }
  const std::string& error_message() const { return error_message_; }

 private:
  template <typename... Arguments>
  bool fail(const Token& token, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    error_column_ = token.column;
    error_message_ = fmt::format(text, std::forward<Arguments>(arguments)...);
    return false;
  }
  bool fail_expecting(const Token& token, std::string_view expected);
  void mark(ItemPart part, const Token& token);

  bool read_needs();  // Of the header, the next word: "needs".
  bool read_statement(Token first);
  template <typename Draft, typename... Rest>
  bool read_as(const Rest&... rest) {
    return read_rest(std::get<Draft>(item_.emplace(std::in_place_type<Draft>)), rest...);
  }

  // Each reads what stands after the first word.
  bool read_rest(MemoryDraft& memory);
  bool read_rest(TensorDraft& tensor);
  bool read_shape(TensorDraft& tensor);
  bool read_placement(TensorDraft& tensor);
  bool read_initial_value(DType dtype, InitialValue& initial);
  bool read_initial_values(DType dtype, std::vector<double>& values);
  bool read_rest(OutputDraft& output);
  bool read_rest(CaptureDraft& capture);
  bool read_rest(EndDraft& end);
  bool read_rest(ReplayDraft& replay);
  bool read_rest(BackwardDraft& backward);

  // In line_reader_queues.cc.
  bool read_rest(QueueDraft& queue);
  bool read_rest(SemaphoreDraft& semaphore);
  bool read_rest(SyncDraft& sync, SyncKind kind);
  bool read_host();
  bool read_rest(HostAccessDraft& access, HostAccess kind);
  bool read_semaphores(SyncDraft& sync);
  bool read_semaphore_use(SemaphoreUseDraft& use, std::string_view stages_word);
  bool read_stages(StageMask& stages);
  bool read_event(SyncDraft& sync);
  bool read_host_values(InitialValue& value);
  bool read_host_operands(std::vector<OperandDraft>& operands);
  // Reads "on NAME" if it stands there, then the end of the line.
  bool read_queue_and_end(std::string& queue);
  bool read_queue(std::string& queue);

  // In line_reader_statements.cc.
  bool read_rest(DispatchDraft& dispatch);
  bool read_stage(DispatchDraft& dispatch);
  bool read_order(DispatchDraft& dispatch);
  bool read_operands(DispatchDraft& dispatch);
  bool fail_out_of_order(const Token& clause);
  bool read_operand(const Token& name, OperandDraft& operand);
  bool read_attribute(const Token& key, DispatchDraft& dispatch);
  bool read_rest(BarrierDraft& barrier);
  bool read_barrier_rest(BarrierKind& kind, std::vector<DependencyDraft>& dependencies,
                         std::string& queue);
  bool read_edges(DispatchDraft& dispatch);
  bool stands_before_queue() const;
  bool read_dependency(DependencyDraft& dependency);
  bool read_scope(Scope& scope);
  bool read_rest(LifetimeDraft& lifetime, LifetimeKind kind);
  bool read_rest(WitnessDraft& witness);
  bool read_rest(ExpectDraft& expect);
  bool read_expected_finding(const Token& word, ExpectDraft& expect);

  bool take(char punctuation, std::string_view where);
  bool take_word(std::string_view word, std::string_view what);
  bool take_name(std::string_view what, ItemPart part, std::string& name);
  bool take_number(std::string_view what, uint64_t& number);
  bool take_range(uint64_t& begin, uint64_t& end);
  bool read_slice(OperandDraft& operand);
  bool take_reference(ItemPart part, std::string& reference);
  bool take_statement_number(ItemPart part, const Token& at, std::string& reference);
  bool take_end();

  bool after_is_a_name_ = false;
  Lexer lexer_;
  std::string label_;
  std::optional<ItemDraft> item_;

  std::array<uint32_t, kItemPartCount> columns_{};
  std::vector<uint32_t> operand_columns_;
  std::vector<uint32_t> attribute_columns_;
  std::vector<uint32_t> after_columns_;
  uint32_t error_column_ = 0;
  std::string error_message_;
};

}  // namespace interlock
