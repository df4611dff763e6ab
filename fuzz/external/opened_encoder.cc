#include "fuzz/external/opened_encoder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "fuzz/external/exec_encoder.h"
#include "fuzz/external/library_encoder.h"

namespace interlock {
namespace {

constexpr std::string_view kExec = "exec:";
constexpr std::string_view kLibrary = "lib:";

template <typename Opened>
Result<Success> put(Result<std::unique_ptr<Opened>> opened, OpenedEncoder& encoder) {
  if (!opened) return opened.error();
  encoder.encoder = std::move(*opened);
  return Success{};
}

// As a shell splits them, where nothing but quotes keeps words together.
std::vector<std::string> words_of_command(std::string_view command) {
  std::vector<std::string> words;
  bool is_inside = false;
  char quote = 0;
  for (const char c : command) {
    const bool is_quote = quote == 0 ? c == '\'' || c == '"' : c == quote;
    if (c == ' ' && quote == 0) {
      is_inside = false;
      continue;
    }
    if (!is_inside) words.emplace_back();
    is_inside = true;
    if (is_quote) {
      quote = quote == 0 ? c : 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

bool is_external_name(std::string_view name) {
  return name.starts_with(kExec) || name.starts_with(kLibrary);
}

uint64_t digest_of_external(std::string_view name) {
  INTERLOCK_CHECK(is_external_name(name));
  uint64_t digest = fnv1a(name);
  for (const std::string& word : words_of_command(name.substr(name.find(':') + 1))) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(word, ignored)) continue;
    std::ifstream file(word, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    digest = fnv1a(digest, bytes);
  }
  return std::max<uint64_t>(digest, 1);
}

Result<std::unique_ptr<OpenedEncoder>> open_encoder(const std::string& name,
                                                    const ExternalOptions& options) {
  INTERLOCK_CHECK(is_external_name(name));
  auto opened = std::make_unique<OpenedEncoder>();
  opened->name = name;
  const auto put_encoder =
      name.starts_with(kLibrary)
          ? put(LibraryEncoder::open(name.substr(kLibrary.size())), *opened)
          : put(ExecEncoder::open({.command = name.substr(kExec.size()),
                                   .timeout_seconds = options.exec_timeout_seconds,
                                   .stop = options.stop}),
                *opened);
  if (!put_encoder) return put_encoder.error();
  opened->entry = {.name = opened->name,
                   .summary = "an encoder that is not part of this build",
                   .is_broken = false,
                   .create = nullptr,
                   .external = opened->encoder.get()};
  return opened;
}

}  // namespace interlock
