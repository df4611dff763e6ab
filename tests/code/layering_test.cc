// A room is a folder with one idea. The basic idea is that a circle of includes is hard to remove
// once it is there; so one table says which room may include which, and the first include that it
// does not allow fails here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::layering_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Room {
  std::string_view folder;
  // Folders with all that is in them, or single headers. Its own files it may include in any case.
  std::vector<std::string_view> may_include;
};

// A room includes only what stands above it in this list. The checks judge encoders, planners and
// backward passes: so simulator/ lists the words that they have in common, encoder/program and
// encoder/kernel, and no logic of theirs, or one bug would hide in both. For the same reason the
// oracles of backends/float64 list no kernel and no device.
const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = {
      // Compiled by strangers' C compilers, beside none of our other files: encoder/recorder.h,
      // encoder/interlock_encoder.h.
      {"encoder", {}},
      {"encoder/program", {}},
      {"encoder/kernel", {"encoder/program"}},
      {"encoder/sync", {"encoder/program", "encoder/kernel"}},
      {"encoder/backward", {"encoder/program", "encoder/kernel"}},
      {"encoder/build", {"encoder/program", "encoder/kernel", "encoder/sync/encoder.h"}},
      {"encoder/assemble",
       {"encoder/program", "encoder/build", "encoder/backward", "encoder/sync/external_encoder.h"}},
      {"encoder/plan", {"encoder/program", "encoder/kernel", "encoder/sync", "encoder/assemble"}},
      {"encoder/queues",
       {"encoder/program", "encoder/sync", "encoder/assemble", "encoder/plan/data_dependencies.h",
        "encoder/plan/predecessors.h"}},
      {"encoder/replay",
       {"encoder/program", "encoder/assemble", "encoder/sync/external_encoder.h"}},
      {"encoder/text", {"encoder/program", "encoder/build", "encoder/assemble"}},
      {"encoder/import",
       {"encoder/program", "encoder/build", "encoder/assemble", "encoder/text/line_reader.h"}},

      // A second judge, which shares nothing with the others.
      {"simulator/bytes", {"encoder/program"}},
      {"simulator/order", {"encoder/program", "encoder/kernel", "simulator/bytes"}},
      {"simulator/hazards",
       {"encoder/program", "encoder/kernel", "simulator/bytes", "simulator/order"}},
      {"simulator/lifetimes",
       {"encoder/program", "encoder/kernel", "simulator/bytes", "simulator/order"}},
      {"simulator/chains", {"encoder/program", "encoder/kernel", "simulator/lifetimes"}},
      {"simulator/barriers",
       {"encoder/program", "encoder/kernel", "simulator/bytes", "simulator/order",
        "simulator/hazards", "simulator/lifetimes"}},
      {"simulator/gradients", {"encoder/program", "encoder/kernel"}},
      {"simulator/schedules",
       {"encoder/program", "encoder/kernel", "simulator/bytes", "simulator/order",
        "simulator/hazards", "simulator/lifetimes"}},
      {"simulator/facts",
       {"encoder/program", "simulator/bytes", "simulator/order", "simulator/hazards",
        "simulator/lifetimes", "simulator/barriers", "simulator/gradients"}},
      {"simulator/report",
       {"encoder/program", "encoder/kernel", "encoder/text",
        "encoder/sync/encoder.h",  // An `expect` line names an encoder, which then runs.
        "simulator/bytes", "simulator/order", "simulator/hazards", "simulator/lifetimes",
        "simulator/barriers", "simulator/gradients", "simulator/schedules", "simulator/facts"}},
      {"simulator/picture",
       {"encoder/program", "simulator/bytes", "simulator/order", "simulator/hazards",
        "simulator/lifetimes", "simulator/barriers", "simulator/schedules", "simulator/facts",
        "simulator/report"}},

      {"backends/kernels", {"encoder/program", "encoder/kernel"}},
      {"backends/interface",
       {"encoder/program", "encoder/kernel", "simulator/lifetimes", "simulator/order",
        "simulator/schedules"}},
      {"backends/float64", {"encoder/program", "encoder/kernel", "backends/interface/backend.h"}},
      {"backends/cpu",
       {"encoder/program", "encoder/kernel", "simulator/report", "backends/interface",
        "backends/kernels"}},
      {"backends/vulkan",
       {"encoder/program", "encoder/kernel", "simulator/order", "simulator/schedules",
        "backends/interface", "backends/cpu"}},
      {"backends/cuda/emulation", {"encoder/program", "simulator/schedules"}},
      {"backends/cuda/kernels",
       {"encoder/program", "encoder/kernel", "backends/kernels", "backends/cuda/emulation"}},
      {"backends/cuda",
       {"encoder/program", "encoder/kernel", "simulator/bytes", "simulator/order",
        "simulator/schedules", "backends/interface", "backends/cpu", "backends/cuda/kernels"}},
      {"backends/cuda/emulated",
       {"encoder/program", "encoder/kernel", "simulator/schedules", "backends/interface",
        "backends/kernels", "backends/cuda/emulation", "backends/cuda/kernels", "backends/cuda"}},
      {"backends/remote",
       {"encoder/program", "encoder/kernel", "encoder/text", "simulator/order",
        "simulator/schedules", "backends/interface"}},
      {"backends/reference",
       {"encoder/program", "encoder/kernel", "encoder/assemble", "simulator/hazards",
        "simulator/lifetimes", "simulator/order", "backends/interface", "backends/float64",
        "backends/cpu"}},
      // The list of all backends.
      {"backends",
       {"encoder/program", "backends/interface", "backends/cpu", "backends/vulkan",
        "backends/cuda"}},

      // Recorders of real applications. The layer lives in their processes: of the project it has
      // the log alone, and of the log only what writes it.
      {"capture/log", {"encoder/program"}},
      {"capture/spirv", {"encoder/program"}},
      {"capture/layer", {"capture/log", "capture/spirv"}},
      {"capture/convert",
       {"encoder/program", "encoder/import/graph_names.h", "encoder/text/printer.h", "capture/log",
        "capture/spirv"}},

      {"fuzz/generate",
       {"encoder/program", "encoder/kernel", "encoder/build", "encoder/assemble",
        "encoder/backward/vjp_rules.h", "simulator/hazards", "simulator/schedules"}},
      {"fuzz/judge", {"encoder", "simulator", "backends", "fuzz/generate"}},
      {"fuzz/external",
       {"encoder", "simulator/report/read_every_queue.h", "backends/remote/worker_process.h"}},
      {"fuzz/minimize", {"encoder", "simulator", "fuzz/generate", "fuzz/judge"}},
      {"fuzz/campaign",
       {"encoder", "simulator", "backends", "fuzz/generate", "fuzz/judge", "fuzz/minimize"}},
      {"fuzz/conform",
       {"encoder", "simulator", "fuzz/generate", "fuzz/judge", "fuzz/external", "fuzz/minimize",
        "fuzz/campaign"}},
      {"fuzz/report", {"encoder", "simulator", "fuzz/judge", "fuzz/campaign"}},
      {"fuzz/workloads", {"encoder", "simulator/schedules"}},
      {"fuzz/testing", {"encoder", "simulator", "fuzz/conform"}},
      {"fuzz/cli",
       {"encoder", "simulator", "backends", "capture", "fuzz/generate", "fuzz/judge",
        "fuzz/external", "fuzz/minimize", "fuzz/campaign", "fuzz/conform", "fuzz/report",
        "fuzz/workloads"}},
      {"fuzz/targets",
       {"encoder", "simulator", "backends/remote", "capture", "fuzz/generate", "fuzz/judge",
        "fuzz/external", "fuzz/minimize", "fuzz/campaign", "fuzz/report",
        "fuzz/cli/journal_options.h"}},

      // The same for C, and for what calls C. It is no command line.
      {"bindings/c",
       {"encoder", "simulator", "backends/registry.h", "backends/interface", "backends/cpu",
        "fuzz/judge", "fuzz/external", "fuzz/minimize", "fuzz/campaign"}},
  };
  return kRooms;
}

