// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json_impl.h"

namespace whet {

// JSON-RPC 2.0's own error numbers, and ours for an Error of a handler (its `data` is {"blame": "input" | "machine"}).
namespace rpc {
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInternalError = -32603;
inline constexpr int kHandlerError = -32000;
}  // namespace rpc

// One line of the wire, taken apart.
struct Message {
  enum class Kind { request, notification, answer, error, invalid };
  Kind kind = Kind::invalid;
  Json id;             // request, answer, error; of an invalid message as far as it could be read, else null
  std::string method;  // request, notification
  Json body;           // params, result or the error object
  int error_code = 0;  // invalid: what to answer
  std::string complaint;
};

// Never fails: what is not a message is one of kind `invalid`. Batches (arrays) are not supported and invalid. Text that is not UTF-8 is
// a parse error.
Message parse_message(std::string_view line);

// Lines of the wire without the line feed, which JSON text cannot contain. Bytes that are not UTF-8 are replaced.
std::string request_line(int64_t id, const std::string& method, const Json& params);
std::string notification_line(const std::string& method, const Json& params);
std::string answer_line(const Json& id, const Json& result);
std::string error_line(const Json& id, int code, const std::string& message);
std::string error_line(const Json& id, const Error& error);

// The Error in an answer's error object; `where` is put in front unless a handler wrote the message.
Error error_from_body(const Json& body, const std::string& where);

}  // namespace whet
