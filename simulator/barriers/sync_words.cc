#include "simulator/barriers/sync_words.h"

namespace interlock {
namespace {

uint32_t size_of(const std::vector<SyncPiece>& pieces) {
  return static_cast<uint32_t>(pieces.size());
}

// The words of the dependencies of one barrier, of one set, or of the stages of a signal or a wait.
class WordList {
 public:
  WordList(const Program& program, StatementId statement, std::vector<SyncPiece>& pieces)
      : program_(program), statement_(statement), pieces_(pieces) {}

  void add_dependencies(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) {
      const Dependency& dependency = program_.dependencies[i];
      SyncPiece piece = word(SyncPieceKind::kDependency);
      piece.dependency = i;
      // What happens to the operands stays, and so does what it is about.
      const bool is_transition = dependency.transition != TransitionKind::kNone;
      if (count > 1 && !is_transition) {
        pieces_.push_back(piece);
        piece.within = size_of(pieces_) - 1;
      }
      piece.kind = SyncPieceKind::kScope;
      piece.is_source = true;
      add_scope(dependency.source, piece);
      piece.is_source = false;
      add_scope(dependency.destination, piece);
      piece.kind = SyncPieceKind::kOperand;
      if (!is_transition) {
        add_operands(dependency.first_operand, dependency.operand_count, piece);
      }
    }
  }

  // Of what the host moves.
  void add_operands(uint32_t first, uint32_t count) {
    add_operands(first, count, word(SyncPieceKind::kOperand));
  }

  void add_memory(BarrierKind kind) {
    if (kind == BarrierKind::kFull) pieces_.push_back(word(SyncPieceKind::kMemory));
  }

  void add_stages(StageMask stages, uint32_t part) {
    SyncPiece piece = word(SyncPieceKind::kScope);
    piece.part = part;
    piece.is_source = part != SyncPiece::kNone;
    add_scope({stages, 0}, piece);
  }

 private:
  SyncPiece word(SyncPieceKind kind) const { return {.kind = kind, .statement = statement_}; }

  void add_scope(Scope scope, SyncPiece piece) {
    const bool is_all = (scope.stages & kDeviceStages) == kDeviceStages;  // Or `device`.
    if (is_all) {
      const bool has_host = scope.stages == kAllStages;
      for (const Scope group : {*scope_of(has_host ? "all.read" : "device.read"),
                                *scope_of(has_host ? "all.write" : "device.write")}) {
        if ((scope.accesses & group.accesses) != group.accesses) continue;
        add_cut({0, group.accesses}, piece);
        scope.accesses = static_cast<AccessMask>(scope.accesses & ~group.accesses);
      }
    }
    for (const Stage stage : kStages) {
      if ((scope.stages & bit_of(stage)) == 0) continue;
      SyncPiece inner = piece;
      const AccessMask accesses =
          static_cast<AccessMask>(scope.accesses & accesses_in(bit_of(stage)));
      const bool has_others = !is_all && (scope.stages & ~bit_of(stage)) != 0;
      if (has_others) {
        add_cut({bit_of(stage), accesses}, piece);
        inner.within = size_of(pieces_) - 1;
      }
      for (size_t i = 0; i < kStageAccessCount; ++i) {
        const AccessMask access = static_cast<AccessMask>(accesses & (1u << i));
        if (access != 0) add_cut({0, access}, inner);
      }
    }
  }

  void add_cut(Scope cut, SyncPiece piece) {
    piece.cut = cut;
    pieces_.push_back(piece);
  }

  void add_operands(uint32_t first, uint32_t count, SyncPiece piece) {
    std::vector<uint32_t> operands;
    for (uint32_t i = first; i < first + count; ++i) {
      const uint32_t stride = program_.barrier_operands[i].stride;
      const bool is_next_row = stride != Access::kNotStrided && !operands.empty() &&
                               program_.barrier_operands[i - 1].stride == stride;
      if (!is_next_row) operands.push_back(i);
    }
    for (const uint32_t operand : operands) {
      if (operands.size() == 1) return;
      piece.operand = operand;
      pieces_.push_back(piece);
    }
  }

