// The basic idea is a map from the bytes of the memory to the values that hold them now.
#include "encoder/plan/unplan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

class Unplanner {
 public:
  Unplanner(const Program& program, MemoryId memory) : program_(program), memory_(memory) {
    for (const Memory& other : program.memories) names_.insert(program.name(other.name));
    for (const Tensor& tensor : program.tensors) names_.insert(program.name(tensor.name));
  }

  Result<Program> run();

 private:
  // Some bytes of a value, by where in the memory they are.
  struct Piece {
    uint64_t end = 0;
    uint32_t value = 0;
    uint64_t offset_bytes = 0;  // In the value.
  };
  struct Value {
    std::string name;
    uint64_t size_bytes = 0;
    bool is_input = false;
    bool is_read = false;  // Since it was changed last.
  };

  bool is_ours(const Access& access) const { return access.memory == memory_; }
  void rewrite(const Dispatch& dispatch, DispatchDraft& draft);
  void append_pieces(const OperandDraft& operand, ByteRange range, DispatchDraft& draft);
  void begin_value(ByteRange range, bool is_undeclared, DispatchDraft& draft);
  void fill_gaps(ByteRange range);
  void cut(uint64_t at);
  uint32_t add_value(uint64_t size_bytes, bool is_input);
  void append_values(ProgramDraft& draft);

  const Program& program_;
  const MemoryId memory_;
  std::set<std::string_view> names_;
  std::vector<Value> values_;
  std::map<uint64_t, Piece> pieces_;
};

uint32_t Unplanner::add_value(uint64_t size_bytes, bool is_input) {
  std::string name = fmt::format("{}{}", is_input ? "in" : "v", values_.size());
  while (names_.count(name) > 0) name += "_";
  values_.push_back({std::move(name), size_bytes, is_input, false});
  return static_cast<uint32_t>(values_.size() - 1);
}

void Unplanner::cut(uint64_t at) {
  auto piece = pieces_.upper_bound(at);
  if (piece == pieces_.begin()) return;
  --piece;
  if (piece->first == at || piece->second.end <= at) return;
  Piece second = piece->second;
  second.offset_bytes += at - piece->first;
  piece->second.end = at;
  pieces_.emplace(at, second);
}

// Bytes that nobody has written hold what the program was given.
void Unplanner::fill_gaps(ByteRange range) {
  for (uint64_t at = range.begin; at < range.end;) {
    auto piece = pieces_.upper_bound(at);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > at) {
      at = std::prev(piece)->second.end;
      continue;
    }
    const uint64_t end = piece == pieces_.end() ? range.end : std::min(range.end, piece->first);
    const uint32_t value = add_value(end - at, true);
    pieces_.emplace(at, Piece{end, value, 0});
    at = end;
  }
}

// Names the values that hold `range` instead of it.
void Unplanner::append_pieces(const OperandDraft& operand, ByteRange range, DispatchDraft& draft) {
  fill_gaps(range);
  cut(range.begin);
  cut(range.end);
  const bool only_reads = operand.mode <= AccessMode::kRead;
  // Neighbours that are one run of a value are one operand: cuts need not show.
  for (auto piece = pieces_.lower_bound(range.begin);
       piece != pieces_.end() && piece->first < range.end; ++piece) {
    // One operand too many is enough for an error; hostile ranges have very many pieces.
    if (draft.operands.size() > Limits().access_count_per_dispatch) return;
    Value& value = values_[piece->second.value];
    value.is_read = only_reads;  // What an update makes is yet to be read.
    const uint64_t begin = piece->second.offset_bytes;
    const ByteRange slice{begin, begin + piece->second.end - piece->first};
    OperandDraft* const last = draft.operands.empty() ? nullptr : &draft.operands.back();
    const bool continues_last = last != nullptr && piece->first != range.begin &&
                                last->name == value.name && last->slice->end == slice.begin;
    if (continues_last) {
      last->slice->end = slice.end;
    } else {
      draft.operands.push_back({operand.mode, value.name, slice, operand.is_undeclared});
    }
  }
}

