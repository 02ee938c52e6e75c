// SPDX-License-Identifier: Apache-2.0
// The stream of the wire cut at arbitrary places, and each line of it taken apart and answered; base64 both ways.
#include <cstdlib>

#include "wire/blobs.h"
#include "wire/lines.h"
#include "wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace whet;
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[0], limit = 16 + std::size_t{data[1]} * 8;
  std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  LineCutter lines(limit);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    lines.add(text.substr(at, piece));
    while (auto line = lines.next()) {
      if (line->text.size() > limit || line->text.find('\n') != std::string::npos) std::abort();
      Message message = parse_message(line->text);
      if (message.kind == Message::Kind::invalid && message.complaint.empty()) std::abort();
      if (message.kind == Message::Kind::error) (void)error_from_body(message.body, "wire");
      std::string answer = error_line(message.id, message.error_code, message.complaint);
      if (answer.find('\n') != std::string::npos || parse_message(answer).kind != Message::Kind::error) std::abort();
    }
    if (lines.pending() > limit) std::abort();
  }
  if (auto bytes = from_base64(text); bytes && to_base64(*bytes) != text) std::abort();
  if (from_base64(to_base64(text)).value() != text) std::abort();
  return 0;
}
