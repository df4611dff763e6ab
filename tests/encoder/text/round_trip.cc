#include "tests/encoder/text/round_trip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

bool is_same(const Dispatch& a, const Dispatch& b) {
  return a.statement == b.statement && a.kernel == b.kernel && a.order == b.order &&
         a.first_access == b.first_access && a.access_count == b.access_count &&
         a.first_attribute == b.first_attribute && a.attribute_count == b.attribute_count &&
         a.atomic_op == b.atomic_op && a.is_partial == b.is_partial && a.host == b.host &&
         a.stage == b.stage && a.is_approximate == b.is_approximate && a.transition == b.transition;
}

bool is_same(const Access& a, const Access& b) {
  return a.memory == b.memory && a.tensor == b.tensor && a.range == b.range && a.mode == b.mode &&
         a.is_sliced == b.is_sliced && a.is_undeclared == b.is_undeclared && a.stride == b.stride;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.placement == b.placement &&
         a.source == b.source && a.initial == b.initial && a.memory == b.memory &&
         a.range == b.range && a.root == b.root;
}

bool is_same(const Expectation& a, const Expectation& b) {
  return a.is_clean == b.is_clean && a.kind == b.kind && a.first == b.first &&
         a.second == b.second && a.barrier == b.barrier && a.lifetime == b.lifetime &&
         a.sync == b.sync && a.waiting == b.waiting;
}

bool is_same(const Lifetime& a, const Lifetime& b) {
  return a.statement == b.statement && a.kind == b.kind && a.tensor == b.tensor &&
         a.source == b.source && a.memory == b.memory;
}

bool is_same(const Barrier& a, const Barrier& b) {
  return a.statement == b.statement && a.kind == b.kind &&
         a.first_dependency == b.first_dependency && a.dependency_count == b.dependency_count;
}

bool is_same(const Dependency& a, const Dependency& b) {
  return a.source == b.source && a.destination == b.destination &&
         a.first_operand == b.first_operand && a.operand_count == b.operand_count &&
         a.transition == b.transition;
}

bool is_same(const Capture& a, const Capture& b) {
  return a.next == b.next && a.text_index == b.text_index;
}

bool is_same(const Replay& a, const Replay& b) {
  return a.capture == b.capture && a.number == b.number && a.first == b.first &&
         a.statement_count == b.statement_count && a.text_index == b.text_index &&
         a.queue == b.queue;
}

bool is_same(const Statement& a, const Statement& b) {
  return a.kind == b.kind && a.queue == b.queue && a.index == b.index;
}

bool is_same(const Memory& a, const Memory& b) {
  return a.size_bytes == b.size_bytes && a.is_scratch == b.is_scratch &&
         a.is_implicit == b.is_implicit && a.is_unified == b.is_unified &&
         a.atom_bytes == b.atom_bytes;
}

bool is_same(const Queue& a, const Queue& b) { return a.kind == b.kind; }

bool is_same(const Semaphore& a, const Semaphore& b) {
  return a.is_binary == b.is_binary && a.is_declared == b.is_declared && a.initial == b.initial;
}

bool is_same(const SyncStep& a, const SyncStep& b) {
  return a.statement == b.statement && a.kind == b.kind && a.barrier_kind == b.barrier_kind &&
         a.stages == b.stages && a.idle_queue == b.idle_queue && a.semaphore == b.semaphore &&
         a.value == b.value && a.count == b.count && a.partner == b.partner &&
         a.is_from_outside == b.is_from_outside;
}

bool is_same(const SignalPart& a, const SignalPart& b) {
  return a.semaphore == b.semaphore && a.stages == b.stages && a.value == b.value;
}

bool is_same(const Edge& a, const Edge& b) {
  return a.to == b.to && a.from == b.from && a.is_programmatic == b.is_programmatic;
}

bool is_same(const Stride& a, const Stride& b) {
  return a.bounds == b.bounds && a.row_count == b.row_count && a.pitch_bytes == b.pitch_bytes &&
         a.width_bytes == b.width_bytes;
}

bool is_same(const HostValue& a, const HostValue& b) {
  return a.dispatch == b.dispatch && a.value == b.value;
}

bool is_same(const Backward& a, const Backward& b) {
  return a.loss == b.loss && a.wrt == b.wrt && a.gradients == b.gradients && a.first == b.first &&
         a.statement_count == b.statement_count && a.first_tensor == b.first_tensor &&
         a.tensor_count == b.tensor_count && a.text_index == b.text_index;
}

template <typename T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return is_same(x, y); });
}

// Names are compared by text: print() has them all.
void expect_same(const Program& a, const Program& b) {
  EXPECT_TRUE(are_same(a.memories, b.memories));
  EXPECT_TRUE(are_same(a.queues, b.queues));
  EXPECT_TRUE(are_same(a.semaphores, b.semaphores));
  EXPECT_TRUE(are_same(a.statements, b.statements));
  EXPECT_TRUE(are_same(a.syncs, b.syncs));
  EXPECT_TRUE(are_same(a.signal_parts, b.signal_parts));
  EXPECT_TRUE(are_same(a.edges, b.edges));
  EXPECT_TRUE(are_same(a.strides, b.strides));
  EXPECT_EQ(a.host_dispatches, b.host_dispatches);
  EXPECT_EQ(a.uncounted_dispatches, b.uncounted_dispatches);
  EXPECT_TRUE(are_same(a.host_values, b.host_values));
  EXPECT_TRUE(are_same(a.tensors, b.tensors));
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_TRUE(are_same(a.dispatches, b.dispatches));
  EXPECT_TRUE(are_same(a.accesses, b.accesses));
  EXPECT_TRUE(are_same(a.lifetimes, b.lifetimes));
  EXPECT_TRUE(are_same(a.barriers, b.barriers));
  EXPECT_TRUE(are_same(a.dependencies, b.dependencies));
  EXPECT_TRUE(are_same(a.barrier_operands, b.barrier_operands));
  EXPECT_TRUE(are_same(a.captures, b.captures));
  EXPECT_TRUE(are_same(a.replays, b.replays));
  EXPECT_TRUE(are_same(a.backwards, b.backwards));
  EXPECT_EQ(a.witness, b.witness);
  EXPECT_TRUE(are_same(a.expectations, b.expectations));
  EXPECT_EQ(a.has_program_order, b.has_program_order);
}

}  // namespace

std::string expect_round_trip(const Program& p) {
  const std::string printed = print(p);
  ParseOptions options;
  options.reads_every_queue = true;
  const auto again = parse(printed, "again.ilk", options);
  if (!again) {
    ADD_FAILURE() << again.error().message << "\n" << printed;
    return printed;
  }
  expect_same(p, *again);
  EXPECT_EQ(print(*again), printed);
  return printed;
}

}  // namespace interlock
