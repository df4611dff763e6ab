#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/declared_names.h"
#include "tests/code/source_tree.h"

namespace interlock {

// Which headers declare what, and what each file includes.
class NameMap {
 public:
  explicit NameMap(const std::vector<SourceFile>& files);

  // Whether the file at `path` is held to nothing here: device code, whose words are macros, and
  // programs of their own.
  static bool is_apart(std::string_view path);

  // One for each name that `file` uses and reaches by no include.
  // Requires: `file` is one of those the map was made of.
  std::vector<std::string> complaints_about(const SourceFile& file) const;

 private:
  std::set<std::string> reached_from(const std::string& path) const;
  std::string standard_header_missing(std::string_view name,
                                      const std::set<std::string>& reached) const;
  std::string header_missing(std::string_view code, const Word& word, std::string_view ahead,
                             const std::set<std::string>& reached) const;

  std::map<std::string, std::vector<std::string>> includes_;
  std::map<std::string, std::set<std::string>> declared_in_;
  std::map<std::string, std::set<std::string>, std::less<>> headers_of_;
  std::map<std::string_view, std::string_view> standard_header_of_;
};

}  // namespace interlock