std::string_view room_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

// True if `path` is `entry`, or lies in that folder.
bool is_within(std::string_view path, std::string_view entry) {
  return path.starts_with(entry) && (path.size() == entry.size() || path[entry.size()] == '/');
}

const Room* find_room(std::string_view folder) {
  const auto found = std::find_if(rooms().begin(), rooms().end(),
                                  [&](const Room& room) { return room.folder == folder; });
  return found == rooms().end() ? nullptr : &*found;
}

// What the include of `target` in the file `path` does wrong; empty if it is fine.
std::string include_error(std::string_view path, std::string_view target) {
  const std::string quoted = "'" + std::string(target) + "'";
  const bool is_to_test = is_within(target, "tests");
  if (!is_to_test && find_room(room_of(target)) == nullptr) {
    return quoted + " does not start at the project root, or is in no room of the table.";
  }
  if (is_within(path, "tests")) return {};  // See CirclesOfFolders.
  const Room* const room = find_room(room_of(path));
  if (room == nullptr) return "the file is in no room of the table in tests/code/layering_test.cc.";
  const bool is_own = room_of(path) == room_of(target) && room_of(path) != "encoder";
  const bool is_allowed =
      std::any_of(room->may_include.begin(), room->may_include.end(),
                  [&](std::string_view entry) { return is_within(target, entry); });
  if (is_own || is_allowed) return {};
  return quoted + " is in no room that '" + std::string(room->folder) + "' may include.";
}

