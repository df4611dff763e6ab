// A hazard is between two dispatches and the barriers between them; whatever else stands there can
// only be needed for what the order says of scoped barriers, or hide other hazards of the two. What
// a value finding depends on are the writes of its bytes and the statements on its memory, the
// latest ones most likely.
#include "fuzz/minimize/slice.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

// What a slice has besides the statements that the finding names.
struct SliceWidth {
  enum class Kind : uint8_t { kTouching, kBetween, kBefore };
  Kind kind;
  size_t touching_max = 0;  // The last so many statements on the bytes of the finding.
};

constexpr SliceWidth kWidths[] = {
    {SliceWidth::Kind::kTouching, 0},
    {SliceWidth::Kind::kTouching, 16},
    {SliceWidth::Kind::kTouching, 256},
    {SliceWidth::Kind::kTouching, 4096},
    {SliceWidth::Kind::kTouching, SIZE_MAX},
    {SliceWidth::Kind::kBetween},
    {SliceWidth::Kind::kBefore},
};

// A slice that takes more steps to execute is tried with less memory first.
constexpr uint64_t kQuickStepsMax = 1 << 26;
// Of a slice of more items it is not the memory that takes long.
constexpr size_t kCloseGapsItemsMax = 4096;

class Slicer {
 public:
  Slicer(const Program& program, const Fact& fact) : program_(program) {
    name(fact);
    std::ranges::sort(named_);
    named_.erase(std::unique(named_.begin(), named_.end()), named_.end());
    if (named_.empty()) return;
    const FactPlace place = place_of(program, fact);
    memory_ = place.memory;
    bytes_ = place.overlap;
    const auto* const lifetime = std::get_if<LifetimeFinding>(&fact);
    const bool is_of_end = lifetime != nullptr && !lifetime->reader.dispatch.is_some();
    for (const TensorId output : program.outputs) {
      const bool is_read = is_of_end && program.tensor(output).root == lifetime->tensor;
      if (is_read) outputs_.push_back(output);
    }
    const auto* const read = std::get_if<ReorderedRead>(&fact);
    if (is_of_end || (read != nullptr && !read->reader.is_some())) {
      last_ = static_cast<uint32_t>(program.statements.size()) - 1;
    } else {
      last_ = named_.back();
    }
  }

  bool has_slices() const { return !named_.empty(); }

  std::vector<StatementId> statements_of(SliceWidth width) const {
    std::vector<uint32_t> kept = named_;
    if (width.kind != SliceWidth::Kind::kTouching) {
      const bool is_between = width.kind == SliceWidth::Kind::kBetween;
      for (uint32_t i = is_between ? named_.front() : 0; i <= last_; ++i) kept.push_back(i);
    } else {
      size_t left = width.touching_max;
      for (uint32_t i = last_ + 1; i-- > 0 && left > 0;) {
        if (is_stopped_at(i)) break;
        if (!touches(program_.statements[i])) continue;
        kept.push_back(i);
        --left;
      }
    }
    std::ranges::sort(kept);
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return with_barriers(kept);
  }

  const std::vector<TensorId>& outputs() const { return outputs_; }

 private:
  void name(DispatchId id) {
    if (id.is_some()) named_.push_back(program_.dispatch(id).statement.index);
  }
  void name(LifetimeId id) {
    if (id.is_some()) named_.push_back(program_.lifetimes[id.index].statement.index);
  }

  void name(const Fact& fact) {
    if (const auto* hazard = std::get_if<Hazard>(&fact)) {
      name(hazard->first.dispatch);
      name(hazard->second.dispatch);
    } else if (const auto* violation = std::get_if<AliasViolation>(&fact)) {
      name(violation->dispatch);
    } else if (const auto* undeclared = std::get_if<UndeclaredAccess>(&fact)) {
      name(undeclared->access.dispatch);
    } else if (const auto* read = std::get_if<ReorderedRead>(&fact)) {
      name(read->reader);
      name(read->seen_writer);
      name(read->right_writer);
    } else if (const auto* finding = std::get_if<LifetimeFinding>(&fact)) {
      name(finding->reader.dispatch);
      name(finding->overwriter.dispatch);
      name(finding->ended_by);
      name(finding->ended_at);
    }
  }

