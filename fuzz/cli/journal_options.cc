#include "fuzz/cli/journal_options.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {
namespace {

Error external_campaign_error() {
  return Error{
      "campaigns of passes that are not part of this build are not merged on the word of a journal, "
      "which names nothing that is executed. Give merge the same --encoder, --planner, "
      "--backward, --replay."};
}

Error guided_campaign_error() {
  return Error{
      "guided campaigns are not merged: each of their programs is made of those that came before."};
}

struct NamedPass {
  std::string_view option;
  std::string PassNames::*name;
  std::string_view other;  // Of this build, which stands for one that is not while it is parsed.
};

constexpr NamedPass kNamedPasses[] = {{" --replay=", &PassNames::replay, "pytorch"},
                                      {" --planner=", &PassNames::planner, "fresh"},
                                      {" --backward=", &PassNames::backward, "one-shot"},
                                      {" --encoder=", &PassNames::encoder, "none"}};

Result<CampaignOptions> merged_campaign(FuzzOptions& options) {
  const auto set = set_campaign(options);
  if (!set) return set.error();
  if (options.backend != "cpu") {
    return Error{"campaigns on a device are not merged: what it did is in each of them."};
  }
  options.campaign.out_dir.clear();
  return std::move(options.campaign);
}

}  // namespace

bool is_guided_campaign(const JournalCampaign& journal) {
  return (journal.subject + ' ').find(" --guided ") != std::string::npos;
}

Result<Success> parse_journal_campaign(const JournalCampaign& journal, CLI::App& app,
                                       FuzzOptions& options) {
  if (is_guided_campaign(journal)) return guided_campaign_error();
  add_fuzz_options(app, options);
  std::istringstream words(journal.subject);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  const bool is_fuzz =
      arguments.size() >= 2 && arguments[0] == "interlock" && arguments[1] == "fuzz";
  if (!is_fuzz)
    return error_of("{} is no campaign of `interlock fuzz`.", in_quotes(journal.subject));
  // No name of ours has the first, and nothing of ours the second.
  if (journal.subject.find('\'') != std::string::npos ||
      journal.subject.find(" digest=") != std::string::npos) {
    return external_campaign_error();
  }
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
  // What was parsed decides: the text has many forms.
  if (options.campaign.is_guided || !options.corpus.empty()) return guided_campaign_error();
  if (has_external_name(options.passes)) return external_campaign_error();
  return Success{};
}

Result<CampaignOptions> merged_campaign_of(const JournalCampaign& journal) {
  CLI::App app;
  FuzzOptions options;
  const auto parsed = parse_journal_campaign(journal, app, options);
  if (!parsed) return parsed.error();
  return merged_campaign(options);
}

Result<CampaignOptions> merged_campaign_of(const JournalCampaign& journal, const PassNames& named,
                                           ExternalOption& external) {
  std::string named_text;
  // What the journal names stands for nothing but itself: it is parsed with other names there.
  std::string subject = journal.subject;
  bool is_there = true;
  for (const NamedPass& pass : kNamedPasses) {
    const std::string& name = named.*pass.name;
    if (name.empty()) continue;
    const std::string option = std::string(pass.option) + shell_word(name);
    named_text += option;
    if (!is_external_name(name)) continue;
    const size_t place = subject.find(option);
    is_there &= place != std::string::npos;
    if (is_there)
      subject.replace(place, option.size(), fmt::format("{}{}", pass.option, pass.other));
  }
  const Error other = error_of(
      "the shards are not of{}: they name another, or its files have changed since.", named_text);
  if (!is_there) return other;
  const bool has_external = has_external_name(named);
  constexpr std::string_view kDigest = " digest=";
  if (const size_t digest = subject.rfind(kDigest); has_external && digest != std::string::npos) {
    subject.resize(digest);
  }
  JournalCampaign neutral = journal;
  neutral.subject = subject;
  CLI::App app;
  FuzzOptions options;
  const auto parsed = parse_journal_campaign(neutral, app, options);
  if (!parsed) return named_text.empty() || has_external ? parsed.error() : other;
  for (const NamedPass& pass : kNamedPasses) {
    const std::string& name = named.*pass.name;
    if (name.empty()) continue;
    if (!is_external_name(name) && options.passes.*pass.name != name) return other;
    options.passes.*pass.name = name;
  }
  auto campaign = merged_campaign(options);
  if (!campaign) return campaign.error();
  if (has_external && journal_campaign(*campaign).subject != journal.subject) return other;
  external = std::move(options.external);  // What the campaign points to stays where it is.
  return campaign;
}

}  // namespace interlock
