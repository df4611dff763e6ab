#include "fuzz/cli/captured_origins.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "capture/convert/captured_places.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr size_t kPlacesShown = 24;
constexpr size_t kCallersShown = 4;
constexpr size_t kOutputBytesMax = size_t{1} << 20;
constexpr int kPollMs = 100;
constexpr int kPatience = 100;  // In polls.

// Where functions are looked up: offsets of each file of code.
using Lookups = std::map<std::string, std::set<uint64_t>>;
using Symbols = std::map<std::pair<std::string, uint64_t>, std::string>;

// What the process prints until it ends, or until nobody waits any longer.
std::string output_of(pid_t child, int output) {
  std::string text;
  std::array<char, 4096> bytes;
  for (int waited = 0; waited < kPatience && !is_stopped() && text.size() < kOutputBytesMax;) {
    pollfd readable = {output, POLLIN, 0};
    if (poll(&readable, 1, kPollMs) <= 0) {
      ++waited;
      continue;
    }
    const ssize_t count = read(output, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(bytes.data(), static_cast<size_t>(count));
  }
  close(output);
  kill(child, SIGKILL);  // It has ended, or takes too long.
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// What `addr2line` prints of these offsets: two lines for each. Empty if it is not there.
std::string ask_addr2line(const std::string& file, const std::set<uint64_t>& offsets) {
  std::vector<std::string> words = {"addr2line", "-C", "-f", "-e", file};
  for (const uint64_t offset : offsets) words.push_back(fmt::format("{:#x}", offset));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return output_of(child, ends[0]);
  close(ends[0]);
  return {};
}

std::string take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

Symbols symbols_of(const Lookups& lookups) {
  Symbols symbols;
  for (const auto& [file, offsets] : lookups) {
    // A log may name anything.
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    const std::string text = ask_addr2line(file, offsets);
    std::string_view rest = text;
    for (const uint64_t offset : offsets) {
      const std::string function = printable(take_line(rest));
      const std::string line = printable(take_line(rest));
      // Without the tables that say which source, it is only the nearest name that is exported.
      if (function.empty() || line.starts_with("??")) continue;
      symbols[{file, offset}] = fmt::format("{} at {}", function, line.substr(line.rfind('/') + 1));
    }
  }
  return symbols;
}

std::string text_of_callers(const CommandOrigin& origin, const Symbols& symbols) {
  std::string text;
  for (size_t i = 0; i < origin.callers.size() && i < kCallersShown; ++i) {
    const CodePlace& caller = origin.callers[i];
    text += text.empty() ? "" : ", from ";
    text += text_of(caller);
    const auto symbol = symbols.find({*caller.file, caller.offset});
    if (symbol != symbols.end()) text += fmt::format(" ({})", symbol->second);
  }
  return text;
}

std::string text_of_origin(const CapturedPlace& place, const CommandOrigin& origin,
                           const Symbols& symbols) {
  std::string text = fmt::format("  {}:", text_of(place));
  const std::string callers = text_of_callers(origin, symbols);
  if (!callers.empty()) text += " " + callers;
  if (!origin.labels.empty()) {
    text += fmt::format("{} below the label '{}'", callers.empty() ? "" : ",", origin.labels);
  }
  return text + "\n";
}

}  // namespace

std::string text_of_origins(const Program& program, const CheckReport& report,
                            const CaptureSummary& summary) {
  // In the order of the findings, each once.
  std::vector<std::pair<CapturedPlace, const CommandOrigin*>> shown;
  std::set<CapturedPlace> seen;
  const auto add = [&](const CapturedPlace& place) {
    if (shown.size() >= kPlacesShown || !seen.insert(place).second) return;
    const CommandOrigin* const origin = summary.places.find(place);
    if (origin != nullptr) shown.emplace_back(place, origin);
  };
  const auto add_end = [&](const AccessRef& end) {
    const auto place = place_of_label(program.reference_of(end.dispatch));
    if (!place) return;
    add(*place);
    add({place->submission});
  };
  for (const Finding& finding : report.findings) {
    if (!is_hazard(finding.kind)) continue;
    add_end(finding.first);
    if (finding.second) add_end(*finding.second);
  }
  if (shown.empty()) return {};
  Lookups lookups;
  for (const auto& [place, origin] : shown) {
    for (size_t i = 0; i < origin->callers.size() && i < kCallersShown; ++i) {
      lookups[*origin->callers[i].file].insert(origin->callers[i].offset);
    }
  }
  const Symbols symbols = symbols_of(lookups);
  std::string text = "asked for at:\n";
  for (const auto& [place, origin] : shown) text += text_of_origin(place, *origin, symbols);
  return text;
}

}  // namespace interlock
