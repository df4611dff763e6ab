// Plants faults that nobody picked. The basic idea is that a seed shuffles the lines of code of a
// folder, and the k-th draw makes a mistake in the k-th of them.
//
//   plant_faults FOLDER SEED DRAW    prints the patch of this draw; nothing if the line has no
//                                    place for a mistake; exits with 1 if there are no more draws

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"
#include "tests/code/source_tree.h"
#include "tests/faults/mutations.h"

namespace interlock {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t below(uint64_t count) { return scrambled(state_ += kGolden64) % count; }

 private:
  uint64_t state_;
};

struct Place {
  const SourceFile* file = nullptr;
  std::size_t line = 0;
};

void print_patch(const Place& place, const Mutation& mutation) {
  constexpr std::size_t kContext = 3;
  const std::vector<std::string_view> lines = lines_of(place.file->text);
  const std::size_t first = place.line - std::min(place.line, kContext);
  const std::size_t end = std::min(place.line + kContext + 1, lines.size());
  const std::size_t count = end - first;
  const std::string& path = place.file->path;
  std::printf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", path.c_str(), path.c_str(),
              path.c_str(), path.c_str());
  std::printf("@@ -%zu,%zu +%zu,%zu @@\n", first + 1, count, first + 1,
              mutation.line ? count : count - 1);
  for (std::size_t i = first; i < end; ++i) {
    const std::string line(lines[i]);
    std::printf("%c%s\n", i == place.line ? '-' : ' ', line.c_str());
    if (i == place.line && mutation.line) std::printf("+%s\n", mutation.line->c_str());
  }
}

int plant(std::string_view folder, uint64_t seed, uint64_t draw) {
  // Most of what a header says is compiled into too much to be judged.
  const std::vector<SourceFile> sources = own_sources();
  std::vector<Place> places;
  for (const SourceFile& file : sources) {
    if (folder_of(file.path) != folder || !file.path.ends_with(".cc")) continue;
    const std::size_t count = lines_of(file.text).size();
    for (std::size_t i = 0; i < count; ++i) places.push_back({&file, i});
  }
  if (draw >= places.size()) return 1;
  Random random(seed);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);

  const Place& place = places[draw];
  const std::string code = code_only(place.file->text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::string_view before = place.line == 0 ? "" : code_lines[place.line - 1];
  const std::vector<Mutation> mutations =
      mutations_of(lines_of(place.file->text)[place.line], code_lines[place.line], before);
  if (mutations.empty()) return 0;
  Random choice(seed + draw);
  const Mutation& mutation = mutations[choice.below(mutations.size())];
  std::printf("# Planted by seed %llu, draw %llu of %s/: %s.\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(draw),
              std::string(folder).c_str(), mutation.what.c_str());
  print_patch(place, mutation);
  return 0;
}

}  // namespace
}  // namespace interlock

int main(int argument_count, char** arguments) {
  if (argument_count != 4) {
    std::fprintf(stderr, "Usage: plant_faults FOLDER SEED DRAW\n");
    return 2;
  }
  return interlock::plant(arguments[1], std::strtoull(arguments[2], nullptr, 10),
                          std::strtoull(arguments[3], nullptr, 10));
}
