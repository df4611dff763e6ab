// What a runtime records is the program that it issued: every call has its statement, names are
// made legal, and whatever a runtime calls its things, the file parses.
#include "encoder/recorder.h"
#include "encoder/kernel/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encoder/program/names.h"
#include "encoder/text/parser.h"
#include "fuzz/testing/matchers.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::SizeIs;

Program parsed(const Recording& recording) {
  EXPECT_EQ(recording.status, INTERLOCK_OK) << recording.error;
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse("interlock 1\n" + recording.text, "step.ilk", options);
  EXPECT_TRUE(program.has_value()) << program.error().message << "\n" << recording.text;
  return program ? *std::move(program) : Program();
}

TEST(Recorder, WritesAStatementForEveryCall) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0, 4096, 0);
    const interlock_memory b = interlock_recorder_memory(r, nullptr, 0, 64, INTERLOCK_SCRATCH);
    interlock_recorder_dispatch(r, "Produce", nullptr);
    interlock_recorder_access(r, INTERLOCK_WRITE, a, 64, 64);
    interlock_recorder_access(r, INTERLOCK_UNIFORM, b, 0, 16);
    interlock_recorder_access(r, INTERLOCK_READ, a, 0, 64);
    interlock_recorder_access(r, INTERLOCK_UPDATE, b, 16, 48);
    interlock_recorder_access(r, INTERLOCK_READ, a, 256, 0);
    interlock_recorder_partial(r);
    interlock_recorder_end(r);
    interlock_recorder_barrier(r, nullptr);
    interlock_recorder_dispatch(r, "count", "tally");
    interlock_recorder_access(r, INTERLOCK_ATOMIC_MAX, a, 0, 4096);
    interlock_recorder_end(r);
    interlock_recorder_barrier(r, "execution");
    interlock_recorder_output(r, a, 128, 64);
  });
  EXPECT_EQ(
      recording.text,
      "memory a 4096\n"
      "memory memory 64 scratch\n"
      "dispatch Produce uniform memory[0:16] reads a[0:64] a[256:256] writes a[64:128] updates memory[16:64] partial\n"
      "barrier\n"
      "tally: dispatch Count atomics a atomic=max\n"
      "barrier execution\n"
      "tensor output.3 u8[64] at a+128\n"
      "output output.3\n");
  EXPECT_THAT(parsed(recording).dispatches, SizeIs(2));
}

// A process that hangs is killed, and closes nothing.
TEST(Recorder, CanFlushWhereItSubmits) {
  const std::string path = testing::TempDir() + "interlock_flush_" + std::to_string(getpid());
  const auto bytes = [&] { return std::filesystem::file_size(path); };
  interlock_recorder* const r = interlock_recorder_open(path.c_str());
  const interlock_queue queue = interlock_recorder_queue(r, "q", INTERLOCK_CONCURRENT);
  interlock_recorder_submit(r, queue);
  EXPECT_EQ(bytes(), 0u);
  interlock_recorder_flush_at_submits(r, 1);
  uint64_t before = 0;
  for (const auto step :
       {interlock_recorder_submit, interlock_recorder_split, interlock_recorder_host_idle}) {
    interlock_recorder_barrier_on(r, queue, nullptr);
    EXPECT_EQ(bytes(), before);
    step(r, queue);
    EXPECT_GT(bytes(), before);
    before = bytes();
  }
  interlock_recorder_flush_at_submits(r, 0);
  interlock_recorder_submit(r, queue);
  EXPECT_EQ(bytes(), before);
  interlock_recorder_flush_at_submits(nullptr, 1);
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_OK);
  std::filesystem::remove(path);
}

TEST(Recorder, WritesCopiesAndFillsAsKernelsOfTheTable) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
    interlock_recorder_dispatch(r, INTERLOCK_FILL, nullptr);
    interlock_recorder_access(r, INTERLOCK_WRITE, a, 0, 32);
    interlock_recorder_end(r);
    interlock_recorder_barrier(r, "copy.write -> copy.read a[0:32], copy -> compute");
    interlock_recorder_dispatch(r, INTERLOCK_COPY, "upload");
    interlock_recorder_access(r, INTERLOCK_WRITE, a, 32, 32);
    interlock_recorder_access(r, INTERLOCK_READ, a, 0, 32);
    interlock_recorder_end(r);
  });
  EXPECT_EQ(recording.text,
            "memory a 64\n"
            "dispatch fill writes a[0:32]\n"
            "barrier copy.write -> copy.read a[0:32], copy -> compute\n"
            "upload: dispatch copy reads a[0:32] writes a[32:64]\n");
  EXPECT_THAT(parsed(recording).barriers, SizeIs(1));
}

