// LineReader: the grammar. Turns one line of text into one item, and knows where its parts stand.
// What an item means in its program is the builder's business.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/build/program_builder.h"
#include "encoder/program/draft.h"
#include "encoder/text/lexer.h"

namespace interlock {

enum class LineKind : uint8_t {
  kBlank,
  kMemory,
  kTensor,
  kOutput,
  kDispatch,
  kBarrier,
  kLifetime,
  kCapture,
  kEndOfCapture,
  kReplay,
  kBackward,
  kWitness,
  kExpect,
};

class LineReader {
 public:
  // Reads `line`, which has no newline. Returns false if it is no statement of the format; then
  // error_column() and error_message() say why.
  bool read(std::string_view line);

  // As read(), for the first statement of a file.
  bool read_header(std::string_view line);

  // Of the last line read. The buffers are used again by the next read().
  LineKind kind() const { return kind_; }
  const MemoryDraft& memory() const { return memory_; }
  const TensorDraft& tensor() const { return tensor_; }
  const OutputDraft& output() const { return output_; }
  const DispatchDraft& dispatch() const { return dispatch_; }
  const BarrierDraft& barrier() const { return barrier_; }
  const LifetimeDraft& lifetime() const { return lifetime_; }
  const CaptureDraft& capture() const { return capture_; }
  const ReplayDraft& replay() const { return replay_; }
  const BackwardDraft& backward() const { return backward_; }
  const WitnessDraft& witness() const { return witness_; }
  const ExpectDraft& expect() const { return expect_; }

  uint32_t column_of(ItemPlace place) const;

  uint32_t error_column() const { return error_column_; }
  const std::string& error_message() const { return error_message_; }

 private:
  bool fail(const Token& token, std::string message);
  bool fail_expecting(const Token& token, std::string_view expected);
  bool fail_later(const Token& token);
  void mark(ItemPart part, const Token& token);

  bool read_statement(Token first);
  bool read_memory();
  bool read_tensor();
  bool read_shape();
  bool read_placement();
  bool read_initial_value();
  bool read_initial_values();
  bool read_output();
  bool read_dispatch();
  bool read_order();
  bool read_operands();
  bool read_operand(const Token& name, OperandDraft& operand);
  bool read_attribute(const Token& key);
  bool read_barrier();
  bool read_dependency();
  bool read_scope(Scope& scope);
  bool read_lifetime(LifetimeKind kind);
  bool read_capture();
  bool read_end();
  bool read_replay();
  bool read_backward();
  bool read_witness();
  bool read_expect();
  bool read_expected_finding(const Token& word);

  bool take(char punctuation, std::string_view where);
  bool take_name(std::string_view what, ItemPart part, std::string& name);
  bool take_number(std::string_view what, uint64_t& number);
  bool take_range(uint64_t& begin, uint64_t& end);
  bool take_reference(ItemPart part, std::string& reference);
  bool take_end();

  Lexer lexer_;
  LineKind kind_ = LineKind::kBlank;
  std::string label_;
  MemoryDraft memory_;
  TensorDraft tensor_;
  OutputDraft output_;
  DispatchDraft dispatch_;
  BarrierDraft barrier_;
  LifetimeDraft lifetime_;
  CaptureDraft capture_;
  ReplayDraft replay_;
  BackwardDraft backward_;
  WitnessDraft witness_;
  ExpectDraft expect_;

  std::array<uint32_t, static_cast<size_t>(ItemPart::kMode) + 1> columns_{};
  std::vector<uint32_t> operand_columns_;
  std::vector<uint32_t> attribute_columns_;
  uint32_t error_column_ = 0;
  std::string error_message_;
};

}  // namespace interlock
