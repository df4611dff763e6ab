// xmllint: another program says whether a text is XML, and of a schema.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "encoder/text/files.h"

namespace interlock::xmllint {

// What xmllint has to say against the text; empty if it has nothing. `schema`: a file of
// tests/fuzz/report, or empty.
inline std::string complaints(const std::string& text, const std::string& schema = "") {
  const std::string start = testing::TempDir() + "interlock_xml_" + std::to_string(getpid());
  EXPECT_TRUE(write_file(start + ".xml", text));
  const std::string with_schema = schema.empty() ? ""
                                                 : "--schema " + std::string(INTERLOCK_SOURCE_DIR) +
                                                       "/tests/fuzz/report/" + schema;
  const int status = std::system(
      ("xmllint --nonet --noout " + with_schema + " " + start + ".xml >" + start + ".txt 2>&1")
          .c_str());
  std::string said = read_file(start + ".txt").value();
  std::filesystem::remove(start + ".xml");
  std::filesystem::remove(start + ".txt");
  if (status == 0) return "";
  return said.empty() ? "xmllint ended with a status." : said;
}

}  // namespace interlock::xmllint