TEST(Recorder, PutsABarrierInsideADispatchBeforeIt) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
    interlock_recorder_dispatch(r, "K", "k");
    interlock_recorder_access(r, INTERLOCK_READ, a, 0, 64);
    interlock_recorder_barrier(r, nullptr);
    interlock_recorder_end(r);
  });
  EXPECT_EQ(recording.text, "memory a 64\nbarrier\nk: dispatch K reads a\n");
}

TEST(Recorder, StatesTheOrderOfAReorderedStream) {
  const Program program = parsed(recording_of([](interlock_recorder* r) {
    for (const uint64_t order : {7u, 3u}) {
      interlock_recorder_dispatch(r, "K", nullptr);
      interlock_recorder_order(r, order);
      interlock_recorder_end(r);
    }
  }));
  ASSERT_THAT(program.dispatches, SizeIs(2));
  EXPECT_EQ(program.dispatches[0].order, 7u);
  EXPECT_EQ(program.dispatches[1].order, 3u);
}

// The write of a donated cotangent after its read, and the barrier that it needs.
Program donated_cotangent(bool has_barrier) {
  return parsed(recording_of([has_barrier](interlock_recorder* r) {
    const interlock_memory g = interlock_recorder_memory(r, "g", 0, 4096, 0);
    const interlock_memory gb = interlock_recorder_memory(r, "gb", 0, 256, 0);
    interlock_recorder_dispatch(r, "col_reduce", "reduce");
    interlock_recorder_access(r, INTERLOCK_READ, g, 0, 4096);
    interlock_recorder_access(r, INTERLOCK_WRITE, gb, 0, 256);
    interlock_recorder_end(r);
    if (has_barrier) interlock_recorder_barrier(r, nullptr);
    interlock_recorder_dispatch(r, "vjp_layer_norm", "vjp");
    interlock_recorder_access(r, INTERLOCK_WRITE, g, 0, 4096);
    interlock_recorder_end(r);
  }));
}

TEST(Recorder, LetsTheCheckFindTheMissingBarrier) {
  EXPECT_THAT(donated_cotangent(false), HasHazard("WAR", "reduce", "vjp"));
  EXPECT_THAT(donated_cotangent(true), AllOf(IsHazardFree(), HasFewestBarriers()));
}

// A fill in the copy stage, read by a dispatch after a barrier of this scope.
Program filled_and_read(const char* scope) {
  return parsed(recording_of([scope](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0, 64, 0);
    interlock_recorder_dispatch(r, INTERLOCK_FILL, nullptr);
    interlock_recorder_access(r, INTERLOCK_WRITE, a, 0, 64);
    interlock_recorder_end(r);
    interlock_recorder_barrier(r, scope);
    interlock_recorder_dispatch(r, "use", nullptr);
    interlock_recorder_access(r, INTERLOCK_UNIFORM, a, 0, 64);
    interlock_recorder_end(r);
  }));
}

TEST(Recorder, LetsTheCheckJudgeScopes) {
  EXPECT_THAT(filled_and_read("copy.write -> compute.uniform"), IsHazardFree());
  EXPECT_THAT(filled_and_read("copy.write -> compute.read"), HasHazard("RAW", 0, 1));
  EXPECT_THAT(filled_and_read("compute.write -> compute.uniform"), HasHazard("RAW", 0, 1));
}

// --- Names ---

// The labels, or the kernels without one, and the memories that a runtime's names become.
struct Names {
  std::vector<std::string> labels, kernels, memories;
};

Names names_of(const std::vector<const char*>& wanted) {
  const Program program = parsed(recording_of([&wanted](interlock_recorder* r) {
    for (const char* const name : wanted) {
      const interlock_memory memory = interlock_recorder_memory(r, name, 0, 16, 0);
      interlock_recorder_dispatch(r, name, name);
      interlock_recorder_access(r, INTERLOCK_READ, memory, 0, 16);
      interlock_recorder_access(r, INTERLOCK_WRITE, memory, 0, 16);
      interlock_recorder_end(r);
    }
  }));
  Names names;
  for (const Statement& statement : program.statements) {
    names.labels.emplace_back(program.name(statement.label));
  }
  for (const Dispatch& dispatch : program.dispatches) {
    names.kernels.emplace_back(program.name(dispatch.kernel_name));
    EXPECT_TRUE(is_opaque(program, dispatch)) << names.kernels.back();
  }
  for (const Memory& memory : program.memories) {
    names.memories.emplace_back(program.name(memory.name));
  }
  return names;
}

