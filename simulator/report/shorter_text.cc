#include "simulator/report/shorter_text.h"

#include <cstddef>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

void cut(Scope goes, Scope& scope) {
  scope.stages = static_cast<StageMask>(scope.stages & ~goes.stages);
  scope.accesses = static_cast<AccessMask>(scope.accesses & ~goes.accesses);
}

// Which of the operands that the text has. Rows of one are several in the program.
// `first` is the first one in the program.
std::ptrdiff_t position_of_operand(const Program& program, const SyncPiece& word, uint32_t first) {
  std::ptrdiff_t position = 0;
  for (uint32_t i = first + 1; i <= word.operand; ++i) {
    const uint32_t stride = program.barrier_operands[i].stride;
    const bool is_row =
        stride != Access::kNotStrided && program.barrier_operands[i - 1].stride == stride;
    position += !is_row;
  }
  return position;
}

class ShorterStatement {
 public:
  ShorterStatement(const Program& program, const SyncPiece& word)
      : program_(program), word_(word) {}

  void cut_from(BarrierDraft& barrier) const {
    const Statement& statement = program_.statements[word_.statement.index];
    cut_dependencies(program_.barriers[statement.index].first_dependency, barrier.kind,
                     barrier.dependencies);
  }

  void cut_from(SyncDraft& sync) const {
    const SyncStep& step = program_.syncs[program_.statements[word_.statement.index].index];
    if (step.kind == SyncKind::kSet) {
      cut_dependencies(step.first, sync.barrier_kind, sync.dependencies);
      return;
    }
    if (word_.is_of_host_move()) {
      sync.operands.erase(sync.operands.begin() + position_of_operand(program_, word_, step.first));
      return;
    }
    if (word_.kind == SyncPieceKind::kQueue) {
      sync.queue = program_.name_of(word_.queue);
      return;
    }
    if (word_.kind == SyncPieceKind::kValue) {
      sync.semaphores.front().value = program_.signal_parts[word_.lower].value;
      return;
    }
    const size_t use = word_.part == SyncPiece::kNone ? 0 : word_.part - step.first;
    StageMask& stages = sync.semaphores[use].stages;
    stages = static_cast<StageMask>(stages & ~word_.cut.stages);
  }

  template <typename Other>
  void cut_from(Other& /*other*/) const {}

 private:
  void cut_dependencies(uint32_t first, BarrierKind& kind,
                        std::vector<DependencyDraft>& dependencies) const {
    if (word_.kind == SyncPieceKind::kMemory) {
      kind = BarrierKind::kExecution;
      return;
    }
    const auto at = dependencies.begin() + static_cast<std::ptrdiff_t>(word_.dependency - first);
    if (word_.kind == SyncPieceKind::kDependency) {
      dependencies.erase(at);
    } else if (word_.kind == SyncPieceKind::kOperand) {
      const uint32_t first_operand = program_.dependencies[word_.dependency].first_operand;
      at->operands.erase(at->operands.begin() +
                         position_of_operand(program_, word_, first_operand));
    } else {
      cut(word_.cut, word_.is_source ? at->source : at->destination);
    }
  }

  const Program& program_;
  const SyncPiece& word_;
};

}  // namespace

std::string shorter_text_of(const Program& program, const SyncPiece& word) {
  Statement unlabelled = program.statements[word.statement.index];
  unlabelled.label = NameId();
  ItemDraft item = draft_of(program, unlabelled);
  const ShorterStatement shorter(program, word);
  std::visit([&shorter](auto& draft) { shorter.cut_from(draft); }, item);
  return print(item);
}

}  // namespace interlock