// Returns the file that a line includes in quotes, if it does. `code` is the line in code_only().
std::optional<std::string_view> included_file(std::string_view line, std::string_view code) {
  const std::size_t hash = code.find_first_not_of(" \t");
  if (hash == std::string_view::npos || code[hash] != '#') return std::nullopt;
  const std::size_t word = code.find_first_not_of(" \t", hash + 1);
  if (word == std::string_view::npos || !code.substr(word).starts_with("include")) {
    return std::nullopt;
  }
  const std::size_t open = code.find('"', word);
  const std::size_t close = code.rfind('"');
  if (open == std::string_view::npos || close == open) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

struct Include {
  std::size_t line = 0;  // From one.
  std::string_view target;
};

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  const std::string code = code_only(file.text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto target = included_file(lines[i], code_lines[i])) {
      includes.push_back({i + 1, *target});
    }
  }
  return includes;
}

std::vector<std::string> layering_complaints(const SourceFile& file) {
  std::vector<std::string> complaints;
  for (const Include& include : includes_of(file)) {
    const std::string error = include_error(file.path, include.target);
    if (!error.empty()) complaints.push_back(complaint(file, include.line, error));
  }
  return complaints;
}

struct Arrow {
  std::string from;  // Rooms.
  std::string to;
  std::string example;

  bool operator<(const Arrow& other) const {
    return std::tie(from, to) < std::tie(other.from, other.to);
  }
};

std::set<Arrow> arrows_of(const std::vector<SourceFile>& files) {
  std::set<Arrow> arrows;
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      const std::string_view from = room_of(file.path);
      const std::string_view to = room_of(include.target);
      if (from == to) continue;
      arrows.insert({std::string(from), std::string(to),
                     file.path + " includes " + std::string(include.target)});
    }
  }
  return arrows;
}

// Takes away rooms without an arrow to one that is left, until there are none; what is left is in
// circles, or leads to one. Returns an example of each arrow of it.
std::vector<std::string> circles_in(std::set<Arrow> arrows) {
  for (size_t before = 0; before != arrows.size();) {
    before = arrows.size();
    std::set<std::string> open;
    for (const Arrow& arrow : arrows) open.insert(arrow.from);
    std::erase_if(arrows, [&](const Arrow& arrow) { return open.count(arrow.to) == 0; });
  }
  std::vector<std::string> examples;
  for (const Arrow& arrow : arrows) examples.push_back(arrow.example);
  return examples;
}

TEST(Layering, HoldsEverywhere) {
  for (const SourceFile& file : own_sources()) EXPECT_THAT(layering_complaints(file), IsEmpty());
}

TEST(Layering, HasNoCircleOfRoomsNotEvenAmongTests) {
  EXPECT_THAT(circles_in(arrows_of(own_sources())), IsEmpty());
}

TEST(Layering, FindsACircleOfRooms) {
  const std::vector<SourceFile> files = {{"tests/a/a.cc", "#include \"tests/b/b.h\"\n"},
                                         {"tests/b/b.h", "#include \"tests/c/c.h\"\n"},
                                         {"tests/b/b.cc", "#include \"tests/d/d.h\"\n"},
                                         {"tests/c/c.h", "#include \"tests/a/a.h\"\n"}};
  EXPECT_THAT(circles_in(arrows_of(files)),
              ElementsAre("tests/a/a.cc includes tests/b/b.h", "tests/b/b.h includes tests/c/c.h",
                          "tests/c/c.h includes tests/a/a.h"));
}

TEST(Layering, IsATableInWhichRoomsIncludeOnlyWhatStandsAbove) {
  std::set<std::string_view> above;
  for (const Room& room : rooms()) {
    EXPECT_TRUE(above.insert(room.folder).second) << room.folder << " stands twice.";
    for (const std::string_view entry : room.may_include) {
      const std::string_view folder = entry.ends_with(".h") ? room_of(entry) : entry;
      for (const Room& other : rooms()) {
        if (!is_within(other.folder, folder) || other.folder == room.folder) continue;
        EXPECT_TRUE(above.count(other.folder) == 1)
            << room.folder << " may include " << entry << ", so that " << other.folder
            << " is to stand before it.";
      }
    }
  }
}