TEST(Recorder, MakesNamesLegal) {
  const Names names = names_of({"void gemm<float, 4>(int)", "4x4", "", ".x", "größe", "_a.b"});
  EXPECT_THAT(names.labels,
              ElementsAre("void_gemm_float__4__int_", "_4x4", "_", "_.x", "gr____e", "_a.b"));
  EXPECT_THAT(names.memories,
              ElementsAre("void_gemm_float__4__int_", "_4x4", "_", "_.x", "gr____e", "_a.b"));
  EXPECT_THAT(names.kernels,
              ElementsAre("Void_gemm_float__4__int_", "K_4x4", "K_", "K_.x", "Gr____e", "K_a.b"));
}

TEST(Recorder, KeepsKernelNamesThatAreOpaqueAlready) {
  EXPECT_THAT(names_of({"s00.GET_ROWS.0", "Scatter", "mul.mat", "a.B"}).kernels,
              ElementsAre("s00.GET_ROWS.0", "Scatter", "Mul.mat", "a.B"));
}

TEST(Recorder, NumbersNamesThatCameBefore) {
  const Names names = names_of({"a", "a", "a.1", "b.1", "a", "a.1.1"});
  EXPECT_THAT(names.labels, ElementsAre("a", "a.1", "a.1.2", "b.1.3", "a.4", "a.1.1.5"));
  EXPECT_THAT(names.memories, ElementsAre("a", "a.2", "a.1.3", "b.1.4", "a.5", "a.1.1.6"));
}

TEST(Recorder, NumbersReservedWords) {
  std::vector<const char*> reserved;
  for (const char* const word :
       {"reads",   "writes",      "updates",     "atomics",  "partial",   "indirect",
        "uniform", "on",          "order",       "actual",   "execution", "compute",
        "copy",    "all",         "host",        "memory",   "dispatch",  "barrier",
        "tensor",  "output",      "expect",      "witness",  "atomic",    "interlock",
        "scratch", "approximate", "transitions", "discards", "none",      "device"}) {
    reserved.push_back(word);
  }
  const Names names = names_of(reserved);
  for (size_t i = 0; i < reserved.size(); ++i) {
    EXPECT_EQ(names.labels[i] != reserved[i], is_reserved(reserved[i])) << reserved[i];
    EXPECT_EQ(names.memories[i] != reserved[i], is_reserved(reserved[i])) << reserved[i];
  }
}

TEST(Recorder, ShortensLongNamesAndKeepsThemApart) {
  const std::string long_name(1000, 'x');
  const Names names = names_of({long_name.c_str(), long_name.c_str()});
  EXPECT_EQ(names.labels[0], std::string(234, 'x'));
  EXPECT_EQ(names.labels[1], std::string(234, 'x') + ".1");
  EXPECT_EQ(names.memories[1], std::string(42, 'x') + ".2");
  EXPECT_EQ(names.kernels[0], "X" + std::string(253, 'x'));
}

