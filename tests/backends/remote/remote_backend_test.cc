// A backend in a process of its own: what it executes, and what is said when that process fails.
#include "backends/remote/remote_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/remote/channel.h"
#include "backends/remote/message.h"
#include "backends/remote/worker_process.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "tests/corpus_files.h"

namespace interlock::remote_backend_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

Program program() {
  return parse(
             "interlock 1\nmemory a 64\nmemory b 64\ntensor x f32[16] at a+0 = random(1)\n"
             "tensor y f32[16] at b+0\nscaled: dispatch scale reads x writes y factor=2\n"
             "dispatch Opaque reads b[3:17] writes a[1:9]\n")
      .value();
}

RemoteOptions worker_with(const std::string& fault, int period, double timeout_seconds = 60) {
  return {"faulty", {FAULTY_WORKER, fault, std::to_string(period)}, timeout_seconds, nullptr};
}

Result<MemoryImage> run_on(Backend& backend) {
  const Program p = program();
  return backend.run(p, reference_order_schedule(p), ExecutionMode::kWitness);
}

// The error of the first run that has one.
std::string first_error(Backend& backend) {
  for (int i = 0; i < 10; ++i) {
    const auto image = run_on(backend);
    if (!image) return image.error().message;
  }
  return "";
}

TEST(RemoteBackend, LeavesWhatTheBackendOfItsWorkerLeaves) {
  RemoteBackend remote(worker_with("none", 1));
  EXPECT_TRUE(remote.availability().is_available);
  EXPECT_TRUE(remote.supports(ExecutionMode::kOverlap));
  EXPECT_TRUE(remote.capabilities().rounds_correctly);
  EXPECT_EQ(remote.capabilities().device, CpuBackend().capabilities().device);
  const auto image = run_on(remote);
  ASSERT_TRUE(image.has_value()) << image.error().message;
  CpuBackend cpu;
  EXPECT_TRUE(*image == run_on(cpu).value());
}

// Where the text is not the order of the run, and with steps of some bytes: what is asked for is
// what is executed.
TEST(RemoteBackend, ExecutesProgramsWithSeveralQueuesAndWithTheHost) {
  RemoteBackend remote(worker_with("none", 1));
  CpuBackend cpu;
  size_t moved_count = 0;
  size_t parts_count = 0;
  for (const auto& path : corpus_files({"queues"})) {
    SCOPED_TRACE(path);
    const Program run = reference_run(corpus_program(path));
    moved_count += run.text_order != nullptr;
    const HappensBefore order(run);
    std::vector<Schedule> schedules = {reference_order_schedule(run)};
    for (const Finding& finding : check(run).findings) {
      if (finding.witness.empty()) continue;
      schedules.push_back(schedule_of(run, order, finding.witness).value());
    }
    for (const Schedule& schedule : schedules) {
      parts_count += !schedule.bytes.empty();
      const auto image = remote.run(run, schedule, ExecutionMode::kWitness);
      ASSERT_TRUE(image.has_value()) << image.error().message;
      EXPECT_TRUE(*image == cpu.run(run, schedule, ExecutionMode::kWitness).value());
    }
  }
  EXPECT_GT(moved_count, 5u);
  EXPECT_GT(parts_count, 0u);
}

TEST(RemoteBackend, SaysByWhichSignalItsWorkerDiedAndStartsAnother) {
  RemoteBackend remote(worker_with("crash", 3));
  EXPECT_EQ(
      first_error(remote),
      "The worker process of backend 'faulty' was ended by signal 11 (Segmentation fault) before it answered.");
  EXPECT_FALSE(remote.availability().is_available);
  EXPECT_THAT(remote.availability().reason, HasSubstr("signal 11"));
  EXPECT_TRUE(run_on(remote).has_value());
  EXPECT_TRUE(remote.availability().is_available);
}

TEST(RemoteBackend, SaysWithWhichStatusItsWorkerEnded) {
  RemoteBackend remote(worker_with("exit", 2));
  EXPECT_EQ(first_error(remote),
            "The worker process of backend 'faulty' ended with status 7 before it answered.");
}

TEST(RemoteBackend, EndsAWorkerThatIsSilentAndStartsAnother) {
  RemoteBackend remote(worker_with("hang", 2, 1));
  EXPECT_EQ(
      first_error(remote),
      "The worker process of backend 'faulty' did not answer within 1 seconds and was stopped.");
  // On a machine that is busy the next worker, too, may take longer than a second to start.
  bool has_run = false;
  for (int i = 0; i < 30 && !has_run; ++i) has_run = run_on(remote).has_value();
  EXPECT_TRUE(has_run);
}

