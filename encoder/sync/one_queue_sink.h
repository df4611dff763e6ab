// OneQueueSink: the commands of an encoder for one queue with barriers alone, as a list.
#pragma once

#include "encoder/sync/encoder.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {

// What is about several queues becomes what CommandSink says of one.
class OneQueueSink final : public CommandSink {
 public:
  explicit OneQueueSink(RecordingSink& sink) : sink_(sink) {}

  void issue_dispatch(DispatchId id) override { sink_.issue_dispatch(id); }
  void issue_barrier(BarrierKind kind) override { sink_.issue_barrier(kind); }
  void issue_scoped_barrier(const Scope& source, const Scope& destination) override {
    sink_.issue_scoped_barrier(source, destination);
  }
  void issue_split() override { sink_.issue_split(); }

  // All else becomes barriers, which do as much and more, so that a wait for too little would look
  // right.
  void use_queue(QueueIndex queue) override {
    if (queue != kDefaultQueue) see("on another queue");
  }
  void issue_signal(const SemaphorePoint& /*point*/) override { see("a signal"); }
  void issue_wait(const SemaphorePoint& point) override {
    see("a wait");
    CommandSink::issue_wait(point);
  }
  void issue_set(uint32_t /*event*/, const Scope& /*source*/,
                 const Scope& /*destination*/) override {
    see("an event");
  }
  void issue_await(uint32_t event) override {
    see("an event");
    CommandSink::issue_await(event);
  }
  void issue_edge(DispatchId from, DispatchId to) override {
    see("an edge");
    CommandSink::issue_edge(from, to);
  }
  void issue_sync(const SyncCommand& command) override {
    if (!command.is_barrier && command.kind != SyncKind::kSplit) see("sync of several queues");
    CommandSink::issue_sync(command);
  }

  // The first that one queue with barriers alone does not have; null if there is none.
  const char* first_foreign() const { return first_foreign_; }

 private:
  void see(const char* foreign) {
    if (first_foreign_ == nullptr) first_foreign_ = foreign;
  }

  RecordingSink& sink_;
  const char* first_foreign_ = nullptr;
};

}  // namespace interlock
