// Properties of pictures, on all of the corpus: what is shown, what is folded, and that it is true.
#include "simulator/picture/picture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/lifetimes/owner_walk.h"
#include "simulator/order/queue_order.h"
#include "simulator/picture/layout.h"
#include "simulator/report/check.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"

namespace interlock::picture_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Program program_of(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse("interlock 1\n" + text, "<text>", options);
  EXPECT_TRUE(program.has_value()) << program.error().message;
  return std::move(*program);
}

// Few rows, so that small programs have folds, shut for good and not.
constexpr PictureLimits kTight = {.rows_whole = 4, .rows_shown = 6, .rows_unfolded = 8};

CheckReport report_of(const Program& program) {
  return check(program, {.pair_limit = 200, .redundancy_budget = 2'000'000});
}

struct Shown {
  std::string name;
  const Program& program;
  const CheckReport& report;
  const Finding* finding;  // Null: of the program.
  const PictureLimits& limits;
  Picture picture;
};

// Pictures of all programs of the corpus that are not long: of the first findings, in tight limits
// and in those of everyday.
template <typename Visit>
int for_each_picture(Visit visit) {
  int count = 0;
  constexpr uintmax_t kBytesMax = 60'000;
  constexpr size_t kFindingsMax = 3;
  const PictureLimits everyday;
  for (const auto& path : fewer_if_slow(
           corpus_files({"bugs", "queues", "regressions", "seeds", "streams", "captured"}), 7)) {
    if (std::filesystem::file_size(path) > (is_slow_build() ? kBytesMax / 20 : kBytesMax)) continue;
    const Program program = corpus_program(path);
    const CheckReport report = report_of(program);
    const PictureMaker maker(program, report);
    for (const PictureLimits* const limits : {&kTight, &everyday}) {
      const std::string name = path.filename();
      visit(Shown{name, program, report, nullptr, *limits, maker.of_program(*limits)});
      ++count;
      for (size_t i = 0; i < std::min(report.findings.size(), kFindingsMax); ++i) {
        visit(Shown{name, program, report, &report.findings[i], *limits,
                    maker.of_finding(i, *limits)});
        ++count;
      }
    }
  }
  return count;
}

TEST(Picture, HasEachDispatchInOneRowOrInOneFold) {
  const int count = for_each_picture([](const Shown& shown) {
    const std::vector<PictureRow>& rows = shown.picture.rows;
    std::vector<int> seen(shown.program.dispatches.size(), 0);
    uint64_t shut_count = 0;
    std::map<uint32_t, uint64_t> hidden;  // By fold.
    for (size_t i = 0; i < rows.size(); ++i) {
      const PictureRow& row = rows[i];
      if (row.dispatch.is_some()) ++seen[row.dispatch.index];
      if (row.kind == RowKind::kFold && row.is_closed) shut_count += row.dispatch_count;
      if (row.fold == kNone32) continue;
      EXPECT_EQ(rows[row.fold].kind, RowKind::kFold) << shown.name;
      EXPECT_FALSE(rows[row.fold].is_closed) << shown.name;
      EXPECT_LT(row.fold, i) << shown.name;
      if (row.dispatch.is_some()) ++hidden[row.fold];
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times <= 1; })) << shown.name;
    EXPECT_EQ(std::ranges::count(seen, 1) + shut_count, seen.size()) << shown.name;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (rows[i].kind == RowKind::kFold && !rows[i].is_closed) {
        EXPECT_EQ(rows[i].dispatch_count, hidden[i]) << shown.name;
      }
    }
  });
  EXPECT_GT(count, is_slow_build() ? 40 : 700);
}

// Rows outside folds, a fold between any two of them, and what opens.
TEST(Picture, IsNoLongerThanItsLimits) {
  for_each_picture([](const Shown& shown) {
    const PictureLimits& limits = shown.limits;
    const auto visible =
        static_cast<uint64_t>(std::ranges::count(shown.picture.rows, kNone32, &PictureRow::fold));
    const uint64_t hidden = shown.picture.rows.size() - visible;
    const uint64_t shown_max = std::max(limits.rows_whole, limits.rows_shown);
    const auto repaired = static_cast<uint64_t>(
        std::ranges::count(shown.picture.rows, RowKind::kRepair, &PictureRow::kind));
    // Two statements or fewer are no fold.
    EXPECT_LE(visible, 3 * shown_max + 3 + repaired + 1) << shown.name;
    EXPECT_LE(hidden, limits.rows_unfolded) << shown.name;
    EXPECT_LE(shown.picture.lanes.size(), limits.lanes) << shown.name;
    EXPECT_LE(shown.picture.memories.size(), limits.memories) << shown.name;
  });
}

