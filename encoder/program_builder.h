// ProgramBuilder: the rules that make a list of items a valid Program, and their error messages.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "encoder/draft.h"
#include "encoder/limits.h"
#include "encoder/program.h"
#include "encoder/result.h"

namespace interlock {

// Feed items in order, names before use; then finish() once. After an error the builder is as it
// was before the failed add, so that a lenient caller can skip the item and go on.
// Errors: complete sentences without a position; the parser adds it.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(Limits limits = {});

  Result<Success> add(const MemoryDraft& item);
  Result<Success> add(const TensorDraft& item);
  Result<Success> add(const OutputDraft& item);
  Result<Success> add(const DispatchDraft& item);
  Result<Success> add(const BarrierDraft& item);
  Result<Success> add(const WitnessDraft& item);
  Result<Success> add(const ExpectDraft& item);
  Result<Success> add(const ItemDraft& item);

  // Checks what concerns the whole program: overlapping initial values, `order=` on all or none.
  // Requires: called once, last.
  Result<Program> finish();

 private:
  NameId intern(std::string_view name);
  Result<Success> claim_label(const std::string& label);
  Result<Access> resolve(const OperandDraft& operand) const;
  Result<DispatchId> find_dispatch(const std::string& reference) const;
  Result<Success> append_attributes(const DispatchDraft& item, Dispatch& dispatch);
  Result<Success> check_operands(const DispatchDraft& item) const;

  Limits limits_;
  Program program_;
  // Ordered maps: iteration order must not depend on a hash seed.
  std::map<std::string, NameId, std::less<>> name_ids_;
  std::map<std::string, MemoryId, std::less<>> memories_;
  std::map<std::string, TensorId, std::less<>> tensors_;
  std::map<std::string, StatementId, std::less<>> labels_;
};

// Builds all items of `draft`. Errors: the first item that does not fit.
Result<Program> build(const ProgramDraft& draft, const Limits& limits = {});

}  // namespace interlock
