// Memories found by address or handle, freed and allocated again, and files while they grow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "encoder/recorder.h"
#include "encoder/text/parser.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/recording.h"

namespace interlock::recorder_memories_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(RecorderMemories, AreFoundByAnyAddressInside) {
  recording_of([](interlock_recorder* r) {
    const interlock_memory a = interlock_recorder_memory(r, "a", 0x2000, 0x100, 0);
    const interlock_memory b = interlock_recorder_memory(r, "b", 0x1000, 0x100, 0);
    interlock_recorder_memory(r, "without an address", 0, 0x100, 0);
    uint64_t offset = 99;
    EXPECT_EQ(interlock_recorder_find(r, 0x2000, &offset), a);
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(interlock_recorder_find(r, 0x20ff, &offset), a);
    EXPECT_EQ(offset, 0xffu);
    EXPECT_EQ(interlock_recorder_find(r, 0x2100, &offset), 0u);
    EXPECT_EQ(interlock_recorder_find(r, 0x1fff, nullptr), 0u);
    EXPECT_EQ(interlock_recorder_find(r, 0x1000, nullptr), b);
    EXPECT_EQ(interlock_recorder_find(r, 0xfff, nullptr), 0u);
    EXPECT_EQ(interlock_recorder_find(r, 0, nullptr), 0u);
  });
}

TEST(RecorderMemories, GiveAccessesByAddressTheirOffsets) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    interlock_recorder_memory(r, "a", 0x1000, 0x100, 0);
    interlock_recorder_dispatch(r, "K", nullptr);
    interlock_recorder_access_at(r, INTERLOCK_READ, 0x1010, 0, 16);
    interlock_recorder_access_at(r, INTERLOCK_WRITE, 0x1000, 32, 16);
    interlock_recorder_access_at(r, INTERLOCK_WRITE, 0x1010, 48, 16);
    interlock_recorder_end(r);
  });
  EXPECT_EQ(recording.text, "memory a 256\ndispatch K reads a[16:32] writes a[32:48] a[64:80]\n");
}

TEST(RecorderMemories, RefuseAddressesOutside) {
  const auto recorded = [](uint64_t key, uint64_t offset) {
    return recording_of([=](interlock_recorder* r) {
      interlock_recorder_memory(r, "a", 0x1000, 0x100, 0);
      interlock_recorder_dispatch(r, "K", nullptr);
      interlock_recorder_access_at(r, INTERLOCK_READ, key, offset, 1);
      interlock_recorder_end(r);
    });
  };
  EXPECT_EQ(recorded(0x10ff, 0).status, INTERLOCK_OK);
  EXPECT_EQ(recorded(0x1100, 0).error, "In dispatch 0 (K), no memory has the key 0x1100.");
  EXPECT_EQ(recorded(0x1100, 0).status, INTERLOCK_BAD_MEMORY);
  EXPECT_EQ(recorded(0x10ff, 1).status, INTERLOCK_BAD_RANGE);
  EXPECT_EQ(recorded(0x1001, UINT64_MAX).status, INTERLOCK_BAD_RANGE);
}

// Handles are as near to each other as their own bytes, and stand for buffers of any size.
TEST(RecorderMemories, AreFoundByHandle) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    interlock_recorder_memory(r, "a", 0x1000, 4096, INTERLOCK_HANDLE);
    interlock_recorder_memory(r, "b", 0x1001, 4096, INTERLOCK_HANDLE);
    EXPECT_EQ(interlock_recorder_find(r, 0x1002, nullptr), 0u);
    interlock_recorder_dispatch(r, "K", nullptr);
    interlock_recorder_access_at(r, INTERLOCK_READ, 0x1000, 64, 64);
    interlock_recorder_access_at(r, INTERLOCK_WRITE, 0x1001, 0, 4096);
    interlock_recorder_end(r);
  });
  EXPECT_THAT(recording.text, EndsWith("dispatch K reads a[64:128] writes b\n"));
}

TEST(RecorderMemories, AtTheSameAddressAreNewOnesOnceTheOldOneIsFreed) {
  const Recording recording = recording_of([](interlock_recorder* r) {
    const interlock_memory old = interlock_recorder_memory(r, "pool", 0x1000, 64, 0);
    interlock_recorder_free(r, old);
    const interlock_memory young = interlock_recorder_memory(r, "pool", 0x1000, 32, 0);
    EXPECT_NE(young, old);
    EXPECT_EQ(interlock_recorder_find(r, 0x1000, nullptr), young);
    EXPECT_EQ(interlock_recorder_find(r, 0x1020, nullptr), 0u);
  });
  EXPECT_EQ(recording.text, "memory pool 64\nmemory pool.2 32\n");
}