  // Barriers come in with_barriers(); ends of command buffers matter to nobody.
  bool touches(const Statement& statement) const {
    if (statement.kind == StatementKind::kLifetime) {
      return program_.lifetimes[statement.index].memory == memory_;
    }
    if (statement.kind != StatementKind::kDispatch) return false;
    const std::span<const Access> accesses = program_.accesses_of(DispatchId(statement.index));
    return std::ranges::any_of(accesses, [&](const Access& access) {
      return access.memory == memory_ && share_a_byte(access.range, bytes_);
    });
  }

  // Whether a barrier right after another does nothing that the first has not done.
  bool is_repeated(uint32_t barrier, uint32_t earlier) const {
    const BarrierKind kind = program_.barriers[barrier].kind;
    return kind != BarrierKind::kScoped && kind == program_.barriers[earlier].kind;
  }

  // Requires: `kept` rise.
  std::vector<StatementId> with_barriers(const std::vector<uint32_t>& kept) const {
    std::vector<StatementId> statements;
    size_t next = 0;
    bool follows_barrier = false;
    uint32_t barrier = 0;  // The one before, if it does.
    for (uint32_t i = kept.front(); next < kept.size(); ++i) {
      if (is_stopped_at(i)) break;
      const Statement& statement = program_.statements[i];
      const bool is_kept = kept[next] == i;
      next += is_kept;
      const bool is_barrier = statement.kind == StatementKind::kBarrier;
      if (!is_kept && !is_barrier) continue;
      if (is_barrier && follows_barrier && is_repeated(statement.index, barrier)) continue;
      follows_barrier = is_barrier;
      barrier = statement.index;
      statements.push_back(StatementId(i));
    }
    return statements;
  }

  const Program& program_;
  std::vector<uint32_t> named_;  // Statements.
  std::vector<TensorId> outputs_;
  MemoryId memory_;
  ByteRange bytes_;
  uint32_t last_ = 0;  // No slice goes on behind it.
};

// A label that a replay gives cannot be written.
void drop_labels_of_replays(ProgramDraft& draft) {
  const auto drop = [](auto& statement) {
    if (statement.label.find('@') != std::string::npos) statement.label.clear();
  };
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) drop(*dispatch);
    if (auto* barrier = std::get_if<BarrierDraft>(&item)) drop(*barrier);
    if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) drop(*lifetime);
  }
}

// The forms of for_each_slice(); one that cannot be built is left out.
std::vector<Program> forms_of(const ProgramDraft& draft) {
  std::vector<Program> forms;
  const auto add = [&forms](Result<Program> program) {
    if (program) forms.push_back(std::move(program).value());
  };
  Result<Program> as_it_is = build(draft);
  const bool is_slow = !as_it_is || execution_steps(*as_it_is) > kQuickStepsMax;
  if (is_slow && draft.items.size() <= kCloseGapsItemsMax) {
    add(build(with_closed_gaps(draft, true)));
    add(build(with_closed_gaps(draft, false)));
  }
  add(std::move(as_it_is));
  return forms;
}

}  // namespace

bool for_each_slice(const Program& program, const Fact& fact,
                    const std::function<bool(std::span<const Program> forms)>& visit) {
  const Slicer slicer(program, fact);
  if (!slicer.has_slices()) return false;
  size_t last_size = 0;
  for (const SliceWidth width : kWidths) {
    const std::vector<StatementId> statements = slicer.statements_of(width);
    if (is_stopped() || statements.size() == program.statements.size()) return false;
    if (statements.size() == last_size) continue;
    last_size = statements.size();
    ProgramDraft draft = draft_of(program, {statements, slicer.outputs()});
    drop_labels_of_replays(draft);
    if (visit(forms_of(draft))) return true;
  }
  return false;
}

}  // namespace interlock
