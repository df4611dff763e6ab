// What the writers make of pictures: well-formed, the same every time, and nothing of strangers in
// it that is more than text.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/picture/page.h"
#include "simulator/picture/picture.h"
#include "simulator/picture/svg.h"
#include "simulator/picture/trace.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/picture/markup_check.h"

namespace interlock::writers_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using nlohmann::json;

constexpr uintmax_t kFileBytesMax = 100'000;

// The element as it stands in a page: HTML reads what is well-formed XML the same way.
std::string element_of(const std::string& html) {
  const size_t begin = html.find("<svg");
  return html.substr(begin, html.find("</svg>") + 6 - begin);
}

std::string page_about(const Program& program, const CheckReport& report, const std::string& name) {
  const PictureMaker maker(program, report);
  PicturePage page{.title = name,
                   .summary = summary_of(report),
                   .pictures = {},
                   .finding_count = report.findings.size()};
  if (report.findings.empty()) {
    page.pictures.push_back({maker.of_program(), ""});
  } else {
    page.pictures.push_back(
        {maker.of_finding(0), text_of_finding(program, report.findings[0], name)});
  }
  return html_of(page);
}

template <typename Visit>
int for_each_program(Visit visit) {
  int count = 0;
  for (const auto& path : fewer_if_slow(
           corpus_files({"bugs", "queues", "regressions", "seeds", "streams", "captured"}), 7)) {
    if (std::filesystem::file_size(path) > (is_slow_build() ? kFileBytesMax / 20 : kFileBytesMax)) {
      continue;
    }
    const Program program = corpus_program(path);
    visit(path.filename().string(), program,
          check(program, {.pair_limit = 100, .redundancy_budget = 2'000'000}));
    ++count;
  }
  return count;
}

Picture first_picture(const Program& program, const CheckReport& report,
                      const PictureLimits& limits = {}) {
  const PictureMaker maker(program, report);
  return report.findings.empty() ? maker.of_program(limits) : maker.of_finding(0, limits);
}

TEST(PictureWriters, WriteWellFormedSvgOfAllPrograms) {
  const int count = for_each_program(
      [](const std::string& name, const Program& program, const CheckReport& report) {
        const Picture picture = first_picture(program, report);
        const std::string svg = svg_of(picture);
        EXPECT_THAT(xml_complaint(svg), IsEmpty()) << name;
        EXPECT_THAT(xml_complaint(unfolding_svg_of(picture)), IsEmpty()) << name;
        EXPECT_THAT(svg, AllOf(Not(HasSubstr("\"nan")), Not(HasSubstr("data-d=")))) << name;
        EXPECT_EQ(svg, svg_of(first_picture(program, report))) << name;
      });
  EXPECT_GT(count, is_slow_build() ? 30 : 200);
}

TEST(PictureWriters, WritePagesThatNeedNothingElse) {
  for_each_program([](const std::string& name, const Program& program, const CheckReport& report) {
    const std::string html = page_about(program, report, name);
    EXPECT_THAT(html, AllOf(Not(HasSubstr(" src=")), Not(HasSubstr(" href=")),
                            Not(HasSubstr("@import")), Not(HasSubstr("url("))))
        << name;
    EXPECT_THAT(xml_complaint(element_of(html)), IsEmpty()) << name;
  });
}

// The whole finding is in words, with the commands of the report.
TEST(PictureWriters, SayOnThePageWhatTheReportSays) {
  const Program program =
      corpus_program(std::filesystem::path(INTERLOCK_SOURCE_DIR) / "corpus/bugs/mlx-3630.ilk");
  const std::string html = page_about(program, check(program), "mlx-3630.ilk");
  EXPECT_THAT(html, AllOf(HasSubstr("vjp (dispatch 1) writes g_bytes[0:4096] as gx, which reduce "
                                    "(dispatch 0) reads as g."),
                          HasSubstr("Nothing orders them: no barrier stands between dispatch 0 and "
                                    "dispatch 1."),
                          HasSubstr("an execution dependency after dispatch 0"),
                          HasSubstr("interlock replay mlx-3630.ilk"),
                          HasSubstr("+ barrier execution"), HasSubstr("reduce after vjp")));
}