  const Program& program_;
  const StatementId statement_;
  std::vector<SyncPiece>& pieces_;
};

void append_words_of(const Program& program, const SyncStep& step, WordList& words) {
  switch (step.kind) {
    case SyncKind::kSignal:
      for (uint32_t part = step.first; part < step.first + step.count; ++part) {
        words.add_stages(program.signal_parts[part].stages, part);
      }
      break;
    case SyncKind::kWait:
      words.add_stages(step.stages, SyncPiece::kNone);
      break;
    case SyncKind::kSet:
      words.add_memory(step.barrier_kind);
      words.add_dependencies(step.first, step.count);
      break;
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      words.add_operands(step.first, step.count);
      break;
    case SyncKind::kAwait:
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostWaits:
    case SyncKind::kHostSignals:
    case SyncKind::kHostIdle:
      break;
  }
}

// What words leave of a program.
class WordCuts {
 public:
  explicit WordCuts(Program& program)
      : program_(program),
        dependencies_(program.dependencies.size()),
        operands_(program.barrier_operands.size()),
        moved_(program.dependencies.size(), Dispatch::kNoTransition) {}

  void cut(const SyncPiece& piece) {
    switch (piece.kind) {
      case SyncPieceKind::kDependency:
        dependencies_[piece.dependency] = true;
        break;
      case SyncPieceKind::kOperand:
        cut_operand(piece);
        break;
      case SyncPieceKind::kQueue:
        program_.syncs[statement(piece).index].idle_queue = piece.queue;
        break;
      case SyncPieceKind::kValue:
        program_.syncs[statement(piece).index].partner = piece.lower;
        program_.syncs[statement(piece).index].value = program_.signal_parts[piece.lower].value;
        break;
      case SyncPieceKind::kScope:
        cut_scope(piece);
        break;
      case SyncPieceKind::kMemory:
        cut_memory(piece);
        break;
      case SyncPieceKind::kBarrier:
      case SyncPieceKind::kEvent:
      case SyncPieceKind::kWait:
      case SyncPieceKind::kHostIdle:
      case SyncPieceKind::kHostMove:
      case SyncPieceKind::kEdge:
      case SyncPieceKind::kSignal:
        break;
    }
  }

  // Moves what is left to the front of its list.
  void finish() {
    for (Dependency& dependency : program_.dependencies) finish(dependency);
    for (Barrier& barrier : program_.barriers) {
      finish(barrier.first_dependency, barrier.dependency_count);
    }
    for (SyncStep& step : program_.syncs) {
      if (step.kind == SyncKind::kSet) finish(step.first, step.count);
      const bool is_move =
          step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
      if (is_move) step.count = kept_operands(step.first, step.count);
    }
    for (Dispatch& dispatch : program_.dispatches) {
      if (dispatch.is_transition()) dispatch.transition = moved_[dispatch.transition];
    }
  }

 private:
  // Of an operand that has rows all of them.
  void cut_operand(const SyncPiece& piece) {
    const uint32_t stride = program_.barrier_operands[piece.operand].stride;
    for (uint32_t i = piece.operand; i < end_of_operands(piece); ++i) {
      const bool is_row =
          stride != Access::kNotStrided && program_.barrier_operands[i].stride == stride;
      if (i == piece.operand || is_row) operands_[i] = true;
    }
  }

  uint32_t end_of_operands(const SyncPiece& piece) const {
    if (piece.is_of_host_move()) {
      const SyncStep& step = program_.syncs[statement(piece).index];
      return step.first + step.count;
    }
    const Dependency& dependency = program_.dependencies[piece.dependency];
    return dependency.first_operand + dependency.operand_count;
  }

