// SPDX-License-Identifier: Apache-2.0
// `kill -9` of whet, of its worker and of a runner, at random moments of real runs of `whet optimize`: nothing that was recorded is lost, nothing was
// judged twice, no verdict blames a Solution for it, and no process is left.
//
//   WHET_KILLS   how many, a third of each kind (3)
//   WHET_SEED    of all that is random here (another one each time; it is printed)
//   WHET_ONLY    one kind only: whet, worker or runner
//   WHET_WITHIN  only in the first so many seconds (the whole run)
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "sandbox/jail.h"
#include "tests/killed/disturbed_run.h"

namespace whet {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

uint64_t number_from(const char* name, uint64_t otherwise) {
  const std::string text = variable(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

// How many of each kind are still to be made.
class Plan {
 public:
  explicit Plan(int kills) {
    const std::string only = variable("WHET_ONLY");
    for (int i = 0; i < kills; ++i) {
      if (only.empty()) ++missing_[i % 3];
      for (int kind = 0; kind < 3; ++kind) missing_[kind] += only == kKinds[kind];
    }
  }

  bool done() const {
    return std::ranges::all_of(missing_, [](int count) { return count <= 0; });
  }
  // Three kills at most, uniformly over so many seconds; of each kind, as long as there are enough.
  std::vector<Kill> draw(double seconds, std::mt19937_64& random) const {
    int left[3];
    std::ranges::copy(missing_, left);
    std::vector<Kill> kills;
    while (kills.size() < 3) {
      const auto most = std::ranges::max_element(left);
      if (*most <= 0) break;
      --*most;
      kills.push_back({static_cast<Kind>(most - left), std::uniform_real_distribution<>(0, seconds)(random)});
    }
    return kills;
  }
  void note(const Kill& kill) { --missing_[static_cast<int>(kill.kind)], ++made_[static_cast<int>(kill.kind)]; }
  std::string made() const {
    return fmt::format("{} kills: whet {}, worker {}, runner {}", std::accumulate(made_, made_ + 3, 0), made_[0],
                       made_[1], made_[2]);
  }

 private:
  int missing_[3] = {}, made_[3] = {};
};

void print(int run, const DisturbedRun& disturbed) {
  for (const Outcome& outcome : disturbed.outcomes())
    std::cout << fmt::format("  run {:3}  {:6}  after {:5.2f} s  {:12} {}\n", run,
                             kKinds[static_cast<int>(outcome.kill.kind)], outcome.kill.moment, outcome.victim,
                             outcome.then);
  if (::testing::Test::HasFailure()) std::cout << "what whet said in it:\n" << disturbed.said();
}

TEST(Killed, NothingIsLostDoubledOrLeftBehind) {
  for (const Wall& wall : jail_walls())
    if (wall.name == "pid_namespace" && !wall.standing)
      GTEST_SKIP() << "this machine refuses the wall pid_namespace, which ends all of a jail at once: " << wall.reason;
  const uint64_t seed = number_from("WHET_SEED", std::random_device()());
  const auto kills = static_cast<int>(number_from("WHET_KILLS", 3));
  std::cout << fmt::format("WHET_SEED={} WHET_KILLS={}\n", seed, kills);
  std::mt19937_64 random(seed);
  adopt_orphans();

  DisturbedRun whole(random());
  whole.drive({});
  print(0, whole);
  if (HasFailure()) return;
  const std::string within = variable("WHET_WITHIN");
  const double span =
      within.empty() ? whole.seconds() : std::min(whole.seconds(), std::strtod(within.c_str(), nullptr));
  std::cout << fmt::format("undisturbed, a run takes {:.2f} s\n", whole.seconds());

  Plan plan(kills);
  for (int run = 1; !plan.done() && !HasFailure(); ++run) {
    DisturbedRun disturbed(random());
    disturbed.drive(plan.draw(span, random));
    disturbed.expect_no_remains();
    for (const Outcome& outcome : disturbed.outcomes()) plan.note(outcome.kill);
    print(run, disturbed);
  }
  std::cout << plan.made() << "\n";
}

}  // namespace
}  // namespace whet
