// SPDX-License-Identifier: Apache-2.0
#include "task/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "task/brief.h"
#include "task/describe.h"
#include "task/new_task.h"
#include "task/safetensors.h"

namespace whet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TaskFiles good() { return *new_task("vectors"); }

TEST(LoadTask, AcceptsTheShippedTasks) {
  for (const char* name : {"attention-cpu", "attention-hopper", "rmsnorm-cpu"}) {
    auto files = read_tree(std::string(WHET_SOURCE_DIR "/tasks/") + name);
    ASSERT_TRUE(files) << files.error().what;
    const TaskReport report = read_task(*files, name);
    EXPECT_THAT(report.complaints, ElementsAre());
    EXPECT_THAT(report.warnings, ElementsAre());
    ASSERT_TRUE(report.task);
    EXPECT_EQ(report.task->name, name);
    EXPECT_FALSE(report.task->set("full").empty());
    EXPECT_FALSE(describe_task(*report.task).empty());
  }
}

TEST(LoadTask, TheHopperTaskHasItsScenariosByFamilyAndSet) {
  auto files = read_tree(WHET_SOURCE_DIR "/tasks/attention-hopper");
  ASSERT_TRUE(files);
  auto task = load_task(*files, "attention-hopper");
  ASSERT_TRUE(task) << task.error().what;
  EXPECT_EQ(task->target, "cuda");
  std::map<std::string, int> families;
  for (const Workload& workload : task->workloads) {
    ++families[workload.family];
    EXPECT_GT(workload.floor_flops, 0) << workload.name;
    EXPECT_GT(workload.floor_bytes, 0) << workload.name;
  }
  const std::map<std::string, int> expected = {
      {"dense_prefill", 47}, {"varlen_prefill", 9}, {"chunked_prefill", 10}, {"decode", 37}, {"spec_decode", 8},
      {"sliding_window", 14}, {"softcap", 10}, {"sink", 7}, {"leftpad", 4}, {"fp8_prefill", 12},
      {"fp8_decode", 8}, {"mla", 8}, {"edge", 8}};
  EXPECT_EQ(families, expected);
  for (const auto& [name, size] : {std::pair{"full", 182u}, {"58", 58u}, {"40", 40u}, {"26", 26u}, {"smoke", 12u}})
    EXPECT_EQ(task->set(name).size(), size) << name;
  for (const auto& [inner, outer] : {std::pair{"26", "40"}, {"40", "58"}, {"58", "full"}})
    for (const Workload* workload : task->set(inner)) EXPECT_THAT(workload->sets, Contains(outer)) << workload->name;
}

// What the kernels take for granted of a page table: enough pages, each for one place.
TEST(LoadTask, TheHopperTasksPagedWorkloadsHaveAPageForEveryEntry) {
  auto files = read_tree(WHET_SOURCE_DIR "/tasks/attention-hopper");
  auto task = load_task(*files, "attention-hopper");
  ASSERT_TRUE(task);
  int paged = 0;
  for (const Workload& workload : task->workloads) {
    if (!workload.inputs.contains("page_table")) continue;
    ++paged;
    const auto& axes = workload.axes;
    EXPECT_EQ(workload.inputs.at("page_table").recipe.kind, Recipe::Kind::page_permutation);
    EXPECT_EQ(axes.at("num_pages"), axes.at("batch") * axes.at("pages_per_seq")) << workload.name;
    for (int64_t length : workload.inputs.at("seqused_k").recipe.lengths)
      EXPECT_LE(length, axes.at("pages_per_seq") * axes.at("page_size")) << workload.name;
    EXPECT_EQ(workload.inputs.at("cu_seqlens_q").recipe.lengths.back(), axes.at("total_q")) << workload.name;
  }
  EXPECT_EQ(paged, 45);
}

TEST(LoadTask, KeepsOrderSetsAndDefaults) {
  auto task = load_task(good(), "");
  ASSERT_TRUE(task) << task.error().what;
  EXPECT_EQ(task->workloads.size(), 3u);
  EXPECT_EQ(task->set("full").size(), 3u);
  EXPECT_EQ(task->set("smoke").size(), 1u);
  EXPECT_EQ(task->set("nope").size(), 0u);
  EXPECT_EQ(task->workload("tiny")->tolerance, (Tolerance{1e-6, 1e-6, 1e-6}));
  EXPECT_EQ(task->ranges.at("n").step, 1);
  EXPECT_EQ(task->ranges.at("scale").step, 0);
  EXPECT_EQ(task->workload("streamed")->family, "from_memory");
}

