#include "fuzz/campaign/journal_text.h"

#include <fmt/format.h>

#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "fuzz/campaign/journal_block.h"
#include "fuzz/campaign/journal_words.h"

namespace interlock {
namespace {

constexpr std::string_view kHeader = "interlock-journal ";
constexpr std::string_view kVersion = "1";

// --- Writing ---

std::string payload_of(const JournalHeader& header, JournalContext& /*context*/) {
  return fmt::format("{}{} {}", kHeader, kVersion, header.build);
}

std::string payload_of(const JournalCampaign& campaign, JournalContext& /*context*/) {
  const std::string whole =
      campaign.is_shard()
          ? fmt::format(" begin={} end={}", campaign.whole_begin, campaign.whole_end)
          : "";
  return fmt::format("campaign seed={} first={} runs={} ms={} finds={}{} of {}", campaign.seed,
                     campaign.first_run, campaign.run_count, campaign.milliseconds,
                     campaign.find_limit, whole, journal_escaped(campaign.subject, true));
}

std::string payload_of(const JournalBlock& block, JournalContext& context) {
  return journal_block_text(block, context);
}

std::string payload_of(const JournalProvisional& file, JournalContext& /*context*/) {
  return fmt::format("provisional {} {}", journal_escaped(file.name), file.digest);
}

std::string payload_of(const JournalEnd& /*end*/, JournalContext& /*context*/) { return "end"; }

// --- Reading ---

// Of "NAME=NUMBER".
std::optional<uint64_t> number_of_field(std::string_view field, std::string_view name) {
  if (!field.starts_with(name) || field.size() == name.size() || field[name.size()] != '=') {
    return std::nullopt;
  }
  return journal_number_in(field.substr(name.size() + 1));
}

std::optional<JournalRecord> campaign_of(std::string_view rest) {
  const auto seed = number_of_field(take_journal_part(rest, ' '), "seed");
  const auto first_run = number_of_field(take_journal_part(rest, ' '), "first");
  const auto run_count = number_of_field(take_journal_part(rest, ' '), "runs");
  const auto milliseconds = number_of_field(take_journal_part(rest, ' '), "ms");
  const auto find_limit = number_of_field(take_journal_part(rest, ' '), "finds");
  if (!seed || !first_run || !run_count || !milliseconds || !find_limit) return std::nullopt;
  std::string_view word = take_journal_part(rest, ' ');
  uint64_t whole_begin = 0;
  uint64_t whole_end = 0;
  if (const auto begin = number_of_field(word, "begin")) {
    const auto end = number_of_field(take_journal_part(rest, ' '), "end");
    if (!end || *end <= *begin) return std::nullopt;
    whole_begin = *begin;
    whole_end = *end;
    word = take_journal_part(rest, ' ');
  }
  if (word != "of") return std::nullopt;
  auto subject = journal_unescaped(rest, true);
  if (!subject || subject->empty()) return std::nullopt;
  return JournalCampaign{*seed,       *first_run,          *run_count,  *milliseconds,
                         *find_limit, std::move(*subject), whole_begin, whole_end};
}

// A path would lead out of the folder.
std::optional<JournalRecord> provisional_of(std::string_view rest) {
  const auto name = journal_unescaped(take_journal_part(rest, ' '));
  const auto digest = journal_number_in(rest);
  if (!name || !digest || !name->ends_with(".ilk") || name->find('/') != std::string::npos) {
    return std::nullopt;
  }
  return JournalProvisional{*name, *digest};
}

}  // namespace

std::string journal_line(const JournalRecord& record, JournalContext& context) {
  std::string line = std::visit([&](const auto& r) { return payload_of(r, context); }, record);
  context.sum = fnv1a(context.sum, line);
  return line + fmt::format(" {:016x}\n", context.sum);
}

Error JournalReader::error_at_line(const std::string& what) const {
  return error_of("{}:{}: error: {}", path_, line_number_, what);
}

Result<std::optional<JournalRecord>> JournalReader::next() {
  const std::string_view rest = text_.substr(read_bytes_);
  const size_t end = rest.substr(0, kJournalLineBytesMax).find('\n');
  ++line_number_;
  if (end == std::string_view::npos) {
    if (rest.size() > kJournalLineBytesMax) {
      return error_at_line(
          fmt::format("the line has more bytes than the limit of {}.", kJournalLineBytesMax));
    }
    if (place_ == Place::kStart && !rest.empty() &&
        !std::string(kHeader).starts_with(rest.substr(0, kHeader.size()))) {
      return error_at_line("this is no journal of `interlock fuzz`.");
    }
    return std::optional<JournalRecord>();
  }
  auto record = record_of(rest.substr(0, end));
  if (record) read_bytes_ += end + 1;
  return record;
}

Result<std::optional<JournalRecord>> JournalReader::record_of(std::string_view line) {
  // Of another version nothing else is known.
  if (place_ == Place::kStart) {
    if (!line.starts_with(kHeader)) {
      return error_at_line("this is no journal of `interlock fuzz`.");
    }
    std::string_view rest = line.substr(kHeader.size());
    const std::string_view version = take_journal_part(rest, ' ');
    if (version != kVersion) {
      return error_at_line(fmt::format("the journal has version {}, and this program reads {}.",
                                       in_quotes(version), kVersion));
    }
  }
  const size_t sum_begin = line.rfind(' ');
  const std::string_view payload =
      line.substr(0, sum_begin == std::string_view::npos ? 0 : sum_begin);
  const uint64_t sum = fnv1a(context_.sum, payload);
  if (payload.empty() || line.substr(sum_begin + 1) != fmt::format("{:016x}", sum)) {
    return error_at_line(
        "the sum at the end is not that of the text: the journal was changed or damaged.");
  }
  context_.sum = sum;
  auto record = parsed(payload);
  if (!record) return record.error();
  return std::optional<JournalRecord>(std::move(*record));
}

void JournalReader::begin(const JournalCampaign& campaign) {
  next_run_ = campaign.first_run;
  end_run_ = campaign.run_count > 0 ? campaign.first_run + campaign.run_count : UINT64_MAX;
  if (end_run_ < next_run_) end_run_ = UINT64_MAX;
}

// A campaign makes its runs in their order, and leaves out those that others have made.
bool JournalReader::goes_on_with(const JournalBlock& block) {
  const uint64_t end = block.first_run + block.outcomes.size();
  if (block.first_run < next_run_ || end > end_run_) return false;
  next_run_ = end;
  return true;
}

Result<JournalRecord> JournalReader::parsed(std::string_view line) {
  std::string_view rest = line;
  const std::string_view word = take_journal_part(rest, ' ');
  std::optional<JournalRecord> record;
  if (place_ == Place::kStart) {
    take_journal_part(rest, ' ');  // The version.
    if (!rest.empty() && rest.find(' ') == std::string_view::npos) {
      record = JournalHeader{std::string(rest)};
    }
    place_ = Place::kNoCampaign;
  } else if (word == "campaign") {
    record = campaign_of(rest);
    if (record) begin(std::get<JournalCampaign>(*record));
    place_ = Place::kInCampaign;
  } else if (word == "block" && place_ == Place::kInCampaign) {
    record = journal_block_of(rest, context_);
    if (record && !goes_on_with(std::get<JournalBlock>(*record))) record.reset();
  } else if (word == "provisional" && place_ != Place::kStart) {
    record = provisional_of(rest);
  } else if (line == "end" && place_ == Place::kInCampaign) {
    record = JournalEnd{};
    place_ = Place::kNoCampaign;
  }
  if (!record && is_stopped()) return error_at_line("reading it was interrupted.");
  if (!record) {
    return error_at_line(fmt::format("{} is no record that may stand here.", in_quotes(line)));
  }
  return std::move(*record);
}

}  // namespace interlock