uint32_t row_with(const Picture& picture, DispatchId dispatch) {
  const auto row = std::ranges::find(picture.rows, dispatch, &PictureRow::dispatch);
  return row == picture.rows.end() ? kNone32 : static_cast<uint32_t>(row - picture.rows.begin());
}

TEST(Picture, LeadsAnArrowFromOneAccessOfAHazardToTheOther) {
  int hazard_count = 0;
  for_each_picture([&](const Shown& shown) {
    if (shown.finding == nullptr || !is_hazard(shown.finding->kind)) return;
    const Finding& finding = *shown.finding;
    const uint32_t first = row_with(shown.picture, finding.first.dispatch);
    const uint32_t second = row_with(shown.picture, finding.second->dispatch);
    ASSERT_NE(first, kNone32) << shown.name;
    ASSERT_NE(second, kNone32) << shown.name;
    ASSERT_THAT(shown.picture.arrows, SizeIs(1)) << shown.name;
    EXPECT_EQ(shown.picture.arrows[0].from_row, first) << shown.name;
    EXPECT_EQ(shown.picture.arrows[0].to_row, second) << shown.name;
    for (const uint32_t row : {first, second}) {
      EXPECT_EQ(shown.picture.rows[row].fold, kNone32) << shown.name;
      EXPECT_TRUE(shown.picture.rows[row].is_in_finding) << shown.name;
      EXPECT_THAT(shown.picture.rows[row].access, Not(IsEmpty())) << shown.name;
      const auto is_cell = [&](const MapCell& cell) {
        return cell.row == row && cell.is_in_finding &&
               shown.picture.memories[cell.memory].memory == finding.memory;
      };
      EXPECT_TRUE(std::ranges::any_of(shown.picture.cells, is_cell)) << shown.name;
    }
    ++hazard_count;
  });
  EXPECT_GT(hazard_count, is_slow_build() ? 10 : 150);
}

// Of a finding without two accesses the rows that it names are there, and marked.
TEST(Picture, ShowsWhatAFindingNames) {
  for_each_picture([](const Shown& shown) {
    if (shown.finding == nullptr) return;
    const auto is_marked = [](const PictureRow& row) { return row.is_in_finding; };
    const bool has_place = shown.finding->first.dispatch.is_some() ||
                           shown.finding->lifetime.is_some() || !shown.finding->cycle.empty();
    EXPECT_TRUE(!has_place || std::ranges::any_of(shown.picture.rows, is_marked)) << shown.name;
    EXPECT_EQ(shown.picture.headline, shown.finding->headline);
    for (const PictureRow& row : shown.picture.rows) {
      EXPECT_TRUE(!row.is_in_finding || row.fold == kNone32) << shown.name;
    }
    if (&shown.limits == &kTight) return;  // There may be no room for it.
    for (const RepairLine& line : shown.finding->repair) {
      if (line.text.empty()) continue;
      EXPECT_THAT(shown.picture.rows, Contains(Field(&PictureRow::label, line.text))) << shown.name;
    }
  });
}

