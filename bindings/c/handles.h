// What the handles of interlock.h are, and how its functions run: with the stop of their options,
// and without letting an exception out.
//
// Functions of errors, options and versions are defined in handles.cc, of programs in
// program_functions.cc, of builders in builder_functions.cc, of reports in report_functions.cc, of
// findings in finding_functions.cc, and passes in pass_functions.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/c/interlock.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/text/parser.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/finding.h"

struct ilk_error {
  ilk_status status = ILK_FAILED;
  std::string message;
  uint64_t line = 0;
  uint64_t column = 0;
};

struct ilk_options {
  interlock::Limits limits;
  interlock::CheckOptions check;
  bool ignores_expectations = false;
  bool has_any_kernels = false;
  uint64_t evaluation_count = 100'000;
  uint32_t queue_count = 0;
  uint64_t run_count = 10'000;
  uint64_t seed = 1;
  mutable interlock::Stop stop;  // Whoever uses the options polls it.
};

namespace interlock {

// A text that is made when it is first asked for. Any number of threads may ask.
class LazyText {
 public:
  // Null: there is no memory for it; then it may be asked for again.
  template <typename Make>
  const char* get(const Make& make) const noexcept {
    try {
      std::call_once(once_, [&] {
        const StopScope to_the_end(nullptr);
        text_ = make();
      });
      return text_.c_str();
    } catch (...) {
      return nullptr;
    }
  }

 private:
  mutable std::once_flag once_;
  mutable std::string text_;
};

// A program with the text that it was read from.
struct SourcedProgram {
  std::string source;
  std::string name;
  Program program;
  std::vector<uint64_t> statement_lines;  // As ParseOptions has them.
  LazyText text;

  // 1 where nothing is known.
  uint64_t line_of(StatementId statement) const {
    return statement.index < statement_lines.size() ? statement_lines[statement.index] : 1;
  }
};

}  // namespace interlock

struct ilk_program {
  std::shared_ptr<const interlock::SourcedProgram> sourced;
};

struct ilk_builder {
  std::string text = "interlock 1\n";
  std::optional<interlock::DispatchDraft> dispatch;  // Not in `text` yet.
  std::string shown;                                 // What ilk_builder_text() returned.
};

struct ilk_access {
  const interlock::SourcedProgram& sourced;
  interlock::AccessRef ref;
  interlock::LazyText label;
  interlock::LazyText kernel;
  interlock::LazyText verb;
  interlock::LazyText tensor;
};

struct ilk_finding {
  ilk_finding(const interlock::SourcedProgram& of, const interlock::Finding& found)
      : sourced(of), finding(found), witness(found.witness.size()) {
    if (found.first.dispatch.is_some()) first.emplace(of, found.first);
    if (found.second && found.second->dispatch.is_some()) second.emplace(of, *found.second);
  }

  const interlock::SourcedProgram& sourced;
  const interlock::Finding& finding;
  struct Access : ilk_access {
    Access(const interlock::SourcedProgram& of, interlock::AccessRef at)
        : ilk_access{of, at, {}, {}, {}, {}} {}
  };
  std::optional<Access> first;
  std::optional<Access> second;
  interlock::LazyText memory;
  interlock::LazyText text;
  interlock::LazyText expectation;
  std::vector<interlock::LazyText> witness;
};

struct ilk_report {
  std::shared_ptr<const interlock::SourcedProgram> sourced;
  interlock::CheckReport report;
  interlock::ExpectationOutcome outcome;
  interlock::Verdict verdict = interlock::Verdict::kNone;
  std::deque<ilk_finding> findings;  // Of `report`.
  interlock::LazyText summary;
  interlock::LazyText text;
  interlock::LazyText json;
};

namespace interlock {

// Sets `*error`, if there is one, and returns the status.
ilk_status give_error(ilk_error** error, ilk_error failure) noexcept;

// As give_error() where there is no memory, and so none for an error: of a null one
// ilk_error_status() and ilk_error_message() say that.
inline ilk_status give_no_memory(ilk_error** error) noexcept {
  if (error != nullptr) *error = nullptr;
  return ILK_NO_MEMORY;
}

// Of a message about the file `name`: with its place, if the message has one.
ilk_error input_error(std::string message, std::string_view name);

// "'program' is null."
ilk_error null_argument(std::string_view name);

// Of ILK_FAILED, or of ILK_NO_MEMORY where there is none for `message`.
inline ilk_status give_failure(ilk_error** error, const char* message) noexcept {
  try {
    return give_error(error, {ILK_FAILED, message, 0, 0});
  } catch (...) {
    return give_no_memory(error);
  }
}

// A handle, or why there is none.
template <typename Handle>
using Made = std::variant<std::unique_ptr<Handle>, ilk_error>;

// Sets `*made` to what `work` makes, which returns Made<Handle>, under the stop of `options`.
template <typename Handle, typename Work>
ilk_status make(Handle** made, const ilk_options* options, ilk_error** error,
                const Work& work) noexcept {
  try {
    if (made == nullptr) return give_error(error, null_argument("the place of the result"));
    *made = nullptr;
    Stop* const stop = options != nullptr ? &options->stop : nullptr;
    const StopScope scope(stop);
    Made<Handle> result = work();
    if (stop != nullptr && stop->is_requested()) {
      return give_error(error, {ILK_STOPPED, "the work was stopped.", 0, 0});
    }
    if (auto* const failure = std::get_if<ilk_error>(&result)) {
      return give_error(error, std::move(*failure));
    }
    *made = std::get<std::unique_ptr<Handle>>(result).release();
    return ILK_OK;
  } catch (const std::bad_alloc&) {
    return give_no_memory(error);
  } catch (const std::exception& exception) {
    return give_failure(error, exception.what());
  }
}

// Options as they are, or the defaults.
const ilk_options& options_or_default(const ilk_options* options);

// How a text is read: with every queue, as what judges takes it.
ParseOptions parse_options_of(const ilk_options* options);

// Reads `source`. Errors: those of parse().
Made<ilk_program> program_of(std::string source, std::string name, const ilk_options* options);

}  // namespace interlock
