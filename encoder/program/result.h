// Result<T>: a value, or the error that says why there is none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "encoder/program/check.h"

namespace interlock {

enum class ErrorKind : uint8_t {
  kOther,    // The input or the machine does not allow it.
  kRefused,  // A backend lacks what the program needs; another backend may have it.
  kFault,    // What nothing may do was done, by code of Interlock or a driver: a stray write.
};

// A complete sentence for the person whose input or machine it concerns.
// Parse errors start with "file:line:column: error: "; context lines start with "\n  - While ".
struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::kOther;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return has_value(); }

  // Requires: has_value().
  T& value() & {
    INTERLOCK_CHECK(has_value());
    return std::get<T>(state_);
  }
  const T& value() const& {
    INTERLOCK_CHECK(has_value());
    return std::get<T>(state_);
  }
  T&& value() && {
    INTERLOCK_CHECK(has_value());
    return std::get<T>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !has_value().
  const Error& error() const {
    INTERLOCK_CHECK(!has_value());
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// What an operation returns that gives nothing but success.
struct Success {};

}  // namespace interlock