// Owners at the end are those of the walk that lifetimes are judged by, which cuts no segments.
TEST(Picture, AgreesWithLifetimesOnWhoOwnsWhatAtTheEnd) {
  class Nobody : public ReadObserver {
    void see_read(AccessRef, TensorId, MemoryId, const ValueRun&) override {}
  };
  int segment_count = 0;
  for_each_picture([&](const Shown& shown) {
    if (needs_queue_order(shown.program)) return;
    Nobody nobody;
    OwnerWalk walk(shown.program, nullptr, UINT64_MAX, nobody);
    const bool is_ended = false;
    ASSERT_TRUE(walk.run(is_ended));
    for (uint32_t m = 0; m < shown.picture.memories.size(); ++m) {
      const PictureMemory& memory = shown.picture.memories[m];
      for (uint32_t k = 0; k + 1 < memory.boundaries.size(); ++k) {
        const auto run = std::ranges::find_if(shown.picture.owners, [&](const OwnerRun& owner) {
          return owner.memory == m && owner.last_row == kNone32 && owner.first_segment <= k &&
                 k < owner.first_segment + owner.segment_count;
        });
        const OwnerKind kind = run == shown.picture.owners.end() ? OwnerKind::kNothing : run->kind;
        if (kind == OwnerKind::kMixed) continue;
        const ByteRange bytes = {memory.boundaries[k], memory.boundaries[k + 1]};
        ++segment_count;
        walk.values().for_each(memory.memory, bytes, [&](const ValueRun& value) {
          // A walk of lifetimes leaves out memories without tensors.
          if (value.value.kind == HeldKind::kValue && !value.value.is_ended()) {
            ASSERT_EQ(kind, OwnerKind::kValue) << shown.name << " " << memory.title;
            const Tensor& tensor = shown.program.tensor(value.value.owner);
            EXPECT_EQ(run->label, shown.program.name(tensor.name)) << shown.name;
          } else if (value.value.is_ended()) {
            EXPECT_EQ(kind, OwnerKind::kEnded) << shown.name;
          } else {
            EXPECT_NE(kind, OwnerKind::kValue) << shown.name;
          }
        });
      }
    }
  });
  EXPECT_GT(segment_count, is_slow_build() ? 70 : 500);
}

// On one queue, whole dispatches: the witness has the two the other way round, or says whose
// writes arrive late or what was read before.
TEST(Picture, HasTheWitnessInAnotherOrder) {
  int witness_count = 0;
  for_each_picture([&](const Shown& shown) {
    if (shown.finding == nullptr || shown.finding->observability != Observability::kObservable ||
        shown.finding->witness.empty() || &shown.limits == &kTight) {
      return;  // Also where no line says the execution that shows it.
    }
    ASSERT_THAT(shown.picture.witness, Not(IsEmpty())) << shown.name;
    EXPECT_THAT(shown.picture.witness_text, Not(IsEmpty())) << shown.name;
    const auto has_notes = [](const WitnessEntry& entry) { return !entry.notes.empty(); };
    const bool is_in_issue_order =
        std::ranges::is_sorted(shown.picture.witness, {}, &WitnessEntry::row);
    EXPECT_TRUE(!is_in_issue_order || std::ranges::any_of(shown.picture.witness, has_notes))
        << shown.name;
    ++witness_count;
  });
  EXPECT_GT(witness_count, is_slow_build() ? 5 : 60);
}

TEST(Picture, ShowsTheBarrierThatIsMissingBetweenTheTwo) {
  const Program program = program_of(R"(
memory a 64
dispatch Make writes a
dispatch Use reads a
)");
  const CheckReport report = report_of(program);
  const Picture picture = PictureMaker(program, report).of_finding(0);
  ASSERT_THAT(picture.rows, SizeIs(3));
  EXPECT_EQ(picture.rows[1].kind, RowKind::kRepair);
  EXPECT_EQ(picture.rows[1].label, "barrier");
  EXPECT_EQ(picture.kind_word, "RAW");
}

TEST(Picture, FollowsOwnersFromRowToRow) {
  const Program program = program_of(R"(
memory a 64
tensor x u8[64] at a+0 = zeros
tensor y u8[32] at a+32
dispatch Use reads x
barrier
dispatch Make writes y
free x
dispatch Raw writes a[0:16]
)");
  const CheckReport report = report_of(program);
  const Picture picture = PictureMaker(program, report).of_program();
  std::vector<std::string> runs;
  for (const OwnerRun& run : picture.owners) {
    const auto& bounds = picture.memories[run.memory].boundaries;
    runs.push_back(fmt::format(
        "{}:{} {}-{} {}", bounds[run.first_segment], bounds[run.first_segment + run.segment_count],
        run.first_row == kNone32 ? -1 : static_cast<int>(run.first_row),
        run.last_row == kNone32 ? -1 : static_cast<int>(run.last_row), run.label));
  }
  EXPECT_THAT(runs, testing::UnorderedElementsAre("0:32 -1-3 x", "32:64 -1-2 x", "32:64 2--1 y",
                                                  "0:16 3-4 x, ended", "16:32 3--1 x, ended",
                                                  "0:16 4--1 of Raw (dispatch 2)"))
      << testing::PrintToString(runs);
}