struct Case {
  const char *file, *piece, *other, *complaint;  // complaint: all of it, behind "t/"
};

// The good task with one piece of one file replaced.
std::vector<std::string> complaints_with(const Case& c) {
  TaskFiles files = good();
  std::string& text = files.at(c.file);
  const std::size_t at = text.find(c.piece);
  EXPECT_NE(at, std::string::npos) << c.piece;
  text.replace(at, std::string(c.piece).size(), c.other);
  return read_task(files, "t").complaints;
}

TEST(LoadTask, SaysWhatIsWrongInTaskToml) {
  for (const Case& c : {
           Case{"task.toml", "value = 1.05", "value = \"fast\"",
                "task.toml:28: goal.value: expected a number > 0, found \"fast\""},
           {"task.toml", "value = 1.05", "value = -1", "task.toml:28: goal.value: expected a number > 0, found -1"},
           {"task.toml", "value = 1.05", "value = nan", "task.toml:28: goal.value: expected a number > 0, found nan"},
           {"task.toml", "value = 1.05", "valeu = 1.05",
            "task.toml:28: goal.valeu: unknown key; did you mean \"value\"?"},
           {"task.toml", "geomean_vs_fastest", "geomean",
            "task.toml:27: goal.metric: unknown metric \"geomean\"; known: geomean_vs_fastest, geomean_vs:BASELINE"},
           {"task.toml", "geomean_vs_fastest", "geomean_vs:simpel",
            "task.toml:27: goal.metric: there is no baseline \"simpel\"; did you mean \"simple\"?"},
           {"task.toml", "name = \"vectors\"", "name = \"a/b\"",
            "task.toml:9: name: expected letters, digits and . _ + = - only, found \"a/b\""},
           {"task.toml", "name = \"vectors\"", "name = 3", "task.toml:9: name: expected a non-empty string, found 3"},
           {"task.toml", "name = \"vectors\"", "", "task.toml: name: missing; expected a non-empty string"},
           {"task.toml", "target = \"cpu\"", "target = \"gpu\"",
            "task.toml:11: target: expected \"cpu\" or \"cuda\", found \"gpu\""},
           {"task.toml",
            "baselines = ", "baseline = ", "task.toml:15: baseline: unknown key; did you mean \"baselines\"?"},
           {"task.toml", "[\"simple\"]", "[\"simpler\"]",
            "task.toml:15: baselines: there is no folder solutions/simpler; did you mean \"simple\"?"},
           {"task.toml", "[\"simple\"]", "[\"simple\", \"simple\"]",
            "task.toml:15: baselines: \"simple\" stands twice"},
           {"task.toml", "[\"simple\"]", "[]", "task.toml:15: baselines: expected at least one string, found none"},
           {"task.toml", "[\"simple\"]", "[1]",
            "task.toml:15: baselines: expected a list of non-empty strings, found 1 in it"},
           {"task.toml", "reference = \"reference\"", "reference = \"ref\"",
            "task.toml:14: reference: there is no folder solutions/ref; known: reference, simple, start"},
           {"task.toml", "start = \"start\"", "start = \"strat\"",
            "task.toml:16: start: there is no folder solutions/strat; did you mean \"start\"?"},
           {"task.toml", "\"choices.h\", ", "\"chioces.h\", ",
            "task.toml:19: editable: \"chioces.h\" matches no file of solutions/start"},
           {"task.toml", "[\"scale_add_f32\"]", "[\"scale_add_f23\"]",
            "task.toml:12: definitions: no file of definitions/ defines \"scale_add_f23\"; did you mean "
            "\"scale_add_f32\"?"},
           {"task.toml", "rtol = 1e-6", "rtol = -1e-6",
            "task.toml:33: tolerance.float32.rtol: expected a number >= 0, found -1e-06"},
           {"task.toml", "float32 = {", "float = {",
            "task.toml:33: tolerance.float: unknown key; did you mean \"float64\"?"},
           {"task.toml", "float32 = { rtol = 1e-6, atol = 1e-6, norm = 1e-6 }", "float32 = 1e-6",
            "task.toml:33: tolerance.float32: expected a table, found 1e-06"},
           {"task.toml", "n = { min = 1", "m = { min = 1",
            "task.toml:37: ranges.m: no Definition has a variable axis, a scalar or an integer tensor with one axis of this name; known: n, scale"},
           {"task.toml", "n = { min = 1", "n = { min = 0.5",
            "task.toml:37: ranges.n: expected integers >= 0, found 0.5"},
           {"task.toml", "n = { min = 1", "n = { min = 9000000",
            "task.toml:37: ranges.n.max: expected a number >= min = 9000000, found 4194304"},
           {"task.toml", "n = { min = 1, max = 4194304 }", "n = []",
            "task.toml:37: ranges.n: expected a list of values, { min, max, step } or an expression over axes, found an empty list"},
           {"task.toml", "n = { min = 1, max = 4194304 }", "n = { max = 4 }",
            "task.toml:37: ranges.n.min: missing; expected a number"},
           {"task.toml", "n = { min = 1, max = 4194304 }", "n = \"m + 1\"",
            "task.toml:37: ranges.n: \"m + 1\" is no expression over the axes of scale_add_f32 that are drawn ()"},
           {"task.toml", "n = { min = 1, max = 4194304 }", "n = { min = 1, max = \"n\" }",
            "task.toml:37: ranges.n.max: expected a number, found \"n\": only lengths end at an expression"},
           {"task.toml", "n = { min = 1", "n = { total = \"n\", min = 1",
            "task.toml:37: ranges.n.total: only an integer tensor with one axis has a total"},
           {"task.toml", "scale = { min = 0.5, max = 4.0 }", "scale = \"n\"",
            "task.toml:38: ranges.scale: only an axis follows from others; expected a list of values or { min, max, step }, found \"n\""},
           {"task.toml", "n = { min = 1", "n = { step = 0, min = 1",
            "task.toml:37: ranges.n.step: expected a number > 0, found 0"},
           {"task.toml", "smoke = ", "smok = ",
            "workloads/scale_add_f32.jsonl:1: workload.whet.sets: \"smoke\" is not declared in task.toml's [sets]; did "
            "you mean \"smok\"?"},
           {"task.toml",
            "smoke = ", "quick = \"few\"\nsmoke = ", "task.toml:42: sets.quick: no workload belongs to this set"},
           {"task.toml", "full = ", "custom = ",
            "task.toml:41: sets.custom: the name of a set has letters, digits and . _ + = - only, and is not "
            "\"custom\""},
           {"task.toml", "[sets]", "[set]", "task.toml: sets: missing; expected a table"},
           {"task.toml", "[goal]", "[goal",
            "task.toml:26: not TOML at column 6: Error while parsing table header: expected ']', saw '\\n'"},
           {"task.toml", "title = ", "name = ",
            "task.toml:10: not TOML at column 8: Error while parsing key-value pair: cannot redefine existing string "
            "'name'"},
       })
    EXPECT_THAT(complaints_with(c), Contains("t/" + std::string(c.complaint))) << c.other;
}