TEST(RemoteBackend, StartsAnotherWorkerWhenTheDeviceIsLost) {
  RemoteBackend remote(worker_with("lose", 2));
  EXPECT_EQ(first_error(remote), "The device was lost.");
  EXPECT_EQ(remote.availability().reason, "The device was lost.");
  EXPECT_TRUE(run_on(remote).has_value());
}

TEST(RemoteBackend, IsNotDisturbedByWhatADriverPrints) {
  RemoteBackend remote(worker_with("print", 1));
  EXPECT_EQ(first_error(remote), "");
}

TEST(RemoteBackend, GivesUpAHangSoonAfterAStop) {
  Stop stop;
  RemoteOptions options = worker_with("hang", 1);
  options.stop = &stop;
  RemoteBackend remote(options);
  EXPECT_TRUE(remote.availability().is_available);
  // Before the run, it would not be asked; at any time later, it is given up.
  std::thread stopping([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request();
  });
  EXPECT_THAT(first_error(remote),
              AnyOf("The worker process of backend 'faulty' did not answer before the stop.",
                    "Backend 'faulty' was not asked: a stop came before."));
  stopping.join();
}

TEST(RemoteBackend, AsksNoWorkerAfterAStop) {
  Stop stop;
  stop.request();
  RemoteBackend remote({"faulty", {"/nonexistent/worker"}, 60, &stop});
  EXPECT_EQ(run_on(remote).error().message, "Backend 'faulty' was not asked: a stop came before.");
}

TEST(RemoteBackend, KeepsItsWorkerWhenTheHostThreadEndsThatStartedIt) {
  RemoteBackend remote(worker_with("none", 1));
  for (int i = 0; i < 20; ++i) {
    std::string error;
    std::thread([&] { error = first_error(remote); }).join();
    EXPECT_EQ(error, "");
  }
  EXPECT_EQ(first_error(remote), "");
}

TEST(RemoteBackend, TellsFaultsAndRefusalsFromOtherErrors) {
  RemoteBackend stray(worker_with("stray", 1));
  EXPECT_EQ(run_on(stray).error().kind, ErrorKind::kFault);
  EXPECT_TRUE(stray.availability().is_available);
  RemoteBackend refusing(worker_with("refuse", 1));
  EXPECT_EQ(run_on(refusing).error().kind, ErrorKind::kRefused);
  RemoteBackend losing(worker_with("lose", 1));
  EXPECT_EQ(run_on(losing).error().kind, ErrorKind::kOther);
}

TEST(RemoteBackend, TakesAnyTimeout) {
  RemoteBackend remote(worker_with("none", 1, 1e17));
  EXPECT_TRUE(run_on(remote).has_value());
}

TEST(Worker, EndsWithItsSocketAlthoughTheDeviceHangs) {
  auto worker = WorkerProcess::start({FAULTY_WORKER, "hang", "1"});
  ASSERT_TRUE(worker.has_value());
  const int socket = (*worker)->descriptor();
  const Program p = program();
  const WorkerRequest request{false, ExecutionMode::kWitness, reference_order_schedule(p),
                              print(p)};
  ASSERT_EQ(send_message(socket, bytes_of(request)), ChannelStatus::kDone);
  shutdown(socket, SHUT_RDWR);  // As if this process had ended.
  // In half a second; nothing kills it before the minute is over.
  EXPECT_THAT((*worker)->end(std::chrono::minutes(1)), HasSubstr("ended with status"));
}

TEST(RemoteBackend, IsNotAvailableWithoutItsProgram) {
  RemoteBackend missing({"faulty", {"/nonexistent/worker"}, 60, nullptr});
  EXPECT_THAT(missing.availability().reason, HasSubstr("'/nonexistent/worker' cannot be started"));
  EXPECT_FALSE(missing.availability().is_available);
  RemoteBackend absent(worker_with("absent", 1));
  EXPECT_THAT(absent.availability().reason, HasSubstr("ended with status 0 before it answered"));
}

TEST(WorkerMessages, ArriveAsTheyWereSentOrNotAtAll) {
  const Program p = program();
  const std::string bytes = bytes_of(
      WorkerRequest{false, ExecutionMode::kOverlap, reference_order_schedule(p), print(p)});
  const auto request = request_of(bytes);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->mode, ExecutionMode::kOverlap);
  EXPECT_EQ(request->schedule, reference_order_schedule(p));
  EXPECT_EQ(request->program, print(p));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(request_of(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(request_of(bytes + "x").has_value());
  EXPECT_FALSE(reply_of(std::string(80, '\xff')).has_value());
}

}  // namespace
}  // namespace interlock::remote_backend_test
