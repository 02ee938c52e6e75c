// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <utility>

namespace whet {

// Who has to act on a failure: decides the exit code of the command line (docs: 2 bad input, 3 the machine failed).
enum class Blame { input, machine };

// A failure of the world: file, process, network, bad input. `what` is one sentence for a person; it names the file, the key or line,
// what was expected, what was found, and what to do. Callers add context on the way up with `in()`.
struct Error {
  std::string what;
  Blame blame = Blame::input;

  // Puts "context: " in front: `return std::unexpected(err.in("task.toml"))`.
  Error in(const std::string& context) && { return {context + ": " + what, blame}; }
  Error in(const std::string& context) const& { return {context + ": " + what, blame}; }
};

template <class T>
using Expected = std::expected<T, Error>;
using Status = Expected<void>;

template <class... Args>
std::unexpected<Error> bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), Blame::input});
}
template <class... Args>
std::unexpected<Error> machine_failed(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), Blame::machine});
}

// "open /x/y: No such file or directory" from errno (or the given number).
std::unexpected<Error> system_error(const std::string& action, int error_number, Blame blame = Blame::machine);

}  // namespace whet

#define WHET_CONCAT_(a, b) a##b
#define WHET_CONCAT(a, b) WHET_CONCAT_(a, b)

// WHET_TRY(auto x, expression): declares x from an Expected, or returns its error from the enclosing function.
#define WHET_TRY(declaration, ...) WHET_TRY_(WHET_CONCAT(whet_try_, __LINE__), declaration, __VA_ARGS__)
#define WHET_TRY_(temporary, declaration, ...)                                \
  auto temporary = (__VA_ARGS__);                                             \
  if (!temporary) return std::unexpected(std::move(temporary).error());       \
  declaration = *std::move(temporary)

// WHET_OK(expression): returns the error of a Status (or of an Expected whose value is not needed).
#define WHET_OK(...)                                                                           \
  do {                                                                                         \
    if (auto whet_ok_ = (__VA_ARGS__); !whet_ok_) return std::unexpected(std::move(whet_ok_).error()); \
  } while (0)

// The same, with context added to the error.
#define WHET_TRY_IN(context, declaration, ...) WHET_TRY_IN_(WHET_CONCAT(whet_try_, __LINE__), context, declaration, __VA_ARGS__)
#define WHET_TRY_IN_(temporary, context, declaration, ...)                                     \
  auto temporary = (__VA_ARGS__);                                                              \
  if (!temporary) return std::unexpected(std::move(temporary).error().in(context));            \
  declaration = *std::move(temporary)
