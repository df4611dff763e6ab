#include "encoder/queues/mlx_cuda.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {
namespace {

class MlxCudaEncoder {
 public:
  MlxCudaEncoder(const Program& program, bool knows_readers)
      : program_(program), knows_readers_(knows_readers) {}

  Result<Program> run() {
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return Program{};
      if (statement.kind == StatementKind::kDispatch) {
        const DispatchId id(size_t{statement.index});
        if (program_.dispatch(id).host == HostAccess::kNone) {
          add_node(id);
        } else {
          access_by_host(id);
        }
      } else if (statement.kind == StatementKind::kLifetime) {
        end_value(LifetimeId(size_t{statement.index}));
      } else if (statement.kind == StatementKind::kSync &&
                 program_.syncs[statement.index].kind == SyncKind::kSplit) {
        commit();
      }
    }
    std::vector<QueueDraft> queues = numbered_queues(QueueKind::kGraph, 1);
    if (launch_count_ > 0) queues.push_back(numbered_queues(QueueKind::kSerial, 2).back());
    return program_on_queues(program_, queues, sink_);
  }

 private:
  static constexpr uint32_t kGraph = 0;  // The queues, and their semaphores.
  static constexpr uint32_t kStream = 1;

  // Of the graph that is not launched yet.
  struct BufferUse {
    std::optional<DispatchId> writer;
    std::vector<DispatchId> readers;  // Since.
  };

  void add_node(DispatchId node) {
    sink_.use_queue(kGraph);
    if (known_launch_count_ < launch_count_) {
      sink_.issue_wait({.semaphore = kStream, .value = launch_count_});
      known_launch_count_ = launch_count_;
    }
    for (const DispatchId before : nodes_before(node)) sink_.issue_edge(before, node);
    sink_.issue_dispatch(node);
    note_uses(node);
    has_nodes_ = true;
  }

  // What the node takes edges from.
  std::set<DispatchId> nodes_before(DispatchId node) const {
    std::set<DispatchId> before;
    for (const Access& access : program_.declared_accesses_of(node)) {
      const auto use = uses_.find(access.memory);
      if (use == uses_.end()) continue;
      if (use->second.writer) before.insert(*use->second.writer);
      if (knows_readers_ && !access.only_reads()) {
        before.insert(use->second.readers.begin(), use->second.readers.end());
      }
    }
    return before;
  }

  void note_uses(DispatchId node) {
    for (const Access& access : program_.declared_accesses_of(node)) {
      BufferUse& use = uses_[access.memory];
      const bool writes_it = use.writer == node;
      if (!access.only_reads()) {
        use = {node, {}};
      } else if (!writes_it && (use.readers.empty() || use.readers.back() != node)) {
        use.readers.push_back(node);
      }
    }
  }

  // Launches the graph, if it has nodes.
  void commit() {
    if (!has_nodes_) return;
    ++launch_count_;
    sink_.use_queue(kGraph);
    sink_.issue_signal({.semaphore = kGraph, .value = launch_count_});
    sink_.use_queue(kStream);
    sink_.issue_wait({.semaphore = kGraph, .value = launch_count_});
    sink_.issue_signal({.semaphore = kStream, .value = launch_count_});
    uses_.clear();
    has_nodes_ = false;
  }

  // What is submitted after it comes after all launches so far.
  void synchronize() {
    commit();
    if (host_launch_count_ == launch_count_) return;
    sink_.issue_sync(
        {.kind = SyncKind::kHostWaits, .points = {{.semaphore = kStream, .value = launch_count_}}});
    host_launch_count_ = launch_count_;
    known_launch_count_ = launch_count_;
  }

  void access_by_host(DispatchId id) {
    synchronize();
    sink_.issue_dispatch(id);
  }

  void end_value(LifetimeId id) {
    if (program_.lifetimes[id.index].kind == LifetimeKind::kDestroy) synchronize();
    sink_.issue_lifetime(id);
  }

  const Program& program_;
  const bool knows_readers_;
  RecordingSink sink_;
  std::map<MemoryId, BufferUse> uses_;
  bool has_nodes_ = false;           // That no launch has.
  uint64_t launch_count_ = 0;        // So far,
  uint64_t known_launch_count_ = 0;  // and those that the graph comes after,
  uint64_t host_launch_count_ = 0;   // and the host.
};

Result<Program> encode_graph(const Program& program, bool knows_readers) {
  if (auto checked = check_count(program); !checked) return checked.error();
  if (auto checked = check_host_work_of_no_queue(program); !checked) return checked.error();
  return MlxCudaEncoder(program, knows_readers).run();
}

}  // namespace

Result<Program> encode_mlx_cuda(const Program& program, uint32_t /*queue_count*/) {
  return encode_graph(program, false);
}

Result<Program> encode_mlx_cuda_readers(const Program& program, uint32_t /*queue_count*/) {
  return encode_graph(program, true);
}

}  // namespace interlock
