// SPDX-License-Identifier: Apache-2.0
#include "wire/address.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace whet {
namespace {

constexpr std::string_view kLocal = "local:", kSsh = "ssh://";
constexpr const char* kForms = "local:, local:/path/to/whet-worker or ssh://[user@]host[:port][/folder]";

bool only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
  });
}

bool is_name(std::string_view text, std::string_view others) { return !text.empty() && text[0] != '-' && only(text, others); }

// Cuts "[::1]:22", "host:22" or "host" in two; nothing when it is none of these.
std::optional<std::pair<std::string_view, std::string_view>> host_and_port(std::string_view text) {
  if (!text.starts_with('[')) {
    const auto colon = std::min(text.find(':'), text.size());
    const std::string_view host = text.substr(0, colon);
    if (!is_name(host, "._-")) return std::nullopt;
    return std::pair{host, text.substr(colon)};
  }
  const auto end = text.find(']');
  if (end == std::string_view::npos || !is_name(text.substr(1, end - 1), ":.%_-")) return std::nullopt;
  return std::pair{text.substr(1, end - 1), text.substr(end + 1)};
}

// A backslash means something between single quotes in some shells, a line feed in others.
bool is_folder(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\'; });
}

Expected<WorkerAddress> parse_ssh(const std::string& text, const std::string& named_by) {
  std::string_view rest = std::string_view(text).substr(kSsh.size());
  const auto slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash), folder = rest.substr(slash);
  WorkerAddress address;
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    address.user = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    if (!is_name(address.user, "._-+@"))
      return bad_input("{}: {}: expected a user's name before the @ (letters, digits and . _ - + @), found '{}'", named_by, text, address.user);
  }
  const auto cut = host_and_port(authority);
  if (!cut)
    return bad_input("{}: {}: expected a host after ssh:// (letters, digits and . _ -, or an IPv6 number in brackets), found '{}'", named_by, text, authority);
  address.host = cut->first;
  if (std::string_view port = cut->second; !port.empty()) {
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (cut->second[0] != ':' || error != std::errc() || end != port.data() + port.size() || address.port < 1 || address.port > 65535)
      return bad_input("{}: {}: expected a port after the host, :1 to :65535, found '{}'", named_by, text, cut->second);
  }
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (!is_folder(folder))
    return bad_input("{}: {}: expected a folder without control characters and backslashes; choose another on that machine", named_by, text);
  if (folder.starts_with("/~")) {
    folder.remove_prefix(1);
    if (folder != "~" && folder[1] != '/')
      return bad_input("{}: {}: expected /~/folder (below the home folder of whoever logs in) or an absolute folder, found '/{}'", named_by, text, folder);
  }
  address.folder = folder;
  return address;
}

}  // namespace

std::string WorkerAddress::text() const {
  if (!remote()) return std::string(kLocal) + program;
  const std::string shown_host = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return fmt::format("{}{}{}{}{}{}{}", kSsh, user, user.empty() ? "" : "@", shown_host, port ? ":" + std::to_string(port) : "",
                     folder.starts_with("~") ? "/" : "", folder);
}

Expected<WorkerAddress> parse_worker_address(const std::string& text, const std::string& named_by) {
  if (text.starts_with(kLocal)) return WorkerAddress{.program = text.substr(kLocal.size())};
  if (text.starts_with(kSsh)) return parse_ssh(text, named_by);
  return bad_input("{}: expected {}, found '{}'", named_by, kForms, text);
}

Expected<std::vector<std::string>> parse_ssh_program(const std::string& text, const std::string& named_by) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (const char c : text) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) quote = c;
    else if (c == quote) quote = 0;
    else words.back() += c;
  }
  if (quote != 0) return bad_input("{}: expected another {} that ends the quotation, found '{}'", named_by, quote, text);
  if (words.empty() || words.front().empty()) return bad_input("{}: expected a program like ssh, with or without arguments, found '{}'", named_by, text);
  return words;
}

}  // namespace whet
