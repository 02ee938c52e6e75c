// SPDX-License-Identifier: Apache-2.0
// What is alive below this process, and how to wait for it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace whet {

struct Descendant {
  pid_t pid = 0, parent = 0;
  std::string name;     // comm: at most 15 letters
  std::string command;  // arguments, separated by blanks
};

// From now on an orphan below us becomes our child, whatever session, namespace or user it has: nothing can be left behind unseen.
void adopt_orphans();
// Children of `ancestor`, their children, and so on; not those that have ended and wait to be reaped.
std::vector<Descendant> descendants(pid_t ancestor);
// Reaps orphans of ours that have ended. While `except` is a child of ours it is left to others.
void reap_orphans(pid_t except);
// "whet-worker (1234), cc1plus (1240)"
std::string names_of(const std::vector<Descendant>& processes);

// Looks once a millisecond, that many times. Counted in looks, not by the clock: a machine that is suspended meanwhile makes nobody late.
bool within(int looks, const std::function<bool()>& condition);

}  // namespace whet