void Unplanner::begin_value(ByteRange range, bool is_undeclared, DispatchDraft& draft) {
  const uint32_t value = add_value(range.size_bytes(), false);
  draft.operands.push_back(
      {AccessMode::kWrite, values_[value].name, ByteRange{0, range.size_bytes()}, is_undeclared});
  cut(range.begin);
  cut(range.end);
  pieces_.erase(pieces_.lower_bound(range.begin), pieces_.lower_bound(range.end));
  pieces_.emplace(range.begin, Piece{range.end, value, 0});
}

// Reads come first: a dispatch reads all that it reads before it writes.
void Unplanner::rewrite(const Dispatch& dispatch, DispatchDraft& draft) {
  const std::vector<OperandDraft> operands = std::move(draft.operands);
  draft.operands.clear();
  const auto accesses = program_.accesses_of(dispatch);
  const auto begins_value = [&](const Access& access) {
    return is_ours(access) && access.mode == AccessMode::kWrite && !dispatch.is_partial;
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_ours(accesses[i])) {
      draft.operands.push_back(operands[i]);
    } else if (!begins_value(accesses[i])) {
      append_pieces(operands[i], accesses[i].range, draft);
    }
  }
  for (const Access& access : accesses) {
    if (begins_value(access) && !access.range.is_empty())
      begin_value(access.range, access.is_undeclared, draft);
  }
  std::stable_sort(draft.operands.begin(), draft.operands.end(), stands_before);
}

void Unplanner::append_values(ProgramDraft& draft) {
  OutputDraft outputs;
  for (const Value& value : values_) {
    draft.items.emplace_back(
        TensorDraft{.name = value.name,
                    .dtype = DType::kU8,
                    .shape = {value.size_bytes},
                    .placement = Placement::kUnplaced,
                    .initial = {value.is_input ? InitialKind::kIota : InitialKind::kNone}});
    if (!value.is_read) outputs.tensors.push_back(value.name);
  }
  if (!program_.outputs.empty()) return;
  for (const std::string& name : outputs.tensors) draft.items.emplace_back(OutputDraft{{name}});
}

Result<Program> Unplanner::run() {
  ProgramDraft source = expanded_draft_of(program_);
  std::vector<ItemDraft> dispatches;
  ProgramDraft result;
  size_t next = 0;
  for (ItemDraft& item : source.items) {
    if (is_stopped()) return Error{"Finding the graph was stopped."};
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
      rewrite(program_.dispatches[next++], *dispatch);
      dispatches.push_back(std::move(item));
      continue;
    }
    const auto* const memory = std::get_if<MemoryDraft>(&item);
    const bool is_the_memory =
        memory != nullptr && memory->name == program_.name(program_.memory(memory_).name);
    const bool is_kept = (memory != nullptr && !is_the_memory) ||
                         std::holds_alternative<TensorDraft>(item) ||
                         std::holds_alternative<OutputDraft>(item);
    if (is_kept) result.items.push_back(std::move(item));
  }
  append_values(result);
  // Whole values go without a slice.
  std::map<std::string_view, uint64_t> sizes;
  for (const Value& value : values_) sizes.emplace(value.name, value.size_bytes);
  for (ItemDraft& item : dispatches) {
    for (OperandDraft& operand : std::get<DispatchDraft>(item).operands) {
      const auto size = sizes.find(operand.name);
      if (size != sizes.end() && operand.slice == ByteRange{0, size->second}) operand.slice.reset();
    }
    result.items.push_back(std::move(item));
  }
  return build(result);
}

}  // namespace

Result<Program> unplan(const Program& program, const std::string& memory) {
  for (size_t i = 0; i < program.memories.size(); ++i) {
    if (program.memories[i].is_implicit || program.name(program.memories[i].name) != memory) {
      continue;
    }
    for (const Tensor& tensor : program.tensors) {
      if (tensor.memory.index != i) continue;
      return error_of("tensor {} is placed in memory {}; a graph is found behind raw ranges only.",
                      in_quotes(program.name(tensor.name)), in_quotes(memory));
    }
    return Unplanner(program, MemoryId(i)).run();
  }
  return error_of("the program has no memory {} to find the graph behind.", in_quotes(memory));
}

}  // namespace interlock
