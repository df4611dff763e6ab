// Requests to a worker that no campaign makes: each is answered with an error, on every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "backends/registry.h"
#include "backends/remote/channel.h"
#include "backends/remote/message.h"
#include "backends/remote/serve.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"
#include "simulator/schedules/choice.h"

namespace interlock::worker_requests_test {
namespace {

using testing::HasSubstr;

// The second dispatch has one slice, the third one per row.
constexpr const char* kProgram =
    "interlock 1\nmemory a 64\nmemory b 64\nmemory c 64\ntensor x f32[16] at a+0 = random(1)\n"
    "tensor y f32[16] at b+0\ntensor z f32[16,1] at c+0\ntensor w f32[16,1] at a+0\n"
    "scaled: dispatch scale reads x writes y factor=2\n"
    "dispatch Opaque reads b[3:17] writes a[1:9]\n"
    "rows: dispatch softmax reads z writes w\n";

// Positions of numbers in the bytes of a request (message.cc).
constexpr size_t kFlagAt = 0;
constexpr size_t kModeAt = 8;
constexpr size_t kStepAt = 24;
constexpr size_t kKindAt = 0;
constexpr size_t kDispatchAt = 8;
constexpr size_t kFirstSliceAt = 16;
constexpr size_t kSliceCountAt = 24;
constexpr size_t kStepBytes = 32;

Program program() { return parse(kProgram).value(); }

WorkerRequest valid_request() {
  return {false, ExecutionMode::kWitness, reference_order_schedule(program()), kProgram};
}

std::string with_number(std::string bytes, size_t position, uint64_t number) {
  std::memcpy(bytes.data() + position, &number, sizeof number);
  return bytes;
}

// A backend behind serve(), in this process: a crash is one of the test.
class Served {
 public:
  explicit Served(Backend& backend) {
    INTERLOCK_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets_) == 0);
    server_ = std::thread([&backend, socket = sockets_[1]] { serve(backend, socket, socket); });
  }
  ~Served() {
    shutdown(sockets_[0], SHUT_RDWR);
    server_.join();
    close(sockets_[0]);
    close(sockets_[1]);
  }

  WorkerReply reply_to(const std::string& request) const {
    std::string answer;
    INTERLOCK_CHECK(send_message(sockets_[0], request) == ChannelStatus::kDone);
    INTERLOCK_CHECK(receive_message(sockets_[0], answer) == ChannelStatus::kDone);
    return reply_of(answer).value();
  }

 private:
  int sockets_[2];
  std::thread server_;
};

std::vector<Backend*> available_backends() {
  std::vector<Backend*> available;
  for (Backend* backend : backend_registry()) {
    if (backend->availability().is_available) available.push_back(backend);
  }
  return available;
}

TEST(WorkerRequests, ThatNoBackendMayGetAreAnsweredWithAnError) {
  const std::string valid = bytes_of(valid_request());
  const size_t opaque_step = kStepAt + kStepBytes;
  WorkerRequest without_last = valid_request();
  without_last.schedule.steps.pop_back();
  WorkerRequest with_last_twice = valid_request();
  with_last_twice.schedule.steps.push_back(with_last_twice.schedule.steps.back());
  WorkerRequest never_committed = valid_request();
  never_committed.schedule.steps[0].kind = StepKind::kRunLate;
  WorkerRequest no_program = valid_request();
  no_program.program = "interlock 1\ndispatch Unknown reads nothing\n";
  const std::string hostile[] = {
      "",
      valid + "x",
      with_number(valid, kFlagAt, 2),
      with_number(valid, kModeAt, 7),
      with_number(valid, opaque_step + kKindAt, 9),
      with_number(valid, opaque_step + kKindAt, 2),  // A commit of nothing.
      with_number(valid, opaque_step + kDispatchAt, 3),
      with_number(valid, opaque_step + kDispatchAt, UINT32_MAX),
      with_number(valid, opaque_step + kDispatchAt, uint64_t{1} << 40),
      with_number(valid, opaque_step + kFirstSliceAt, 1),
      with_number(valid, opaque_step + kFirstSliceAt, UINT32_MAX),
      with_number(valid, opaque_step + kFirstSliceAt, uint64_t{1} << 32),
      with_number(valid, opaque_step + kSliceCountAt, 0),
      with_number(valid, opaque_step + kSliceCountAt, 50),
      with_number(valid, opaque_step + kSliceCountAt, UINT32_MAX),
      bytes_of(without_last),
      bytes_of(with_last_twice),
      bytes_of(never_committed),
      bytes_of(no_program),
  };
  for (Backend* backend : available_backends()) {
    const Served served(*backend);
    for (size_t i = 0; i < std::size(hostile); ++i) {
      EXPECT_NE(served.reply_to(hostile[i]).error, "") << backend->name() << " " << i;
    }
    const WorkerReply reply = served.reply_to(valid);
    EXPECT_EQ(reply.error, "") << backend->name();
    EXPECT_EQ(reply.image.memories.size(), 3u);
  }
}

