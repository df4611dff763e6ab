// The basic idea is that a block of runs is one line, and most runs leave nothing in it: a campaign
// that finds nothing writes a few bytes for each hundred programs.
#include "fuzz/campaign/journal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

constexpr std::string_view kHeader = "interlock-journal ";
constexpr std::string_view kVersion = "1";

// --- Writing ---

// Bytes that would end a line, or a token unless spaces are kept, are written %XX.
std::string escaped(std::string_view text, bool keeps_spaces = false) {
  std::string result;
  for (const char c : text) {
    const bool is_plain =
        (c > ' ' || (c == ' ' && keeps_spaces)) && c < '\x7f' && c != '%' && c != ';';
    result += is_plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return result;
}

// " NAME=ITEM,ITEM", or nothing where no run has an item.
std::string list_of(const JournalBlock& block, std::string_view name, char separator,
                    const std::function<std::string(const RunOutcome&)>& value_of) {
  std::string list;
  for (size_t i = 0; i < block.outcomes.size(); ++i) {
    const std::string value = value_of(block.outcomes[i]);
    if (value.empty()) continue;
    if (!list.empty()) list += separator;
    list += std::to_string(i);
    if (value != "+") list += ":" + value;
  }
  return list.empty() ? "" : fmt::format(" {}={}", name, list);
}

std::string mark_if(bool is_marked) { return is_marked ? "+" : ""; }

std::string signatures_of(const RunOutcome& outcome, JournalContext& context) {
  std::string list;
  for (const std::string& signature : outcome.signatures) {
    if (!list.empty()) list += ',';
    INTERLOCK_CHECK(is_word(signature));
    const auto [known, is_new] = context.numbers.emplace(signature, context.signatures.size());
    if (is_new) context.signatures.push_back(signature);
    list += is_new ? signature : std::to_string(known->second);
  }
  return list;
}

std::string device_of(const DeviceReport& device) {
  const bool is_silent = !device.ran && !device.is_refused && device.schedule_count == 0 &&
                         device.overlap_trial_count == 0 && device.judged_dispatch_count == 0;
  if (is_silent) return "";
  return fmt::format("{},{},{},{},{},{},{},{},{}", int{device.ran}, int{device.is_refused},
                     device.schedule_count, device.predicted_output_count,
                     device.diverging_output_count, device.overlap_trial_count,
                     device.overlap_divergence_count, device.judged_dispatch_count,
                     std::bit_cast<uint64_t>(device.bound_ratio_max));
}

std::string payload_of(const JournalHeader& header, JournalContext& /*context*/) {
  return fmt::format("{}{} {}", kHeader, kVersion, header.build);
}

std::string payload_of(const JournalCampaign& campaign, JournalContext& /*context*/) {
  return fmt::format("campaign seed={} first={} runs={} ms={} finds={} of {}", campaign.seed,
                     campaign.first_run, campaign.run_count, campaign.milliseconds,
                     campaign.find_limit, escaped(campaign.subject, true));
}

std::string payload_of(const JournalBlock& block, JournalContext& context) {
  INTERLOCK_CHECK(!block.outcomes.empty() && block.outcomes.size() <= kJournalBlockRunsMax);
  std::string line = fmt::format("block {} {}", block.first_run, block.outcomes.size());
  if (block.milliseconds > 0) line += fmt::format(" ms={}", block.milliseconds);
  line += list_of(block, "cpu", ',', [](const RunOutcome& run) { return mark_if(run.ran_on_cpu); });
  line += list_of(block, "found", ';',
                  [&](const RunOutcome& run) { return signatures_of(run, context); });
  line +=
      list_of(block, "hazard", ',', [](const RunOutcome& run) { return mark_if(run.has_hazard); });
  line +=
      list_of(block, "device", ';', [](const RunOutcome& run) { return device_of(run.device); });
  line += list_of(block, "failure", ';',
                  [](const RunOutcome& run) { return escaped(run.device.failure); });
  return line;
}

std::string payload_of(const JournalProvisional& file, JournalContext& /*context*/) {
  return fmt::format("provisional {} {}", escaped(file.name), file.digest);
}

std::string payload_of(const JournalEnd& /*end*/, JournalContext& /*context*/) { return "end"; }

// --- Reading ---

// Takes what stands before `separator` from the front of `text`, and the separator; all of it if
// there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// As journals write it: without zeros before it.
std::optional<uint64_t> number_in(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return decimal_of(text);
}

// Of "NAME=NUMBER".
std::optional<uint64_t> number_of_field(std::string_view field, std::string_view name) {
  if (!field.starts_with(name) || field.size() == name.size() || field[name.size()] != '=') {
    return std::nullopt;
  }
  return number_in(field.substr(name.size() + 1));
}

// What escaped() makes this of; none if it makes nothing so.
std::optional<std::string> unescaped(std::string_view text, bool keeps_spaces = false) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      unsigned char byte = 0;
      const std::string_view digits = text.substr(at + 1, 2);
      const char* const end = digits.data() + digits.size();
      const auto [stop, code] = std::from_chars(digits.data(), end, byte, 16);
      if (code != std::errc() || stop != end || digits.size() != 2) return std::nullopt;
      c = static_cast<char>(byte);
      at += 2;
    }
    result += c;
  }
  if (escaped(result, keeps_spaces) != text) return std::nullopt;
  return result;
}