// More labels than are remembered, from few stems, so that most collide. Parsing finds two alike.
TEST(Recorder, NeverGivesALabelTwice) {
  constexpr size_t kDispatchCount = 30'000;
  const Program program = parsed(recording_of([](interlock_recorder* r) {
    SeededChoice choice(1);
    for (size_t i = 0; i < kDispatchCount; ++i) {
      std::string label(1 + choice.below(3), static_cast<char>('a' + choice.below(26)));
      while (choice.below(2) == 0) label += "." + std::to_string(choice.below(kDispatchCount));
      if (choice.below(2) == 0) label += std::to_string(choice.below(10'000));
      interlock_recorder_dispatch(r, "K", label.c_str());
      interlock_recorder_end(r);
    }
  }));
  EXPECT_THAT(program.dispatches, SizeIs(kDispatchCount));
}

// --- Accesses, as they were called ---

TEST(Recorder, GivesBackEveryAccessOfRandomDispatches) {
  constexpr size_t kMemoryCount = 40;
  struct Call {
    size_t memory;
    interlock_access_kind kind;
    ByteRange range;
  };
  SeededChoice choice(2);
  std::vector<std::vector<Call>> calls(500);
  const Program program = parsed(recording_of([&](interlock_recorder* r) {
    std::vector<interlock_memory> memories;
    for (size_t i = 0; i < kMemoryCount; ++i) {
      memories.push_back(interlock_recorder_memory(r, nullptr, 0, 1ull << (i + 1), 0));
    }
    for (std::vector<Call>& dispatch : calls) {
      interlock_recorder_dispatch(r, "K", nullptr);
      // By kind, as the text has them, so that the accesses come back in the order of the calls.
      for (const auto kind : {INTERLOCK_INDIRECT, INTERLOCK_UNIFORM, INTERLOCK_READ,
                              INTERLOCK_WRITE, INTERLOCK_UPDATE, INTERLOCK_ATOMIC_XOR}) {
        for (uint64_t i = choice.below(42); i > 0; --i) {
          const size_t memory = choice.below(kMemoryCount);
          const uint64_t begin = choice.below((2ull << memory) + 1);
          const uint64_t size = choice.below((2ull << memory) - begin + 1);
          interlock_recorder_access(r, kind, memories[memory], begin, size);
          dispatch.push_back({memory, kind, {begin, begin + size}});
        }
      }
      interlock_recorder_end(r);
    }
  }));
  const AccessMode modes[] = {AccessMode::kIndirect, AccessMode::kUniform, AccessMode::kRead,
                              AccessMode::kWrite, AccessMode::kUpdate};
  ASSERT_EQ(program.dispatches.size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto accesses = program.accesses_of(DispatchId(i));
    ASSERT_EQ(accesses.size(), calls[i].size());
    for (size_t k = 0; k < accesses.size(); ++k) {
      const Call& call = calls[i][k];
      EXPECT_EQ(accesses[k].memory.index, call.memory);
      EXPECT_EQ(accesses[k].range, call.range);
      EXPECT_EQ(accesses[k].mode,
                call.kind < INTERLOCK_ATOMIC_ADD ? modes[call.kind] : AccessMode::kAtomic);
    }
  }
}

TEST(Recorder, FitsTheLongestDispatchIntoALineThatParses) {
  const std::string name(1000, 'n');
  const Program program = parsed(recording_of([&name](interlock_recorder* r) {
    const interlock_memory first = interlock_recorder_memory(r, name.c_str(), 0, 1ull << 48, 0);
    interlock_recorder_free(r, first);
    const interlock_memory memory = interlock_recorder_memory(r, name.c_str(), 0, 1ull << 48, 0);
    for (int i = 0; i < 20; ++i) {
      interlock_recorder_dispatch(r, name.c_str(), name.c_str());
      for (int k = 0; k < 256; ++k) {
        interlock_recorder_access(r, INTERLOCK_READ, memory, (1ull << 48) - 2, 1);
      }
      interlock_recorder_end(r);
    }
  }));
  EXPECT_THAT(program.dispatches, SizeIs(20));
  EXPECT_THAT(program.accesses, SizeIs(20 * 256));
}

// The statement that takes the most bytes, at every fill of the buffer from which it could leave
// it.
TEST(Recorder, NeverWritesPastItsBuffer) {
  const std::string name(1000, 'n');
  size_t most_used = 0;
  recording_of([&](interlock_recorder* r) {
    const interlock_memory first = interlock_recorder_memory(r, name.c_str(), 0, 1ull << 48, 0);
    interlock_recorder_free(r, first);
    const interlock_memory memory = interlock_recorder_memory(r, name.c_str(), 0, 1ull << 48, 0);
    const interlock_queue queue = interlock_recorder_queue(r, name.c_str(), INTERLOCK_GRAPH);
    constexpr size_t kBarrierBytes = sizeof "barrier\n" - 1;
    for (int fill = 0; fill < 3; ++fill) {
      // As full as it may be before a statement: one more barrier would make it be written first.
      size_t before = 0;
      do {
        before = r->used;
        interlock_recorder_barrier(r, nullptr);
      } while (r->used > before);
      while (r->used + 2 * kBarrierBytes < before) interlock_recorder_barrier(r, nullptr);
      r->dispatch_count = UINT64_MAX - 10;  // As if there had been so many, with an order.
      r->orders_dispatches = 1;
      for (int k = 0; k < 2; ++k) {
        interlock_recorder_dispatch(r, name.c_str(), name.c_str());
        for (int i = 0; i < INTERLOCK_ACCESSES_MAX; ++i) {
          interlock_recorder_access(r, INTERLOCK_ATOMIC_MAX, memory, (1ull << 48) - (1ull << 47),
                                    1ull << 47);
          interlock_recorder_rows(r, 1, 1ull << 47, 1ull << 47);
        }
        for (uint64_t i = 0; i < INTERLOCK_EDGES_MAX; ++i) {
          interlock_recorder_after(r, UINT64_MAX - 10 - i);
        }
        interlock_recorder_order(r, UINT64_MAX);
        interlock_recorder_partial(r);
        interlock_recorder_programmatic(r);
        interlock_recorder_on(r, queue);
        interlock_recorder_end(r);
        most_used = std::max(most_used, r->used);
      }
    }
  });
  EXPECT_LE(most_used, size_t{INTERLOCK_BUFFER_BYTES});
  EXPECT_GT(most_used, size_t{INTERLOCK_BUFFER_BYTES} - 8192) << "the bound is far too large";
}

}  // namespace
}  // namespace interlock::recorder_test
