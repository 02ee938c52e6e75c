// SPDX-License-Identifier: Apache-2.0
#include "search/ledger_store.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "search/scripted_judge_test.h"

namespace whet {
namespace {

// A run over the real ledger: what it reads back is what a run over memory had.
TEST(LedgerStore, ARunIsReadBackAsItWasWritten) {
  const TemporaryDirectory folder = *TemporaryDirectory::make("whet-ledger");
  scripted::World world, same_world;
  scripted::MemoryStore memory(same_world);
  auto ledger = Ledger::open((folder.path() / "ledger.db").string());
  ASSERT_TRUE(ledger) << ledger.error().what;
  LedgerStore store(*ledger);
  OptimizeOptions options;
  options.budget.wall_seconds = wall_limit(15);
  const auto run = [&](scripted::World& its_world, Store& its_store, const std::string& name) {
    return optimize(scripted::task_files(), options,
                    {.run_id = "r1", .folder = (folder.path() / name).string(), .store = &its_store, .open_worker = scripted::open_worker(its_world),
                     .clock = [&its_world] { return its_world.now; }});
  };
  const auto in_ledger = run(world, store, "a");
  ASSERT_TRUE(in_ledger) << in_ledger.error().what;
  const auto in_memory = run(same_world, memory, "b");
  ASSERT_TRUE(in_memory) << in_memory.error().what;
  EXPECT_EQ(in_ledger->champion_hash, in_memory->champion_hash);

  const auto judged = store.judged("r1");
  ASSERT_TRUE(judged) << judged.error().what;
  ASSERT_EQ(judged->size(), memory.records.size());
  for (std::size_t i = 0; i < judged->size(); ++i) {
    EXPECT_EQ((*judged)[i].evaluation, memory.records[i].evaluation);
    EXPECT_EQ((*judged)[i].request, memory.records[i].request);
    EXPECT_EQ((*judged)[i].purpose, memory.records[i].purpose);
    EXPECT_EQ((*judged)[i].families, memory.records[i].families);
    EXPECT_EQ((*judged)[i].wall_seconds, memory.records[i].wall_seconds);
  }
  EXPECT_EQ(store.run("r1")->folder, (folder.path() / "a").string());
  EXPECT_EQ(store.run("r1")->status, in_ledger->ended);
  EXPECT_TRUE(ledger->check()->empty());

  RunSetting setting{.run_id = "r1", .folder = store.run("r1")->folder, .store = &store, .open_worker = scripted::open_worker(world)};
  const auto resumed = resume(setting);
  ASSERT_TRUE(resumed) << resumed.error().what;
  EXPECT_EQ(resumed->final, in_ledger->final);
}

}  // namespace
}  // namespace whet
