#include "bindings/c/handles.h"

#include <charconv>

#include "encoder/program/names.h"
#include "encoder/program/release.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

constexpr uint64_t kInputBytesMax = 1ull << 50;

// Takes "7:" off `text`; 0 if it does not begin so.
uint64_t take_number(std::string_view& text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::optional<uint64_t> number = decimal_of(text.substr(0, colon));
  if (!number) return 0;
  text.remove_prefix(colon + 1);
  return *number;
}

bool set_flag(bool& flag, uint64_t value) {
  flag = value != 0;
  return value <= 1;
}

template <typename Number>
bool set_number(Number& number, uint64_t value, uint64_t min, uint64_t max) {
  if (value < min || value > max) return false;
  number = static_cast<Number>(value);
  return true;
}

bool set_option(ilk_options& options, ilk_option option, uint64_t value) {
  switch (option) {
    case ILK_INPUT_BYTES:
      return set_number(options.limits.input_bytes, value, 1, kInputBytesMax);
    case ILK_STATEMENT_COUNT:
      return set_number(options.limits.statement_count, value, 1, UINT32_MAX - 1);
    case ILK_EXPANSION_COUNT:
      return set_number(options.limits.expansion_count, value, 0, UINT32_MAX - 1);
    case ILK_ALL_PAIRS:
      return set_flag(options.check.lists_all_pairs, value);
    case ILK_COUNT_POSSIBLE:
      return set_flag(options.check.counts_possible, value);
    case ILK_COUNT_OWN_READS:
      return set_flag(options.check.counts_own_reads, value);
    case ILK_IGNORE_EXPECT:
      return set_flag(options.ignores_expectations, value);
    case ILK_HAZARD_COUNT:
      return set_number(options.check.pair_limit, value, 1, UINT32_MAX);
    case ILK_OBSERVABILITY_BUDGET:
      return set_number(options.check.observability_budget, value, 0, UINT64_MAX);
    case ILK_REDUNDANCY_BUDGET:
      return set_number(options.check.redundancy_budget, value, 0, UINT64_MAX);
    case ILK_EVALUATION_COUNT:
      return set_number(options.evaluation_count, value, 1, UINT64_MAX);
    case ILK_ANY_KERNELS:
      return set_flag(options.has_any_kernels, value);
    case ILK_QUEUE_COUNT:
      return set_number(options.queue_count, value, 0, Limits{}.queue_count - 1);
    case ILK_RUN_COUNT:
      return set_number(options.run_count, value, 1, UINT64_MAX - 1);
    case ILK_SEED:
      return set_number(options.seed, value, 0, UINT64_MAX);
  }
  return false;
}

}  // namespace

ilk_status give_error(ilk_error** error, ilk_error failure) noexcept {
  const ilk_status status = failure.status;
  if (error != nullptr) *error = new (std::nothrow) ilk_error(std::move(failure));
  return status;
}

ilk_error input_error(std::string message, std::string_view name) {
  ilk_error error{ILK_BAD_INPUT, std::move(message), 0, 0};
  std::string_view rest = error.message;
  if (!rest.starts_with(name) || rest.substr(name.size(), 1) != ":") return error;
  rest.remove_prefix(name.size() + 1);
  error.line = take_number(rest);
  if (error.line != 0) error.column = take_number(rest);
  return error;
}

ilk_error null_argument(std::string_view name) {
  return {ILK_BAD_ARGUMENT, std::string(name) + " is null.", 0, 0};
}

const ilk_options& options_or_default(const ilk_options* options) {
  static const ilk_options kDefault;
  return options != nullptr ? *options : kDefault;
}

ParseOptions parse_options_of(const ilk_options* options) {
  ParseOptions parse;
  parse.limits = options_or_default(options).limits;
  read_every_queue(parse);
  return parse;
}

}  // namespace interlock

extern "C" {

const char* ilk_version(void) { return interlock::release_text().data(); }  // Of a literal.

uint32_t ilk_abi_version(void) { return ILK_ABI_VERSION; }

void ilk_error_free(ilk_error* error) { delete error; }

ilk_status ilk_error_status(const ilk_error* error) {
  return error != nullptr ? error->status : ILK_NO_MEMORY;
}

const char* ilk_error_message(const ilk_error* error) {
  return error != nullptr ? error->message.c_str() : "there is not enough memory.";
}

uint64_t ilk_error_line(const ilk_error* error) { return error != nullptr ? error->line : 0; }

uint64_t ilk_error_column(const ilk_error* error) { return error != nullptr ? error->column : 0; }

ilk_options* ilk_options_create(void) { return new (std::nothrow) ilk_options; }

void ilk_options_free(ilk_options* options) { delete options; }

ilk_status ilk_options_set(ilk_options* options, ilk_option option, uint64_t value) {
  const bool is_set = options != nullptr && interlock::set_option(*options, option, value);
  return is_set ? ILK_OK : ILK_BAD_ARGUMENT;
}

void ilk_options_stop(ilk_options* options) {
  if (options != nullptr) options->stop.request();
}

}  // extern "C"