// Calls `take` with each run of a list and what is said of it; false as soon as it returns that, or
// at what is no list of the runs of the block in their order.
bool read_list(JournalBlock& block, std::string_view list, char separator,
               const std::function<bool(RunOutcome&, std::string_view)>& take) {
  if (list.ends_with(separator)) return false;
  uint64_t next = 0;
  do {
    std::string_view item = take_until(list, separator);
    if (item.find(':') + 1 == item.size()) return false;  // It says nothing after the colon.
    const std::optional<uint64_t> offset = number_in(take_until(item, ':'));
    if (!offset || *offset < next || *offset >= block.outcomes.size()) return false;
    if (!take(block.outcomes[*offset], item)) return false;
    next = *offset + 1;
  } while (!list.empty());
  return true;
}

bool read_signatures(RunOutcome& run, std::string_view list, JournalContext& context) {
  if (list.ends_with(',')) return false;
  do {
    const std::string_view word = take_until(list, ',');
    std::string name;
    if (const auto number = number_in(word)) {
      if (*number >= context.signatures.size()) return false;
      name = context.signatures[*number];
    } else {
      if (!is_word(word) || context.signatures.size() >= kJournalSignaturesMax) return false;
      name = word;
      if (!context.numbers.emplace(name, context.signatures.size()).second) return false;
      context.signatures.push_back(name);
    }
    if (std::ranges::find(run.signatures, name) != run.signatures.end()) return false;
    run.signatures.push_back(std::move(name));
  } while (!list.empty());
  return true;
}

bool read_device(DeviceReport& device, std::string_view list) {
  std::vector<uint64_t> numbers;
  if (list.ends_with(',')) return false;
  do {
    const auto number = number_in(take_until(list, ','));
    if (!number || numbers.size() == 9) return false;
    numbers.push_back(*number);
  } while (!list.empty());
  if (numbers.size() != 9 || numbers[0] > 1 || numbers[1] > 1) return false;
  device.ran = numbers[0] == 1;
  device.is_refused = numbers[1] == 1;
  device.schedule_count = numbers[2];
  device.predicted_output_count = numbers[3];
  device.diverging_output_count = numbers[4];
  device.overlap_trial_count = numbers[5];
  device.overlap_divergence_count = numbers[6];
  device.judged_dispatch_count = numbers[7];
  device.bound_ratio_max = std::bit_cast<double>(numbers[8]);
  return !device_of(device).empty();
}

bool read_failure(DeviceReport& device, std::string_view text) {
  device.failure = unescaped(text).value_or("");
  return !device.failure.empty();
}

