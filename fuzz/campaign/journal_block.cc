#include "fuzz/campaign/journal_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/journal_words.h"
#include "fuzz/campaign/subject.h"

namespace interlock {
namespace {

// --- Writing ---

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

std::string numbered(const std::vector<std::string>& names, JournalContext& context) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ',';
    INTERLOCK_CHECK(is_word(name) && name.size() <= kJournalNameBytesMax);
    const auto [known, is_new] = context.numbers.emplace(name, context.signatures.size());
    if (is_new) context.signatures.push_back(name);
    list += is_new ? name : std::to_string(known->second);
  }
  return list;
}

std::vector<std::string> cell_names(const std::vector<Cell>& cells) {
  std::vector<std::string> names;
  for (const Cell cell : cells) names.push_back(cell_name(cell));
  return names;
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

// --- Reading ---

// Calls `take` with each run of a list and what is said of it; false as soon as it returns that, or
// at what is no list of the runs of the block in their order.
bool read_list(JournalBlock& block, std::string_view list, char separator,
               const std::function<bool(RunOutcome&, std::string_view)>& take) {
  if (list.ends_with(separator)) return false;
  uint64_t next = 0;
  do {
    std::string_view item = take_journal_part(list, separator);
    if (item.find(':') + 1 == item.size()) return false;  // It says nothing after the colon.
    const std::optional<uint64_t> offset = journal_number_in(take_journal_part(item, ':'));
    if (!offset || *offset < next || *offset >= block.outcomes.size()) return false;
    if (!take(block.outcomes[*offset], item)) return false;
    next = *offset + 1;
  } while (!list.empty());
  return true;
}

// The number of a name, which is new if it is spelled out; none if it is neither.
std::optional<uint64_t> read_name(std::string_view word, JournalContext& context) {
  const uint64_t count = context.signatures.size();
  if (const auto number = journal_number_in(word)) {
    return *number < count ? number : std::nullopt;
  }
  if (!is_word(word) || word.size() > kJournalNameBytesMax || count >= kJournalSignaturesMax ||
      !context.numbers.emplace(word, count).second) {
    return std::nullopt;
  }
  context.signatures.emplace_back(word);
  return count;
}

// The numbers of the names in a list, each once; none if it is no such list, or a stop came.
std::optional<std::vector<uint64_t>> read_numbered(std::string_view list, JournalContext& context) {
  if (list.ends_with(',')) return std::nullopt;
  std::vector<uint64_t> numbers;
  do {
    if (numbers.size() == kJournalNamesOfRunMax || is_stopped_at(numbers.size())) {
      return std::nullopt;
    }
    const auto number = read_name(take_journal_part(list, ','), context);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  } while (!list.empty());
  std::vector<uint64_t> sorted = numbers;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return std::nullopt;
  return numbers;
}

bool read_signatures(RunOutcome& run, std::string_view list, JournalContext& context) {
  const auto numbers = read_numbered(list, context);
  if (!numbers) return false;
  for (const uint64_t number : *numbers) run.signatures.push_back(context.signatures[number]);
  return true;
}

bool read_cells(RunOutcome& run, std::string_view list, JournalContext& context) {
  const auto numbers = read_numbered(list, context);
  if (!numbers) return false;
  for (const uint64_t number : *numbers) {
    auto known = context.cells.find(number);
    if (known == context.cells.end()) {
      const auto cell = cell_of(context.signatures[number]);
      if (!cell) return false;
      known = context.cells.emplace(number, *cell).first;
    }
    run.cells.push_back(known->second);
  }
  return true;
}

bool read_device(DeviceReport& device, std::string_view list) {
  std::vector<uint64_t> numbers;
  if (list.ends_with(',')) return false;
  do {
    const auto number = journal_number_in(take_journal_part(list, ','));
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
  device.failure = journal_unescaped(text).value_or("");
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
  if (name == "cells") {
    return read_list(block, value, ';', [&](RunOutcome& run, std::string_view rest) {
      return read_cells(run, rest, context);
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

}  // namespace

std::string journal_block_text(const JournalBlock& block, JournalContext& context) {
  INTERLOCK_CHECK(!block.outcomes.empty() && block.outcomes.size() <= kJournalBlockRunsMax);
  std::string line = fmt::format("block {} {}", block.first_run, block.outcomes.size());
  if (block.milliseconds > 0) line += fmt::format(" ms={}", block.milliseconds);
  line += list_of(block, "cpu", ',', [](const RunOutcome& run) { return mark_if(run.ran_on_cpu); });
  line += list_of(block, "found", ';',
                  [&](const RunOutcome& run) { return numbered(run.signatures, context); });
  line += list_of(block, "cells", ';',
                  [&](const RunOutcome& run) { return numbered(cell_names(run.cells), context); });
  line +=
      list_of(block, "hazard", ',', [](const RunOutcome& run) { return mark_if(run.has_hazard); });
  line +=
      list_of(block, "device", ';', [](const RunOutcome& run) { return device_of(run.device); });
  line += list_of(block, "failure", ';',
                  [](const RunOutcome& run) { return journal_escaped(run.device.failure); });
  return line;
}

std::optional<JournalBlock> journal_block_of(std::string_view rest, JournalContext& context) {
  JournalBlock block;
  if (rest.ends_with(' ')) return std::nullopt;
  const auto first_run = journal_number_in(take_journal_part(rest, ' '));
  const auto run_count = journal_number_in(take_journal_part(rest, ' '));
  if (!first_run || !run_count || *run_count == 0 || *run_count > kJournalBlockRunsMax ||
      *first_run > UINT64_MAX - *run_count) {
    return std::nullopt;
  }
  block.first_run = *first_run;
  block.outcomes.resize(*run_count);
  for (RunOutcome& run : block.outcomes) run.ran = true;
  constexpr std::string_view kNames[] = {"ms",     "cpu",    "found",  "cells",
                                         "hazard", "device", "failure"};
  size_t next_name = 0;
  while (!rest.empty()) {
    std::string_view value = take_journal_part(rest, ' ');
    const std::string_view name = take_journal_part(value, '=');
    while (next_name < std::size(kNames) && kNames[next_name] != name) ++next_name;
    if (next_name++ == std::size(kNames)) return std::nullopt;
    if (name == "ms") {
      const auto milliseconds = journal_number_in(value);
      if (!milliseconds || *milliseconds == 0) return std::nullopt;
      block.milliseconds = *milliseconds;
    } else if (!read_field(block, name, value, context)) {
      return std::nullopt;
    }
  }
  return block;
}

}  // namespace interlock
