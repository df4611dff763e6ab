// The subcommands of `interlock`, one file each. Each adds itself to the parser; when it is the one
// that was asked for, its callback runs the work and sets `status`.
#pragma once

#include <CLI/CLI.hpp>

#include "fuzz/cli/console.h"

namespace interlock {

void add_check_command(CLI::App& app, ExitStatus& status);     // check_command.cc
void add_conform_command(CLI::App& app, ExitStatus& status);   // conform_command.cc
void add_explore_command(CLI::App& app, ExitStatus& status);   // explore_command.cc
void add_fix_command(CLI::App& app, ExitStatus& status);       // fix_command.cc
void add_run_command(CLI::App& app, ExitStatus& status);       // run_command.cc
void add_encode_command(CLI::App& app, ExitStatus& status);    // encode_command.cc
void add_print_command(CLI::App& app, ExitStatus& status);     // print_command.cc
void add_plan_command(CLI::App& app, ExitStatus& status);      // plan_command.cc
void add_plot_command(CLI::App& app, ExitStatus& status);      // plot_command.cc
void add_fuzz_command(CLI::App& app, ExitStatus& status);      // fuzz_command.cc
void add_generate_command(CLI::App& app, ExitStatus& status);  // generate_command.cc
void add_merge_command(CLI::App& app, ExitStatus& status);     // merge_command.cc
void add_minimize_command(CLI::App& app, ExitStatus& status);  // minimize_command.cc
void add_replay_command(CLI::App& app, ExitStatus& status);    // replay_command.cc
void add_report_command(CLI::App& app, ExitStatus& status);    // report_command.cc
void add_list_command(CLI::App& app, ExitStatus& status);      // list_command.cc
void add_serve_command(CLI::App& app, ExitStatus& status);     // serve_command.cc
void add_show_command(CLI::App& app, ExitStatus& status);      // show_command.cc
void add_bugs_command(CLI::App& app, ExitStatus& status);      // bugs_command.cc
void add_import_command(CLI::App& app, ExitStatus& status);    // import_command.cc
// completion_command.cc
void add_completion_command(CLI::App& app, ExitStatus& status);
void add_manual_command(CLI::App& app, ExitStatus& status);
// capture_command.cc, or missing_capture_command.cc
void add_capture_command(CLI::App& app, ExitStatus& status);

}  // namespace interlock
