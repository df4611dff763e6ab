#include "fuzz/cli/journal_options.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"

namespace interlock {

Error external_campaign_error() {
  return Error{"campaigns of encoders that are not part of this build are not merged."};
}

bool is_guided_campaign(const JournalCampaign& journal) {
  return (journal.subject + ' ').find(" --guided ") != std::string::npos;
}

Result<Success> parse_journal_campaign(const JournalCampaign& journal, CLI::App& app,
                                       FuzzOptions& options) {
  // A journal names no file that is read.
  if (is_guided_campaign(journal)) {
    return Error{
        "guided campaigns are not merged: each of their programs is made of those that came "
        "before."};
  }
  add_fuzz_options(app, options);
  std::istringstream words(journal.subject);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  const bool is_fuzz =
      arguments.size() >= 2 && arguments[0] == "interlock" && arguments[1] == "fuzz";
  if (!is_fuzz)
    return error_of("{} is no campaign of `interlock fuzz`.", in_quotes(journal.subject));
  // No name of ours has it.
  if (journal.subject.find('\'') != std::string::npos) return external_campaign_error();
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  arguments.push_back(fmt::format("--seed={}", journal.seed));
  arguments.push_back(fmt::format("--first-run={}", journal.first_run));
  if (journal.run_count > 0) arguments.push_back(fmt::format("--runs={}", journal.run_count));
  try {
    std::vector<std::string> reversed(arguments.rbegin(),
                                      arguments.rend());  // As CLI11 wants them.
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return error_of("{} is no campaign of `interlock fuzz`: {}.", in_quotes(journal.subject),
                    error.what());
  }
  return Success{};
}

}  // namespace interlock
