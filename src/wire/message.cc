// SPDX-License-Identifier: Apache-2.0
#include "wire/message.h"

namespace whet {
namespace {

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool is_id(const Json& id) { return id.is_string() || id.is_number() || id.is_null(); }

Message invalid(int code, std::string complaint, Json id = nullptr) {
  Message message;
  message.id = std::move(id);
  message.error_code = code;
  message.complaint = std::move(complaint);
  return message;
}

Message take_apart(Json& json) {
  if (!json.is_object()) return invalid(rpc::kInvalidRequest, "a message is one JSON object; found " + brief(json));
  Message message;
  auto id = json.find("id");
  if (id != json.end() && !is_id(*id)) return invalid(rpc::kInvalidRequest, "id: expected a string, a number or null, found " + brief(*id));
  if (id != json.end()) message.id = *id;
  if (auto version = json.find("jsonrpc"); version == json.end() || *version != "2.0")
    return invalid(rpc::kInvalidRequest, "jsonrpc: expected \"2.0\"", message.id);

  auto method = json.find("method"), result = json.find("result"), error = json.find("error");
  if (method != json.end()) {
    if (!method->is_string()) return invalid(rpc::kInvalidRequest, "method: expected a string, found " + brief(*method), message.id);
    message.kind = id == json.end() ? Message::Kind::notification : Message::Kind::request;
    message.method = method->get<std::string>();
    auto params = json.find("params");
    if (params != json.end() && !params->is_object() && !params->is_array())
      return invalid(rpc::kInvalidRequest, "params: expected an object or a list, found " + brief(*params), message.id);
    message.body = params == json.end() ? Json::object() : std::move(*params);
  } else if (id != json.end() && result != json.end() && error == json.end()) {
    message.kind = Message::Kind::answer;
    message.body = std::move(*result);
  } else if (id != json.end() && error != json.end() && result == json.end() && error->is_object()) {
    message.kind = Message::Kind::error;
    message.body = std::move(*error);
  } else {
    return invalid(rpc::kInvalidRequest, "neither a request nor an answer", message.id);
  }
  return message;
}

}  // namespace

Message parse_message(std::string_view line) {
  auto json = parse_json(line, "message");
  if (!json) return invalid(rpc::kParseError, json.error().what);
  return take_apart(*json);
}

std::string request_line(int64_t id, const std::string& method, const Json& params) {
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

std::string notification_line(const std::string& method, const Json& params) {
  return line_of({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

std::string answer_line(const Json& id, const Json& result) { return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}); }

std::string error_line(const Json& id, int code, const std::string& message) {
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

std::string error_line(const Json& id, const Error& error) {
  Json body = {{"code", rpc::kHandlerError},
               {"message", error.what},
               {"data", Json::object({{"blame", error.blame == Blame::input ? "input" : "machine"}})}};
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}});
}

Error error_from_body(const Json& body, const std::string& where) {
  std::vector<std::string> complaints;
  JsonReader in(body, where, "error", complaints);
  std::string what = in.string_or("message", "no message");
  int64_t code = in.integer_or("code", 0);
  if (code != rpc::kHandlerError) return {fmt::format("{}: error {}: {}", where, code, what), Blame::machine};
  const Json* data = in.find("data");
  bool input = data && data->is_object() && data->value("blame", Json()) == "input";
  return {std::move(what), input ? Blame::input : Blame::machine};
}

}  // namespace whet
