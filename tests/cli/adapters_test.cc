// The adapters of docs/adapters.md: what they record of a runtime has the findings that the page
// shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"

namespace interlock::adapters_test {
namespace {

using testing::HasSubstr;

// What `check` says of what the adapter records.
CommandResult checked_recording(const std::string& adapter, const std::string& argument) {
  const std::string file = temporary_path(adapter + ".ilk");
  const std::string command = ADAPTERS "/" + adapter + " '" + file + "' " + argument;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return run_interlock({"check", file});
}

TEST(Adapters, RecordWhatTheDocumentShows) {
  const std::string document = document_text("docs/adapters.md");
  for (const char* line :
       {"WAR hazard: vjp_layer_norm_float32 (dispatch 1) writes memory.2[0:4096], which "
        "col_reduce_small_float32 (dispatch 0) reads.\n",
        "RAW hazard: y (dispatch 1) reads buffer[256:512], which h (dispatch 0) writes.\n",
        "WAR hazard: y (dispatch 1) writes buffer[0:256], which h (dispatch 0) reads.\n"}) {
    EXPECT_THAT(document, HasSubstr(line));
    const bool is_mlx = std::string(line).find("vjp") != std::string::npos;
    const CommandResult report = is_mlx ? checked_recording("mlx_adapter", "forget")
                                        : checked_recording("ggml_adapter", "concurrent");
    EXPECT_EQ(report.status, 1);
    EXPECT_THAT(report.out, HasSubstr(line));
  }
}

TEST(Adapters, RecordNoHazardOfARuntimeThatWaits) {
  const CommandResult mlx = checked_recording("mlx_adapter", "");
  EXPECT_EQ(mlx.status, 0) << mlx.out;
  EXPECT_THAT(mlx.out, HasSubstr("As few barriers as there can be"));
  const CommandResult ggml = checked_recording("ggml_adapter", "");
  EXPECT_EQ(ggml.status, 0) << ggml.out;
  EXPECT_THAT(ggml.out, HasSubstr("1 of 2 barriers can go"));
}

}  // namespace
}  // namespace interlock::adapters_test
