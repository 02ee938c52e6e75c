// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace whet {

// The allow-list of compile options. Allowed: -O*, -m*, -f* (but nothing that loads a plugin, names a file or writes one), -std=, -D, -U,
// -I with a relative path, -W* (but not -Wl, -Wa, -Wp), -g*, -pthread, -w, -pedantic, --param=. Each option is one word.
// Nothing when all are allowed; else one sentence that names the flag, the reason and what to do.
std::optional<std::string> refused_compile_flag(const std::vector<std::string>& cflags);

// Linking: -O*, -m*, -f* as above, -pthread, -s, -static-libgcc, -static-libstdc++, some of -Wl, and the system's own libraries by -l.
std::optional<std::string> refused_link_flag(const std::vector<std::string>& ld_flags);

// Of `cflags`, those that a file of this language takes: a -std= of the other language is left out.
std::vector<std::string> flags_for_language(const std::vector<std::string>& cflags, bool is_c);

// Of `cflags`, those that the link step must see too: -O*, -m*, -flto*, -fopenmp*, -pthread, -g*.
std::vector<std::string> flags_for_link(const std::vector<std::string>& cflags);

}  // namespace whet