TEST(LoadTask, SaysWhatIsWrongInTheOtherFiles) {
  const char *definition = "definitions/scale_add_f32.json", *workloads = "workloads/scale_add_f32.jsonl",
             *start = "solutions/start/solution.json";
  for (const Case& c : {
           Case{definition, "\"n\": {", "\"n\" {",
                "definitions/scale_add_f32.json: not JSON at line 5, column 16: syntax error while parsing object "
                "separator - unexpected '{'; expected ':'"},
           {definition, "{\"shape\": [\"n\"], \"dtype\": \"float32\", \"description\": \"what is scaled\"}",
            "{\"shape\": [\"N\"], \"dtype\": \"float32\"}",
            "definitions/scale_add_f32.json: inputs.x.shape: the axis \"N\" is not declared under axes; did you mean "
            "\"n\"?"},
           {definition, "\"scale_add_f32\"", "\"scale_add\"",
            "definitions/scale_add_f32.json: name: \"scale_add\" is not listed in task.toml's definitions; known: "
            "scale_add_f32"},
           {definition, "\"nan\"", "\"nans\"",
            "definitions/scale_add_f32.json: whet.nans: unknown key; did you mean \"nan\"?"},
           {workloads, "\"cached\"", "\"tiny\"",
            "workloads/scale_add_f32.jsonl:2: workload.whet.name: \"tiny\" stands already at "
            "t/workloads/scale_add_f32.jsonl:1"},
           {workloads, "f32-32768", "f32-1000",
            "workloads/scale_add_f32.jsonl:2: workload.uuid: \"scale_add_f32-1000\" stands already at "
            "t/workloads/scale_add_f32.jsonl:1"},
           {workloads, "\"scale_add_f32\"", "\"scale_ad_f32\"",
            "workloads/scale_add_f32.jsonl:1: definition: there is no Definition \"scale_ad_f32\"; did you mean "
            "\"scale_add_f32\"?"},
           {workloads, "\"definition\"", "\"definitoin\"",
            "workloads/scale_add_f32.jsonl:1: definition: missing; expected a non-empty string"},
           {workloads, "{\"definition\"", "[{\"definition\"",
            "workloads/scale_add_f32.jsonl:1: not JSON at line 1, column 456: syntax error while parsing array - "
            "unexpected end of input; expected ']'"},
           {workloads, "{\"type\": \"random\"}",
            "{\"type\": \"safetensors\", \"path\": \"blob/x.safetensors\", \"tensor_key\": \"x\"}",
            "workloads/scale_add_f32.jsonl:1: workload.whet.recipes.x: only an input of type \"random\" has a recipe"},
           {start, "\"whet\": {\"definitions\": [\"scale_add_f32\"]}",
            "\"whet\": {\"definitions\": [\"scale_add_f32\", \"other\"]}",
            "solutions/start/solution.json: whet.definitions: the task has no Definition \"other\"; known: "
            "scale_add_f32"},
           {start, "\"cpp\"", "\"rust\"",
            "task.toml:16: start: \"start\" cannot be judged: expected language cpp or cuda with binding whet and destination "
            "passing, or python or triton, found rust with binding whet"},
       })
    EXPECT_THAT(complaints_with(c), Contains("t/" + std::string(c.complaint))) << c.other;
}