// Every include that the table does not allow fails, whatever the two rooms are.
TEST(Layering, RejectsEveryIncludeFromARoomFurtherDown) {
  int count = 0;
  for (const Room& lower : rooms()) {
    for (const Room& higher : rooms()) {
      if (&lower <= &higher) continue;
      const std::string path = std::string(higher.folder) + "/a.cc";
      const std::string target = std::string(lower.folder) + "/a.h";
      EXPECT_THAT(layering_complaints({path, "#include <map>\n#include \"" + target + "\"\n"}),
                  ElementsAre(HasSubstr(path + ":2: '" + target + "' is in no room that")));
      ++count;
    }
  }
  EXPECT_GT(count, 500);
}

TEST(Layering, AcceptsTheSameRoomAndThoseOfItsRow) {
  EXPECT_THAT(layering_complaints({"simulator/order/a.cc",
                                   "#include <vector>\n#include \"simulator/order/a.h\"\n"
                                   "#include \"simulator/bytes/a.h\"\n"
                                   "#include \"encoder/program/a.h\"\n"}),
              IsEmpty());
  EXPECT_THAT(layering_complaints({"fuzz/cli/a.cc", "#include \"backends/cuda/kernels/a.h\"\n"}),
              IsEmpty());
  EXPECT_THAT(layering_complaints({"tests/a.cc", "#include \"fuzz/cli/a.h\"\n"}), IsEmpty());
}

TEST(Layering, RejectsAPathThatDoesNotStartAtTheRoot) {
  EXPECT_THAT(layering_complaints({"encoder/program/a.cc", "#include \"program.h\"\n"}),
              ElementsAre(HasSubstr("project root")));
}

TEST(Layering, RejectsAFolderThatIsInNoRow) {
  EXPECT_THAT(layering_complaints({"simulator/new/a.cc", "#include \"encoder/program/a.h\"\n"}),
              ElementsAre(HasSubstr("in no room of the table")));
  EXPECT_THAT(layering_complaints({"fuzz/cli/a.cc", "#include \"simulator/new/a.h\"\n"}),
              ElementsAre(HasSubstr("in no room of the table")));
}

TEST(Layering, KeepsHeadersForStrangersAlone) {
  EXPECT_THAT(
      layering_complaints({"encoder/interlock_encoder.h", "#include \"encoder/recorder.h\"\n"}),
      ElementsAre(HasSubstr("may include")));
  EXPECT_THAT(layering_complaints({"encoder/recorder.h", "#include \"encoder/program/range.h\"\n"}),
              ElementsAre(HasSubstr("may include")));
  EXPECT_THAT(layering_complaints({"encoder/recorder.h", "#include \"encoder/other.h\"\n"}),
              ElementsAre(HasSubstr("may include")));
}

TEST(Layering, KeepsTheChecksApartFromWhatTheyJudge) {
  for (const Room& room : rooms()) {
    if (folder_of(room.folder) != "simulator") continue;
    for (const char* judged :
         {"encoder/sync/tracker.h", "encoder/sync/pending_accesses.h",
          "encoder/sync/interlock_encoder.h", "encoder/sync/mlx.h", "encoder/backward/vjp_rules.h",
          "encoder/backward/backward.h", "encoder/plan/planner.h",
          "encoder/assemble/append_backward.h", "encoder/queues/order_reduction.h"}) {
      EXPECT_THAT(layering_complaints({std::string(room.folder) + "/a.h",
                                       "#include \"" + std::string(judged) + "\"\n"}),
                  ElementsAre(HasSubstr("may include")));
    }
  }
}

TEST(Layering, KeepsTheOraclesApartFromTheKernels) {
  for (const char* target : {"backends/kernels/reduction.h", "backends/cpu/execute.h"}) {
    EXPECT_THAT(layering_complaints(
                    {"backends/float64/a.cc", "#include \"" + std::string(target) + "\"\n"}),
                ElementsAre(HasSubstr("may include")));
  }
}

TEST(Layering, LetsOnlyTheCommandLineItsTargetsAndTestsSeeCaptures) {
  for (const Room& room : rooms()) {
    const bool is_let = room.folder == "fuzz/cli" || room.folder == "fuzz/targets" ||
                        room.folder == "capture/convert";
    const std::string path = std::string(room.folder) + "/a.cc";
    EXPECT_EQ(layering_complaints({path, "#include \"capture/convert/a.h\"\n"}).empty(), is_let)
        << path;
  }
}

TEST(Layering, IgnoresIncludesInCommentsAndStrings) {
  EXPECT_THAT(layering_complaints({"encoder/program/a.cc",
                                   "// #include \"fuzz/a.h\"\n"
                                   "const char* s = R\"(\n#include \"fuzz/a.h\"\n)\";\n"}),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::layering_test
