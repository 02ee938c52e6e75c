// SPDX-License-Identifier: Apache-2.0
// The stream of the wire cut at arbitrary places, each line of it taken apart and answered; base64 both ways.
#include "wire/message.h"

#include "fuzzed.h"
#include "wire/blobs.h"
#include "wire/lines.h"

using namespace whet;

namespace {

void take_apart(const std::string& line) {
  const Message message = parse_message(line);
  must(message.kind != Message::Kind::invalid || !message.complaint.empty(), "what is no message is told why");
  if (message.kind == Message::Kind::error) must(error_from_body(message.body, "wire").what.size() > 0, "an error has words");
  const std::string answer = error_line(message.id, message.error_code, message.complaint);
  must(answer.find('\n') == std::string::npos, "an answer is one line");
  must(parse_message(answer).kind == Message::Kind::error, "an answer is a message");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[0], limit = 16 + std::size_t{data[1]} * 8;
  const std::string_view text = text_of(data + 2, size - 2);
  LineCutter lines(limit);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    lines.add(text.substr(at, piece));
    while (auto line = lines.next()) {
      must(line->text.size() <= limit && line->text.find('\n') == std::string::npos, "a line is short enough and one line");
      take_apart(line->text);
    }
    must(lines.pending() <= limit, "no more is kept than a line may have");
  }
  if (auto bytes = from_base64(text)) must(to_base64(*bytes) == text, "base64 has one form");
  must(from_base64(to_base64(text)).value() == text, "base64 loses nothing");
  return 0;
}