  void cut_scope(const SyncPiece& piece) {
    if (piece.dependency != SyncPiece::kNone) {
      Dependency& dependency = program_.dependencies[piece.dependency];
      Scope& scope = piece.is_source ? dependency.source : dependency.destination;
      scope.stages = static_cast<StageMask>(scope.stages & ~piece.cut.stages);
      scope.accesses = static_cast<AccessMask>(scope.accesses & ~piece.cut.accesses);
      return;
    }
    StageMask& stages = piece.part != SyncPiece::kNone
                            ? program_.signal_parts[piece.part].stages
                            : program_.syncs[statement(piece).index].stages;
    stages = static_cast<StageMask>(stages & ~piece.cut.stages);
  }

  void cut_memory(const SyncPiece& piece) {
    if (statement(piece).kind == StatementKind::kBarrier) {
      program_.barriers[statement(piece).index].kind = BarrierKind::kExecution;
    } else {
      program_.syncs[statement(piece).index].barrier_kind = BarrierKind::kExecution;
    }
  }

  const Statement& statement(const SyncPiece& piece) const {
    return program_.statements[piece.statement.index];
  }

  // Moves those that stay to the front, and returns how many they are.
  uint32_t kept_operands(uint32_t first, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = first; i < first + count; ++i) {
      if (!operands_[i]) program_.barrier_operands[first + kept++] = program_.barrier_operands[i];
    }
    return kept;
  }

  void finish(Dependency& dependency) {
    const uint32_t count = kept_operands(dependency.first_operand, dependency.operand_count);
    // Without any it would be about all bytes, and not about none.
    if (count == 0 && dependency.operand_count > 0) {
      dependency.source.accesses = 0;
      dependency.destination.accesses = 0;
    }
    dependency.operand_count = count;
  }

  void finish(uint32_t first, uint32_t& count) {
    uint32_t kept = 0;
    for (uint32_t i = first; i < first + count; ++i) {
      if (dependencies_[i]) continue;
      moved_[i] = first + kept;
      program_.dependencies[first + kept++] = program_.dependencies[i];
    }
    count = kept;
  }

  Program& program_;
  std::vector<bool> dependencies_;  // By index: it goes.
  std::vector<bool> operands_;      // Likewise.
  std::vector<uint32_t> moved_;     // By index: where the dependency has gone.
};

}  // namespace

AccessMask accesses_in(StageMask stages) {
  AccessMask accesses = 0;
  for (size_t i = 0; i < kStageAccessCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    if ((stages & bit_of(stage_of(access))) != 0) accesses |= bit_of(access);
  }
  return accesses;
}

void append_words(const Program& program, StatementId id, std::vector<SyncPiece>& pieces) {
  const Statement& statement = program.statements[id.index];
  WordList words(program, id, pieces);
  switch (statement.kind) {
    case StatementKind::kBarrier: {
      const Barrier& barrier = program.barriers[statement.index];
      words.add_memory(barrier.kind);
      words.add_dependencies(barrier.first_dependency, barrier.dependency_count);
      break;
    }
    case StatementKind::kSync:
      append_words_of(program, program.syncs[statement.index], words);
      break;
    case StatementKind::kDispatch:  // Edges are full (docs/theory.md, "Sync that can go").
    case StatementKind::kLifetime:
      break;
  }
}

void cut_words(std::span<const SyncPiece> pieces, Program& program) {
  WordCuts cuts(program);
  for (const SyncPiece& piece : pieces) cuts.cut(piece);
  cuts.finish();
}

StageMask source_stages_without(const Program& program, const Barrier& barrier,
                                const SyncPiece& word) {
  if (barrier.kind != BarrierKind::kScoped) return kAllStages;
  StageMask stages = 0;
  for (uint32_t i = 0; i < barrier.dependency_count; ++i) {
    const uint32_t dependency = barrier.first_dependency + i;
    StageMask source = program.dependencies[dependency].source.stages;
    if (dependency == word.dependency) {
      if (word.kind == SyncPieceKind::kDependency) continue;
      const bool is_cut = word.kind == SyncPieceKind::kScope && word.is_source;
      if (is_cut) source = static_cast<StageMask>(source & ~word.cut.stages);
    }
    stages |= source;
  }
  return stages;
}

}  // namespace interlock