TEST(Picture, CallsBytesMixedWhereItsSegmentsAreTooCoarse) {
  std::string text = "memory a 4096\n";
  for (int i = 0; i < 20; ++i) {
    text += fmt::format("tensor t{0} u8[8] at a+{1}\ndispatch Make writes t{0}\n", i, 16 * i);
  }
  const Program program = program_of(text);
  const CheckReport report = report_of(program);
  const PictureLimits limits;
  const Picture picture = PictureMaker(program, report).of_program(limits);
  EXPECT_LE(picture.memories[0].boundaries.size(), limits.segments + 2);
  EXPECT_THAT(picture.owners, Contains(Field(&OwnerRun::kind, OwnerKind::kMixed)));
}

TEST(Picture, MarksSyncThatCanGo) {
  const Program program = program_of(R"(
memory a 64
memory b 64
dispatch Make writes a
barrier
dispatch Other writes b
)");
  const CheckReport report = report_of(program);
  const Picture picture = PictureMaker(program, report).of_program();
  EXPECT_TRUE(picture.rows[1].is_useless);
  EXPECT_THAT(picture.arrows, IsEmpty());
}

TEST(Picture, NamesACircleOfWaits) {
  const Program program = program_of(R"(
memory a 64
p: queue concurrent
q: queue concurrent
wait s=1 on p
dispatch One writes a on p
signal t=1 on p
wait t=1 on q
signal s=1 on q
)");
  const CheckReport report = report_of(program);
  ASSERT_FALSE(report.findings.empty());
  const Picture picture = PictureMaker(program, report).of_finding(0);
  EXPECT_THAT(picture.arrows, Not(IsEmpty()));
  EXPECT_THAT(picture.rows, Contains(Field(&PictureRow::never_runs, true)));
}

// Boxes, lanes, segments and entries of the witness lie beside each other.
TEST(PictureLayout, LetsNothingOverlap) {
  for_each_picture([](const Shown& shown) {
    const PictureLayout layout(shown.picture);
    const Picture& picture = shown.picture;
    double bottom = 0;
    for (uint32_t i = 0; i < picture.rows.size(); ++i) {
      if (picture.rows[i].fold != kNone32) continue;
      EXPECT_GE(layout.ordinate(i, 0), bottom) << shown.name;
      bottom = layout.ordinate(i, PictureLayout::height_of(picture.rows[i]));
    }
    EXPECT_LE(bottom, layout.rows_height());
    double right = 0;
    for (uint32_t i = 0; i < picture.lanes.size(); ++i) {
      EXPECT_GE(layout.lane(i).left, right - 0.01);
      right = layout.lane(i).right;
    }
    if (!picture.witness.empty()) {
      EXPECT_GT(layout.witness().left, right);
      right = layout.witness().right;
    }
    for (uint32_t m = 0; m < picture.memories.size(); ++m) {
      for (uint32_t k = 0; k + 1 < picture.memories[m].boundaries.size(); ++k) {
        const Span segment = layout.segments(m, k, 1);
        EXPECT_GE(segment.left, right - 0.01);
        EXPECT_GT(segment.width(), 1.5) << shown.name;
        right = segment.right;
      }
    }
    EXPECT_LT(right, layout.width());
    for (size_t i = 0; i + 1 < picture.cells.size(); ++i) {
      const MapCell& cell = picture.cells[i];
      const MapCell& next = picture.cells[i + 1];
      if (cell.row != next.row || cell.memory != next.memory) continue;
      EXPECT_LE(cell.first_segment + cell.segment_count, next.first_segment) << shown.name;
    }
  });
}

// A stream of a million dispatches is the same picture as one of a thousand, but for the counts.
TEST(Picture, IsBoundedWhateverTheProgram) {
  const auto size_of = [](int count) {
    std::string text = "memory a 65536\n";
    for (int i = 0; i < count; ++i) {
      text += fmt::format("dispatch Step reads a[{}:{}] writes a[{}:{}]\n", i % 97 * 64,
                          i % 97 * 64 + 64, i % 89 * 64 + 6400, i % 89 * 64 + 6464);
      if (i != count / 2) text += "barrier\n";
    }
    const Program program = program_of(text);
    const CheckReport report = report_of(program);
    const Picture picture = PictureMaker(program, report).of_program();
    return picture.rows.size() + picture.cells.size() + picture.owners.size();
  };
  const int count = is_slow_build() ? 4'000 : 20'000;
  EXPECT_LE(size_of(count), size_of(2 * count) + 100);
  EXPECT_LE(size_of(2 * count), size_of(count) + 100);
}

}  // namespace
}  // namespace interlock::picture_test