TEST(PictureWriters, TakeNamesForTextAlone) {
  const std::string name =
      "a\"><script>alert(1)</script>&amp;'\xe2\x80\xae\xff\x01\n]]>--><img src=x onerror=a>.ilk";
  Result<Program> program = parse(
      "interlock 1\nmemory a 64\ndispatch X writes a\n"
      "dispatch Y reads a\n");
  const CheckReport report = check(*program);
  const std::string html = page_about(*program, report, name);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<img")),
                          Not(HasSubstr("\xe2\x80\xae")), Not(HasSubstr("\xff"))));
  Picture picture = first_picture(*program, report);
  picture.headline = picture.fix = name;
  picture.details = {name};
  picture.witness_text = name;
  for (PictureRow& row : picture.rows) row.label = row.detail = row.text = row.access = name;
  for (PictureLane& lane : picture.lanes) lane.title = lane.detail = name;
  for (PictureMemory& memory : picture.memories) memory.title = name;
  for (MapCell& cell : picture.cells) cell.label = name;
  for (OwnerRun& run : picture.owners) run.label = name;
  for (FindingArrow& arrow : picture.arrows) arrow.label = name;
  for (WitnessEntry& entry : picture.witness) {
    entry.label = name;
    entry.notes = {name};
  }
  EXPECT_THAT(xml_complaint(svg_of(picture)), IsEmpty());
  EXPECT_THAT(xml_complaint(unfolding_svg_of(picture)), IsEmpty());
  EXPECT_FALSE(json::parse(trace_of(picture, name), nullptr, false).is_discarded());
}

// A line may have 64 KiB, and a picture thousands of them.
TEST(PictureWriters, ShortenWhatThePointerAsksFor) {
  const Result<Program> program =
      parse("interlock 1\nmemory a 64\ndispatch X writes a\ndispatch Y reads a\n");
  Picture picture = first_picture(*program, check(*program));
  const size_t before = svg_of(picture).size();
  for (PictureRow& row : picture.rows) row.text.assign(60'000, 'x');
  const std::string svg = svg_of(picture);
  EXPECT_LT(svg.size(), before + 1100 * picture.rows.size());
  EXPECT_THAT(svg, HasSubstr(std::string(600, 'x')));
}

// Slices of one thread follow each other, flows lead from a slice to a slice, and no viewer has to
// guess: each event has what the format asks of its phase.
TEST(PictureWriters, WriteTracesThatViewersRead) {
  int flow_count = 0;
  for_each_program([&](const std::string& name, const Program& program, const CheckReport& report) {
    const json trace = json::parse(trace_of(first_picture(program, report, trace_limits()), name));
    std::map<std::pair<int, int>, int64_t> free_from;
    std::map<std::pair<int, int>, std::vector<std::pair<int64_t, int64_t>>> slices;
    std::map<int64_t, int> begun;  // By id: 1 once it has begun, 2 once it has ended.
    std::vector<std::pair<std::pair<int, int>, int64_t>> flow_ends;
    uint64_t dispatch_us = 0;
    for (const json& event : trace["traceEvents"]) {
      const std::string phase = event["ph"];
      const std::pair<int, int> thread = {event["pid"], event["tid"]};
      if (phase == "M") continue;
      const int64_t at = event["ts"];
      if (phase == "X") {
        slices[thread].emplace_back(at, at + event["dur"].get<int64_t>());
        if (thread.first == 1) dispatch_us += event["dur"].get<uint64_t>();
      } else if (phase == "s") {
        EXPECT_EQ(++begun[event["id"]], 1) << name;
        flow_ends.emplace_back(thread, at);
      } else if (phase == "f") {
        EXPECT_EQ(++begun[event["id"]], 2) << name;
        flow_ends.emplace_back(thread, at);
        EXPECT_EQ(event["bp"], "e");
        if (event["cat"] == "finding") ++flow_count;
      } else {
        EXPECT_EQ(phase, "i") << name;
      }
    }
    for (auto& [thread, list] : slices) {
      std::ranges::sort(list);
      for (size_t i = 0; i + 1 < list.size(); ++i) {
        EXPECT_LE(list[i].second, list[i + 1].first) << name << " thread " << thread.second;
      }
    }
    for (const auto& [id, count] : begun) EXPECT_EQ(count, 2) << name << " flow " << id;
    for (const auto& end : flow_ends) {
      const auto is_in = [&](const auto& slice) {
        return slice.first <= end.second && end.second < slice.second;
      };
      EXPECT_TRUE(std::ranges::any_of(slices[end.first], is_in))
          << name << " flow at " << end.second;
    }
    EXPECT_GE(dispatch_us, program.dispatches.size()) << name;
    // The end of the program, and sync that arrows lead from or to.
    EXPECT_LE(dispatch_us, program.dispatches.size() + 1 + flow_ends.size()) << name;
  });
  EXPECT_GT(flow_count, is_slow_build() ? 5 : 50);
}

}  // namespace
}  // namespace interlock::writers_test
