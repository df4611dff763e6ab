// Any bytes, read as program text, give a program or an error with a position, never a crash, a
// hang or unbounded memory. What is accepted prints as text that reads as the same program. The
// strict and the lenient way of reading agree on text that the strict one accepts.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/text/gzip.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

constexpr std::string_view kFileName = "fuzz.ilk";
constexpr ParseOptions kStrict{.reads_every_queue = true};

// Returns the canonical text.
std::string check_round_trip(const Program& program) {
  const std::string text = print(program);
  const Result<Program> again = parse(text, kFileName, kStrict);
  INTERLOCK_CHECK(again.has_value());
  INTERLOCK_CHECK(print(*again) == text);
  const Result<Program> built = build(draft_of(program));
  INTERLOCK_CHECK(built.has_value());
  INTERLOCK_CHECK(print(*built) == text);
  return text;
}

void check_error(const Error& error) {
  INTERLOCK_CHECK(error.message.substr(0, kFileName.size() + 1) == std::string(kFileName) + ":");
  INTERLOCK_CHECK(error.message.find(": error: ") != std::string::npos);
  INTERLOCK_CHECK(error.message.size() < 4096);
}

void check_text(std::string_view text) {
  const ParseOptions lenient{.skips_invalid_lines = true, .reads_every_queue = true};
  const Result<Program> strict = parse(text, kFileName, kStrict);
  const Result<Program> rest = parse(text, kFileName, lenient);
  if (!strict) {
    check_error(strict.error());
  }
  if (!rest) {
    check_error(rest.error());
    INTERLOCK_CHECK(!strict);
    return;
  }
  const std::string canonical = check_round_trip(*rest);
  INTERLOCK_CHECK(!strict || check_round_trip(*strict) == canonical);
  // A line that does not parse is skipped, and the program stays the same.
  const Result<Program> same = parse(std::string(text) + "\n?\n", kFileName, lenient);
  INTERLOCK_CHECK(same.has_value() && print(*same) == canonical);
}

// What the bytes are compressed to is they again; other bytes are text within the limit, or an
// error.
void check_gzip(std::string_view bytes) {
  constexpr uint64_t kTextBytesMax = 1u << 20;
  const Result<std::string> text = gunzip(bytes, kTextBytesMax);
  INTERLOCK_CHECK(!text || text->size() <= kTextBytesMax);
  const Result<std::string> packed = gzip(bytes);
  INTERLOCK_CHECK(!packed || gunzip(*packed, bytes.size()).value() == bytes);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  interlock::check_text(bytes);
  interlock::check_gzip(bytes);
  return 0;
}
