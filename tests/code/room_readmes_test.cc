// Each room says in a README.md what lives there, and where to begin. What it names is there: a
// file that has moved on leaves no signpost to nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::room_readmes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// `text` is the README.md of `folder`, empty if there is none; `has_file` says what is in the
// folder.
template <typename HasFile>
std::vector<std::string> readme_complaints(const std::string& folder, const std::string& text,
                                           const HasFile& has_file) {
  const SourceFile readme = {folder + "/README.md", text};
  if (text.empty()) return {complaint(readme, 1, "the folder does not say what lives in it.")};
  std::vector<std::string> complaints;
  if (!text.starts_with("# " + folder + "\n\n")) {
    complaints.push_back(complaint(readme, 1, "the title is to be '# " + folder + "'."));
  }
  static const std::regex name(R"(`([a-z0-9_./]+\.(?:h|cc))`)");
  size_t line_number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++line_number;
    const std::string words(line);
    for (std::sregex_iterator match(words.begin(), words.end(), name), end; match != end; ++match) {
      const std::string file = (*match)[1].str();
      if (!has_file(file))
        complaints.push_back(complaint(readme, line_number, file + " is not here."));
    }
  }
  return complaints;
}

TEST(RoomReadmes, SayWhatIsInEachFolder) {
  std::set<std::string> folders;
  for (const SourceFile& file : own_files({".h", ".cc", ".comp"})) {
    if (folder_of(file.path) == "tests") continue;
    std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
    for (; !folder.empty(); folder = folder.parent_path()) folders.insert(folder.generic_string());
  }
  EXPECT_GT(folders.size(), 30u);
  for (const std::string& folder : folders) {
    const auto has_file = [&](const std::string& name) {
      return !read_own_file(folder + "/" + name).empty();
    };
    EXPECT_THAT(readme_complaints(folder, read_own_file(folder + "/README.md"), has_file),
                IsEmpty());
  }
}

TEST(RoomReadmes, ThatAreMissingOrOutOfDateAreFound) {
  const auto complaints = [](const std::string& text) {
    return readme_complaints("encoder/sync", text,
                             [](const std::string& name) { return name == "mlx.h"; });
  };
  EXPECT_THAT(complaints("# encoder/sync\n\nModels: `mlx.h`, docs, `fuzz`.\n"), IsEmpty());
  EXPECT_THAT(complaints(""), ElementsAre(HasSubstr("encoder/sync/README.md:1: the folder does")));
  EXPECT_THAT(complaints("# Sync\n\nBegin at\n`ggml.h`.\n"),
              ElementsAre(HasSubstr("README.md:1: the title is to be '# encoder/sync'."),
                          HasSubstr("README.md:4: ggml.h is not here.")));
}

}  // namespace
}  // namespace interlock::room_readmes_test
