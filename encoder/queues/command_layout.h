// CommandLayout: what an encoder issues on several queues as a program, without a draft between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {

// Where an encoder issues its commands, edges right before the dispatches that they lead to.
class CommandLayout final : public CommandSink {
 public:
  // Expects so many commands and edges. Cost: linear in the declarations and names.
  CommandLayout(const Program& program, const std::vector<QueueDraft>& queues, size_t command_count,
                size_t edge_count);

  void use_queue(QueueIndex queue) override { queue_ = queue; }
  void issue_edge(DispatchId from, DispatchId to) override;
  void issue_dispatch(DispatchId id) override;
  void issue_signal(const SemaphorePoint& point) override;
  void issue_wait(const SemaphorePoint& point) override;
  void issue_submission(QueueIndex queue, std::span<const QueuePoint> waits, DispatchId id,
                        uint64_t number) override;

  // What only the rules of a build tell.
  void issue_barrier(BarrierKind /*kind*/) override { is_valid_ = false; }
  void issue_split() override { is_valid_ = false; }
  void issue_set(uint32_t /*event*/, const Scope& /*source*/,
                 const Scope& /*destination*/) override {
    is_valid_ = false;
  }
  void issue_await(uint32_t /*event*/) override { is_valid_ = false; }
  void issue_programmatic_edge(DispatchId /*from*/, DispatchId /*to*/) override {
    is_valid_ = false;
  }
  void issue_sync(const SyncCommand& /*command*/) override { is_valid_ = false; }
  void issue_lifetime(LifetimeId /*id*/) override { is_valid_ = false; }

  // As program_on_queues() (queue_commands.h) of what was issued; nothing where only the rules of a
  // build tell what becomes of it: other sync than signals, waits and edges, a signal whose value
  // is not the next of its semaphore, statements that the text says in short, lines that may be too
  // long. Requires: called once. Cost of all, with what is issued: linear in the statements and
  // operands.
  std::optional<Program> finish();

 private:
  // Of one semaphore, that of a queue, as it counts.
  struct Counted {
    SemaphoreId id;               // None: not mentioned yet.
    std::vector<uint32_t> parts;  // By value, from 1 on: into Program::signal_parts.
  };

  bool has_simple_source() const;
  bool add_queues();
  void copy_declarations(size_t command_count);
  void intern_new_names();
  NameId id_of(std::string_view name) const { return new_names_.find(name)->second; }
  QueueIndex index_of_queue() const { return static_cast<QueueIndex>(queue_ + 1u); }
  uint64_t line_bytes_max(const Dispatch& dispatch, uint64_t edge_count) const;
  bool add_dispatch(DispatchId id);
  bool add_edges(DispatchId to, uint32_t position);
  bool are_operands_next(const Dispatch& dispatch) const;
  void copy_operands_so_far();
  void append_operands(Dispatch& dispatch);
  Counted* counted_of(const SemaphorePoint& point);
  bool pair_waits();

  const Program& source_;
  const std::vector<QueueDraft>& queues_;
  Program result_;
  std::map<std::string, NameId, std::less<>> new_names_;
  std::vector<Counted> counted_;                // By semaphore of the encoder.
  std::vector<uint32_t> counted_by_id_;         // By semaphore of the program.
  std::vector<uint32_t> positions_;             // By dispatch of the source: its index here.
  std::vector<CommandEdge> edges_;              // To the next dispatch.
  uint32_t last_dispatch_ = DispatchId::kNone;  // Of the source.
  bool is_sorted_ = true;                       // Dispatches come as in the source.
  // While operands and attributes do, too, their numbers, from the first ones on: all are copied at
  // once then.
  bool has_operands_of_source_ = true;
  size_t access_count_ = 0;
  size_t attribute_count_ = 0;
  bool has_open_waits_ = false;  // Some are issued before their signals.
  bool is_valid_ = true;         // Nothing was issued that only the rules tell.
  QueueIndex queue_ = kDefaultQueue;
};

}  // namespace interlock