TEST(LoadTask, ReportsEverythingAtOnceAndNothingTwice) {
  TaskFiles files = good();
  files["task.toml"] = "name = \"x\"\nstart = 3\ntitel = \"t\"\n[sets]\nquick = \"q\"\n";
  const TaskReport report = read_task(files, "");
  EXPECT_FALSE(report.task);
  EXPECT_THAT(
      report.complaints,
      ElementsAre(
          "task.toml:3: titel: unknown key; did you mean \"title\"?",
          "task.toml: title: missing; expected a non-empty string",
          "task.toml: definitions: missing; expected a list of strings",
          "task.toml: reference: missing; expected a non-empty string",
          "task.toml: baselines: missing; expected a list of strings",
          "task.toml:2: start: expected a non-empty string, found 3",
          "task.toml: editable: missing; expected a list of strings",
          "workloads/scale_add_f32.jsonl:1: definition: there is no Definition \"scale_add_f32\"; none is known here",
          "workloads/scale_add_f32.jsonl:2: definition: there is no Definition \"scale_add_f32\"; none is known here",
          "workloads/scale_add_f32.jsonl:3: definition: there is no Definition \"scale_add_f32\"; none is known here",
          "task.toml:4: sets: expected a set \"full\", which scores are stated for; known: quick",
          "solutions/reference/solution.json: whet.definitions: the task has no Definition \"scale_add_f32\"; none is known here",
          "solutions/simple/solution.json: whet.definitions: the task has no Definition \"scale_add_f32\"; none is known here",
          "solutions/start/solution.json: whet.definitions: the task has no Definition \"scale_add_f32\"; none is known here"));
}

TEST(LoadTask, NeedsATaskToml) {
  auto task = load_task({{"a", "b"}}, "x");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().what,
            "x/task.toml: missing; a task is a folder with task.toml, definitions/, workloads/ and solutions/");
}

