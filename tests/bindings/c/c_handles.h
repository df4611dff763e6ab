// Handles of interlock.h that end with their scope, for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bindings/c/interlock.h"

namespace interlock {

struct FreeHandle {
  void operator()(ilk_program* program) const { ilk_program_free(program); }
  void operator()(ilk_report* report) const { ilk_report_free(report); }
  void operator()(ilk_options* options) const { ilk_options_free(options); }
  void operator()(ilk_builder* builder) const { ilk_builder_free(builder); }
  void operator()(ilk_error* error) const { ilk_error_free(error); }
};

template <typename Handle>
using Owned = std::unique_ptr<Handle, FreeHandle>;

// What a call made, and what it returned.
template <typename Handle>
struct CallResult {
  ilk_status status = ILK_OK;
  Owned<Handle> made;
  Owned<ilk_error> error;

  std::string message() const { return error ? ilk_error_message(error.get()) : ""; }
};

// What `function` makes of the arguments; it is given where to put the result and the error.
template <typename Handle, typename Function, typename... Arguments>
CallResult<Handle> call(Function function, Arguments... arguments) {
  Handle* made = nullptr;
  ilk_error* error = nullptr;
  CallResult<Handle> result;
  result.status = function(arguments..., &made, &error);
  result.made.reset(made);
  result.error.reset(error);
  return result;
}

inline CallResult<ilk_program> parsed(std::string_view text, const ilk_options* options = nullptr) {
  return call<ilk_program>(ilk_program_parse, text.data(), text.size(), "given.ilk", options);
}

inline CallResult<ilk_report> checked(const ilk_program* program,
                                      const ilk_options* options = nullptr) {
  return call<ilk_report>(ilk_check, program, options);
}

}  // namespace interlock