TEST(RecorderMemories, DoNotOverlapOnesInUse) {
  const auto status_of = [](uint64_t key, uint64_t size) {
    return recording_of([=](interlock_recorder* r) {
             interlock_recorder_memory(r, "below", 0x1000, 0x100, 0);
             interlock_recorder_memory(r, "above", 0x2000, 0x100, 0);
             interlock_recorder_memory(r, "new", key, size, 0);
           })
        .status;
  };
  EXPECT_EQ(status_of(0x1100, 0xf00), INTERLOCK_OK);
  EXPECT_EQ(status_of(0x10ff, 1), INTERLOCK_BAD_MEMORY);
  EXPECT_EQ(status_of(0x1100, 0xf01), INTERLOCK_BAD_MEMORY);
  EXPECT_EQ(status_of(0xfff, 1), INTERLOCK_OK);
  EXPECT_EQ(status_of(0xfff, 2), INTERLOCK_BAD_MEMORY);
  EXPECT_EQ(status_of(UINT64_MAX, 1), INTERLOCK_OK);
  EXPECT_EQ(status_of(UINT64_MAX, 2), INTERLOCK_BAD_MEMORY);
  const Recording recording = recording_of([](interlock_recorder* r) {
    interlock_recorder_memory(r, "pool", 4096, 64, 0);
    interlock_recorder_memory(r, "next", 4128, 64, 0);
  });
  EXPECT_EQ(recording.error, "A memory at key 4128 overlaps 'pool', which is not freed.");
}

// Against a map, with every kind of call in turn.
TEST(RecorderMemories, AreFoundAsInAMapWhateverWasFreed) {
  constexpr uint64_t kPageBytes = 64;
  recording_of([](interlock_recorder* r) {
    SeededChoice choice(3);
    std::map<uint64_t, interlock_memory> pages;
    for (int step = 0; step < 5000; ++step) {
      const uint64_t key = (1 + choice.below(200)) * kPageBytes;
      const auto found = pages.find(key);
      if (found == pages.end()) {
        pages[key] = interlock_recorder_memory(r, "page", key, kPageBytes, 0);
      } else if (choice.below(2) == 0) {
        interlock_recorder_free(r, found->second);
        pages.erase(found);
      }
      const uint64_t probe = choice.below(202 * kPageBytes);
      const auto expected = pages.find(probe / kPageBytes * kPageBytes);
      uint64_t offset = 0;
      const interlock_memory memory = interlock_recorder_find(r, probe, &offset);
      ASSERT_EQ(memory, expected == pages.end() ? 0 : expected->second);
      ASSERT_EQ(offset, memory == 0 ? 0 : probe % kPageBytes);
    }
    EXPECT_STREQ(interlock_recorder_error(r), "");
  });
}

TEST(RecorderMemories, TakeNoMoreRoomWhenTheyAreFreed) {
  recording_of([](interlock_recorder* r) {
    for (int i = 0; i < 10'000; ++i) {
      interlock_recorder_free(r, interlock_recorder_memory(r, "a", 4096, 64, 0));
    }
    EXPECT_EQ(r->slot_count, 1u);
  });
}

TEST(RecorderFiles, HaveWholeStatementsWhenFlushed) {
  const std::string path = recording_path("flushed");
  interlock_recorder* const r = interlock_recorder_open(path.c_str());
  interlock_recorder_dispatch(r, "K", nullptr);
  interlock_recorder_barrier(r, nullptr);
  EXPECT_EQ(content_of(path), "");
  EXPECT_EQ(interlock_recorder_flush(r), INTERLOCK_OK);
  EXPECT_EQ(content_of(path), "interlock 1\nbarrier\n");
  interlock_recorder_end(r);
  // Enough to be written without being asked to.
  for (int i = 0; i < 20'000; ++i) interlock_recorder_barrier(r, "execution");
  EXPECT_THAT(content_of(path), EndsWith("barrier execution\n"));
  EXPECT_EQ(interlock_recorder_close(r), INTERLOCK_OK);
  EXPECT_TRUE(parse(content_of(path)));
  std::remove(path.c_str());
}

TEST(RecorderFiles, OfTheCallerStayOpen) {
  const std::string path = recording_path("borrowed");
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fputs("# Recorded by a test.\n", file);
  EXPECT_EQ(interlock_recorder_close(interlock_recorder_open_file(file)), INTERLOCK_OK);
  std::fputs("barrier\n", file);
  EXPECT_EQ(std::fclose(file), 0);
  EXPECT_EQ(content_of(path), "# Recorded by a test.\ninterlock 1\nbarrier\n");
  std::remove(path.c_str());
}

TEST(RecorderFiles, OfTwoRecordersHaveNothingInCommon) {
  const Recording outer = recording_of([](interlock_recorder* r) {
    const Recording inner = recording_of(
        [](interlock_recorder* other) { interlock_recorder_memory(other, "a", 4096, 64, 0); });
    interlock_recorder_memory(r, "a", 4096, 64, 0);
    EXPECT_EQ(inner.text, "memory a 64\n");
  });
  EXPECT_EQ(outer.text, "memory a 64\n");
}

}  // namespace
}  // namespace interlock::recorder_memories_test