TEST(LoadTask, ChecksPayloads) {
  TaskFiles files = good();
  std::string& line = files.at("workloads/scale_add_f32.jsonl");
  const std::string random = "{\"type\": \"random\"}", recipe = "\"x\": {\"kind\": \"normal\", \"scale\": 1}, ";
  line.replace(line.find(random), random.size(),
               "{\"type\": \"safetensors\", \"path\": \"blob/x.safetensors\", \"tensor_key\": \"x\"}");
  line.replace(line.find(recipe), recipe.size(), "");
  const std::string zeros(4000, '\0'),
      at = "t/workloads/scale_add_f32.jsonl:1: workload.inputs.x: t/blob/x.safetensors: ";
  files["blob/x.safetensors"] = write_safetensors({{"x", Dtype::float32, {1000}, zeros}});
  EXPECT_THAT(read_task(files, "t").complaints, ElementsAre());
  files["blob/x.safetensors"] = write_safetensors({{"x", Dtype::float32, {500, 2}, zeros}});
  EXPECT_THAT(read_task(files, "t").complaints,
              ElementsAre(at + "tensor \"x\": expected F32 [1000], found F32 [500, 2]"));
  files["blob/x.safetensors"] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4000\n";
  EXPECT_THAT(read_task(files, "t").complaints,
              ElementsAre(at + "payload missing: this is a Git-LFS pointer; fetch it with `git lfs pull`"));
}

TEST(TaskHash, CoversWhatDecidesAndNothingElse) {
  const std::string hash = task_hash(good());
  for (const char* path : {"task.toml", "definitions/scale_add_f32.json", "workloads/scale_add_f32.jsonl",
                           "solutions/reference/entry.cc", "solutions/simple/solution.json"}) {
    TaskFiles files = good();
    files[path] += "\n";
    EXPECT_NE(task_hash(files), hash) << path;
  }
  for (const char* path :
       {"solutions/start/entry.cc", "solutions/unnamed/entry.cc", "README.md", "solutions/simple/notes.md"}) {
    TaskFiles files = good();
    files[path] += "\n";
    EXPECT_EQ(task_hash(files), hash) << path;
  }
}

TEST(Brief, ShowsTheContractAndNoOneElsesCode) {
  const Task task = *load_task(good(), "");
  const Brief brief = cut_brief(task);
  EXPECT_THAT(brief.text(), HasSubstr("tiny (scale_add_f32, family in_cache): n 1000; scale 1.5; sets full, smoke; "
                                      "rtol 1e-06, atol 1e-06, norm 1e-06"));
  EXPECT_THAT(brief.text(), HasSubstr("simple: The loop as one writes it"));
  EXPECT_TRUE(brief.start.contains("choices.h"));
  EXPECT_TRUE(brief.headers.contains("scale_add_f32.h"));
  for (const auto& [path, contents] : brief.start) EXPECT_EQ(contents.find("In double precision"), std::string::npos);
  EXPECT_EQ(brief.text().find("uuid"), std::string::npos);
}

TEST(Describe, PrintsTheTables) {
  const std::string text = describe_task(*load_task(good(), ""));
  EXPECT_THAT(text,
              HasSubstr("vectors: Scale and add on vectors (float32)\ntarget cpu; goal geomean_vs_fastest >= 1.05"));
  EXPECT_THAT(text,
              HasSubstr("  workload  family       n        scalars    tensors   floor                 sets\n"
                        "  tiny      in_cache     1000     scale 1.5  11.7 KiB  2 kflop     11.7 KiB  full, smoke\n"));
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(64), "64 B");
}

TEST(NewTask, HasSourcesThatCompile) {
  for (const char* name : {"reference", "simple", "start"}) {
    auto folder = TemporaryDirectory::make("whet-new");
    ASSERT_TRUE(write_tree(folder->path(), solution_files(good(), name)));
    const std::string command = "g++ -std=c++20 -Wall -Werror -fopenmp -fsyntax-only -I" WHET_SOURCE_DIR "/include " + (folder->path() / "entry.cc").string();
    EXPECT_EQ(std::system(command.c_str()), 0) << name;
  }
}

TEST(NewTask, RefusesANameThatIsNoFolder) { EXPECT_FALSE(new_task("../x")); }

}  // namespace
}  // namespace whet