TEST(WorkerRequests, AreNotForAModeThatTheBackendHasNot) {
  const Served served(*find_backend("cpu"));
  WorkerRequest request = valid_request();
  request.mode = ExecutionMode::kOverlap;
  EXPECT_EQ(served.reply_to(bytes_of(request)).error,
            "The backend of this worker has no overlap mode.");
}

// One to three random numbers or bytes are others; most requests are refused, the rest run.
TEST(WorkerRequests, WithRandomChangesHaveAnAnswerEach) {
  constexpr int kCount = 3000;
  const std::string valid = bytes_of(valid_request());
  SeededChoice choice(20);
  int refused_count = 0;
  for (const char* name : {"cpu", "cuda-emulated"}) {
    const Served served(*find_backend(name));
    for (int i = 0; i < kCount; ++i) {
      std::string request = valid;
      for (uint64_t change = 0; change <= choice.below(3); ++change) {
        if (choice.chance(1, 2)) {
          const uint64_t number = choice.below(uint64_t{1} << choice.below(64));
          const size_t head_words = (kStepAt + 3 * kStepBytes) / sizeof number;
          request = with_number(request, sizeof number * choice.below(head_words), number);
        } else {
          request[choice.below(request.size())] = static_cast<char>(choice.below(256));
        }
      }
      if (choice.chance(1, 16)) request.resize(choice.below(request.size()));
      refused_count += !served.reply_to(request).error.empty();
    }
    EXPECT_EQ(served.reply_to(valid).error, "");
  }
  EXPECT_GT(refused_count, kCount);
  EXPECT_LT(refused_count, 2 * kCount);
}

TEST(Executable, SaysWhatAScheduleDoesNotRun) {
  const Program p = program();
  Schedule schedule = reference_order_schedule(p);
  EXPECT_TRUE(check_executable(p, schedule).has_value());
  schedule.steps[1].slice_count = 50;
  EXPECT_THAT(check_executable(p, schedule).error().message,
              HasSubstr("does not run each of the 1 slices of Opaque"));
  schedule = reference_order_schedule(p);
  schedule.steps[0].kind = StepKind::kRunLate;
  EXPECT_THAT(check_executable(p, schedule).error().message,
              HasSubstr("never commits the late writes of scaled"));
  schedule.steps.push_back(whole_step(p, DispatchId(0), StepKind::kCommit));
  EXPECT_TRUE(check_executable(p, schedule).has_value());
  schedule.steps.push_back(whole_step(p, DispatchId(0), StepKind::kCommit));
  EXPECT_THAT(check_executable(p, schedule).error().message,
              HasSubstr("commits scaled (dispatch 0), which has no late writes"));
}

TEST(Executable, SaysWhichBytesStepsMayName) {
  const Program p = program();
  const auto error_of = [&](const Schedule& schedule) {
    const auto checked = check_executable(p, schedule);
    return checked ? "" : checked.error().message;
  };
  Schedule fetching = reference_order_schedule(p);
  fetching.steps.insert(fetching.steps.begin(), {StepKind::kFetch, DispatchId(1), 0, 1});
  EXPECT_THAT(error_of(fetching), HasSubstr("names bytes 0 to 1 of a list of 0"));
  fetching.bytes = {{MemoryId(1), {3, 64}}};
  EXPECT_EQ(error_of(fetching), "");
  for (const StepBytes& bytes : {StepBytes{MemoryId(3), {3, 4}}, StepBytes{MemoryId(1), {3, 65}},
                                 StepBytes{MemoryId(1), {4, 3}}}) {
    fetching.bytes = {bytes};
    EXPECT_THAT(error_of(fetching), HasSubstr("names bytes of no memory"));
  }
  // The run of what has fetched commits all of its dispatch.
  fetching.bytes = {{MemoryId(2), {0, 4}}};
  fetching.steps[0].dispatch = DispatchId(2);
  const uint32_t rows = fetching.steps.back().slice_count;
  fetching.steps.back() = {StepKind::kRunLate, DispatchId(2), 0, 1};
  fetching.steps.push_back({StepKind::kRun, DispatchId(2), 1, rows - 1});
  EXPECT_THAT(error_of(fetching), HasSubstr("that has fetched while another part waits"));
  Schedule partial = reference_order_schedule(p);
  partial.steps[0].kind = StepKind::kRunLate;
  partial.steps.push_back({StepKind::kCommit, DispatchId(0), 0, 1});
  partial.bytes = {{MemoryId(1), {0, 4}, StageAccess::kComputeWrite}};
  EXPECT_THAT(error_of(partial), HasSubstr("never commits the late writes of scaled"));
  partial.steps.push_back(whole_step(p, DispatchId(0), StepKind::kCommit));
  EXPECT_EQ(error_of(partial), "");
}

}  // namespace
}  // namespace interlock::worker_requests_test