bool read_field(JournalBlock& block, std::string_view name, std::string_view value,
                JournalContext& context) {
  if (value.empty()) return false;
  if (name == "cpu") {
    return read_list(block, value, ',', [](RunOutcome& run, std::string_view rest) {
      return run.ran_on_cpu = rest.empty();
    });
  }
  if (name == "found") {
    return read_list(block, value, ';', [&](RunOutcome& run, std::string_view rest) {
      return read_signatures(run, rest, context);
    });
  }
  if (name == "hazard") {
    return read_list(block, value, ',', [](RunOutcome& run, std::string_view rest) {
      return run.has_hazard = rest.empty();
    });
  }
  if (name == "device") {
    return read_list(block, value, ';', [](RunOutcome& run, std::string_view rest) {
      return read_device(run.device, rest);
    });
  }
  return read_list(block, value, ';', [](RunOutcome& run, std::string_view rest) {
    return read_failure(run.device, rest);
  });
}

std::optional<JournalRecord> block_of(std::string_view rest, JournalContext& context) {
  JournalBlock block;
  if (rest.ends_with(' ')) return std::nullopt;
  const auto first_run = number_in(take_until(rest, ' '));
  const auto run_count = number_in(take_until(rest, ' '));
  if (!first_run || !run_count || *run_count == 0 || *run_count > kJournalBlockRunsMax ||
      *first_run > UINT64_MAX - *run_count) {
    return std::nullopt;
  }
  block.first_run = *first_run;
  block.outcomes.resize(*run_count);
  for (RunOutcome& run : block.outcomes) run.ran = true;
  constexpr std::string_view kNames[] = {"ms", "cpu", "found", "hazard", "device", "failure"};
  size_t next_name = 0;
  while (!rest.empty()) {
    std::string_view value = take_until(rest, ' ');
    const std::string_view name = take_until(value, '=');
    while (next_name < std::size(kNames) && kNames[next_name] != name) ++next_name;
    if (next_name++ == std::size(kNames)) return std::nullopt;
    if (name == "ms") {
      const auto milliseconds = number_in(value);
      if (!milliseconds || *milliseconds == 0) return std::nullopt;
      block.milliseconds = *milliseconds;
    } else if (!read_field(block, name, value, context)) {
      return std::nullopt;
    }
  }
  return block;
}

std::optional<JournalRecord> campaign_of(std::string_view rest) {
  const auto seed = number_of_field(take_until(rest, ' '), "seed");
  const auto first_run = number_of_field(take_until(rest, ' '), "first");
  const auto run_count = number_of_field(take_until(rest, ' '), "runs");
  const auto milliseconds = number_of_field(take_until(rest, ' '), "ms");
  const auto find_limit = number_of_field(take_until(rest, ' '), "finds");
  if (!seed || !first_run || !run_count || !milliseconds || !find_limit) return std::nullopt;
  if (take_until(rest, ' ') != "of") return std::nullopt;
  auto subject = unescaped(rest, true);
  if (!subject || subject->empty()) return std::nullopt;
  return JournalCampaign{*seed,         *first_run,  *run_count,
                         *milliseconds, *find_limit, std::move(*subject)};
}

// A path would lead out of the folder.
std::optional<JournalRecord> provisional_of(std::string_view rest) {
  const auto name = unescaped(take_until(rest, ' '));
  const auto digest = number_in(rest);
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
    const std::string_view version = take_until(rest, ' ');
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
  const std::string quoted = in_quotes(line);
  std::string_view rest = line;
  const std::string_view word = take_until(rest, ' ');
  std::optional<JournalRecord> record;
  if (place_ == Place::kStart) {
    take_until(rest, ' ');  // The version.
    if (!rest.empty() && rest.find(' ') == std::string_view::npos) {
      record = JournalHeader{std::string(rest)};
    }
    place_ = Place::kNoCampaign;
  } else if (word == "campaign") {
    record = campaign_of(rest);
    if (record) begin(std::get<JournalCampaign>(*record));
    place_ = Place::kInCampaign;
  } else if (word == "block" && place_ == Place::kInCampaign) {
    record = block_of(rest, context_);
    if (record && !goes_on_with(std::get<JournalBlock>(*record))) record.reset();
  } else if (word == "provisional" && place_ != Place::kStart) {
    record = provisional_of(rest);
  } else if (line == "end" && place_ == Place::kInCampaign) {
    record = JournalEnd{};
    place_ = Place::kNoCampaign;
  }
  if (!record) return error_at_line(fmt::format("{} is no record that may stand here.", quoted));
  return std::move(*record);
}

}  // namespace interlock
