// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "report/comparison.h"
#include "report/evaluation_text.h"
#include "report/numbers.h"

namespace whet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Sample> around(double ns) { return {{0, 0, ns * 0.99, ""}, {1, 1, ns, ""}, {2, 0, ns * 1.01, ""}, {3, 1, ns * 9, "preempted"}}; }

Trial trial(const std::string& name, const std::string& role, double flushed, double resident, double cold) {
  return {name, role, {Code::correct, "", ""}, {}, {{Column::flushed, around(flushed)}, {Column::resident, around(resident)}, {Column::cold, around(cold)}}};
}

Evaluation fixed() {
  Evaluation evaluation;
  evaluation.id = "e0123456789abcdef";
  evaluation.task = "attention-cpu";
  evaluation.solution = "mine";
  evaluation.set = "full";
  evaluation.started_at = "2025-03-04T05:06:07Z";
  evaluation.verdict = {Code::wrong, "decode-4096: draw 7: o[0] is 1, expected 2", ""};
  evaluation.solutions = {{"mine", "candidate", "h", "a", "", {}, 1}, {"onednn", "baseline", "h", "a", "oneDNN 2.6, brgemm:avx512_core", {}, 1}};
  evaluation.workloads = {
      {"prefill-causal-128", "attention", "prefill", 400e3, {trial("mine", "candidate", 1.5e6, 1.4e6, 3e6), trial("openblas", "baseline", 3e6, 2.8e6, 4e6),
                                                           trial("onednn", "baseline", 2.4e6, 2.24e6, 9e6)}},
      {"decode-1024", "attention", "decode", 100e3, {trial("mine", "candidate", 139e3, 80e3, 2e6), trial("openblas", "baseline", 400e3, 400e3, 5e5),
                                                    trial("onednn", "baseline", 118e3, 96e3, 6e5)}},
      {"decode-4096", "attention", "decode", 0, {trial("mine", "candidate", 0, 0, 0), trial("openblas", "baseline", 900, 900, 900)}},
  };
  Trial& wrong = evaluation.workloads[2].trials[0];
  wrong.verdict = {Code::wrong, "draw 7: o[0] is 1, expected 2", ""};
  wrong.samples.clear();
  evaluation.noise_floor = 0.008;
  Scoreboard& board = evaluation.scoreboard;
  board.workloads_total = 3;
  board.workloads_correct = 2;
  board.at_par = 1;
  board.geomean_correct_only = std::pair(Ratio{1.165, 1.14, 1.19}, 2);
  board.workloads = {{"decode-1024", "decode", "onednn", {0.849, 0.83, 0.87}, {{"onednn", {0.849, 0.83, 0.87}}, {"openblas", {2.88, 2.8, 2.9}}}},
                     {"prefill-causal-128", "prefill", "onednn", {1.6, 1.58, 1.62}, {{"onednn", {1.6, 1.58, 1.62}}, {"openblas", {2, 1.9, 2.1}}}}};
  board.by_family = {{"decode", {2, 1, Ratio{0.849, 0.83, 0.87}, Ratio{1.6, 1.58, 1.62}}}, {"prefill", {1, 1, Ratio{1.6, 1.58, 1.62}, Ratio{0.849, 0.83, 0.87}}}};
  board.goal_metric = "geomean_vs_fastest";
  board.goal_value = 1.3;
  evaluation.seconds = {3, 10, 20, 15, 50, 2};
  evaluation.environment = R"({"cpu":{"model":"A CPU @ 2 GHz","cores":2,"governor":"performance"},"compiler":"g++ 12.2"})";
  evaluation.remarks = {"the jail has no cgroup on this machine"};
  return evaluation;
}

TEST(Report, KernelsStandInATableWithTheirAdvice) {
  Evaluation evaluation = fixed();
  EXPECT_EQ(kernels_text(evaluation, {}), "") << "a CPU Solution";
  const std::string serialized = "C7510: Potential Performance Loss: wgmma.mma_async instructions are serialized";
  evaluation.solutions[0].device.kernels = {
      {"attend<128>(Params)", "_Z1a", "sm_90a", 168, 16, 2048, 2760, 1288, 1024, 0, {"C7519: warpgroup.arrive in line 1", "C7519: warpgroup.arrive in line 2", serialized}},
      {"combine(Params)", "_Z1c", "sm_90a", 32, 1, 0, 0, 0, 0, 0, {}}};
  evaluation.solutions[0].device.advisories = {serialized + " elsewhere", "Unknown advice"};
  EXPECT_EQ(kernels_text(evaluation, {.width = 120}),
            "Kernels\n"
            "  kernel               for     registers  spilled B  stack B  shared B  advice\n"
            "  attend<128>(Params)  sm_90a        168  2048/2760     1288      1024  C7519 x2, C7510\n"
            "  combine(Params)      sm_90a         32          0        0         0\n"
            "  - C7519: warpgroup.arrive in line 1\n"
            "  - C7510: Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
            "  - Unknown advice\n");
  EXPECT_THAT(evaluation_text(evaluation, {.width = 120}), HasSubstr("\nKernels\n"));
}

TEST(Report, TheWholeEvaluation) {
  EXPECT_EQ(evaluation_text(fixed(), {}),
            R"(mine on attention-cpu (full): wrong   e0123456789abcdef  2025-03-04 05:06

workload            family   verdict  candidate  openblas    onednn           vs fastest
prefill-causal-128  prefill  correct    1.50 ms   3.00 ms   2.40 ms*  1.60x [1.58, 1.62]
decode-1024         decode   correct     139 us    400 us    118 us*  0.85x [0.83, 0.87]
decode-4096         decode   wrong            -    900 ns*        -                    -

Verdicts
  300 wrong: decode-4096
      draw 7: o[0] is 1, expected 2

Scoreboard
  correct                      2 of 3
  at par or faster             1 of 3
  geomean against the fastest  none: not every workload is correct and timed
  geomean of the correct ones  1.17x [1.14, 1.19]  n 2
  goal                         geomean_vs_fastest >= 1.3: not met

  family   correct             geomean       of all others
  decode       1/2  0.85x [0.83, 0.87]  1.60x [1.58, 1.62]
  prefill      1/1  1.60x [1.58, 1.62]  0.85x [0.83, 0.87]

The worst
  decode-1024  0.85x [0.83, 0.87]
    - onednn wins: 139 us against 118 us
    - 1.39x the physical floor of 100 us (onednn is at 1.18x): little is left to gain
    - with the inputs in the cache it is 1.20x: what it loses, it loses fetching memory
    - prepare and the first call take 2.00 ms, those of onednn 600 us
  prefill-causal-128  1.60x [1.58, 1.62]
    - still ahead of onednn, the fastest baseline: 1.50 ms against 2.40 ms
    - 3.75x the physical floor of 400 us (onednn is at 6.00x)

         total  Solutions  judge  reference  build  admission
Seconds   50.0       20.0   15.0       10.0    3.0        2.0
Share                40 %   30 %       20 %    6 %        4 %

Noise    0.80 %: two processes of one program differ by that much here
Machine  A CPU @ 2 GHz, 2 cores, governor performance, g++ 12.2

Remarks
  onednn: oneDNN 2.6, brgemm:avx512_core
  the jail has no cgroup on this machine
)");
}

TEST(Report, ExtraColumnsWhenAsked) {
  EXPECT_EQ(columns_text(fixed(), {}),
            R"(workload            resident  fastest  ratio     cold  fastest  ratio
prefill-causal-128   1.40 ms  2.24 ms  1.60x  3.00 ms  4.00 ms  1.33x
decode-1024          80.0 us  96.0 us  1.20x  2000 us   500 us  0.25x
decode-4096                -   900 ns      -        -   900 ns      -
)");
}

TEST(Report, NothingIsWiderThanItsStyle) {
  for (int width : {80, 100, 140}) {
    Evaluation evaluation = fixed();
    evaluation.workloads[0].workload = evaluation.scoreboard.workloads[1].workload = "a-workload-with-a-very-long-name-that-somebody-thought-out";
    evaluation.remarks.push_back("a remark " + std::string(150, 'x') + " of many words that go on and on until they have to be broken somewhere in the middle");
    std::istringstream lines(evaluation_text(evaluation, {.width = width, .columns = true}));
    for (std::string line; std::getline(lines, line);) {
      const bool unbreakable = line.find("xxxx") != std::string::npos;
      EXPECT_LE(display_width(line), unbreakable ? 170 : static_cast<std::size_t>(width)) << line;
      EXPECT_FALSE(line.ends_with(" ")) << line;
    }
  }
}

TEST(Report, ColoursOnlyWhenAllowed) {
  EXPECT_THAT(evaluation_text(fixed(), {}), Not(HasSubstr("\x1b")));
  std::string coloured = evaluation_text(fixed(), {.colour = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[31m0.85x [0.83, 0.87]\x1b[0m"));
  std::string bare;  // without the colours it is the same text
  for (std::size_t at = 0; at < coloured.size();) {
    if (coloured[at] == '\x1b')
      at = coloured.find('m', at) + 1;
    else
      bare += coloured[at++];
  }
  EXPECT_EQ(bare, evaluation_text(fixed(), {}));
}

TEST(Report, BuildFailuresShowTheLog) {
  Evaluation evaluation = fixed();
  std::string log;
  for (int i = 0; i < 30; ++i) log += fmt::format("entry.cc:{}: error: no\n", i);
  for (WorkloadResult& result : evaluation.workloads) {
    result.trials = {Trial{"mine", "candidate", {Code::compile_failed, "entry.cc does not compile", log}, {}, {}}};
  }
  evaluation.scoreboard = {};
  EXPECT_THAT(verdicts_text(evaluation, {}), HasSubstr("  100 compile_failed: prefill-causal-128, decode-1024, decode-4096\n      entry.cc does not compile\n"
                                                       "    entry.cc:0: error: no\n"));
  EXPECT_THAT(verdicts_text(evaluation, {}), HasSubstr("... 10 more lines"));
  evaluation.workloads.clear();
  evaluation.verdict = {Code::machine_failed, "no space left", ""};
  EXPECT_EQ(verdicts_text(evaluation, {}), "Verdicts\n  500 machine_failed: no space left\n");
  EXPECT_THAT(evaluation_text(evaluation, {}), HasSubstr("Scoreboard"));
}

TEST(Report, StrangeEnvironmentsAreNoProblem) {
  for (const char* text : {"", "not json", "[]", "{}", R"({"cpu":[1]})"}) EXPECT_EQ(environment_text(text, {}), "") << text;
  EXPECT_EQ(environment_text(R"({"cpu":"X"})", {}), "Machine  X\n");
}

TEST(Numbers, ThreeDigitsAndOneUnitARow) {
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(1e3), "1.00 us");
  EXPECT_EQ(time_text(12.345e6), "12.3 ms");
  EXPECT_EQ(time_text(2e9), "2.00 s");
  EXPECT_EQ(time_text(2e6, unit_for(5e3)), "2000 us");
  EXPECT_EQ(time_text(NAN), "-");
  EXPECT_EQ(interval_text(Ratio{1.234, 1.2, 1.26}), "1.23x [1.20, 1.26]");
  EXPECT_EQ(interval_text(Ratio{12.34, 11.9, 13}), "12.3x [11.9, 13.0]");
  EXPECT_EQ(interval_text(Ratio{NAN, NAN, NAN}), "-");
  EXPECT_EQ(interval_text(std::optional<Ratio>()), "-");
  EXPECT_EQ(factor_text(0.01234), "0.012x");
  EXPECT_EQ(minute_text("2025-03-04T05:06:07Z"), "2025-03-04 05:06");
  EXPECT_EQ(minute_text("yesterday"), "yesterday");
}

TEST(Table, ShrinksWhatMayShrink) {
  Table table;
  table.column("name", Table::Align::left, true);
  table.column("n", Table::Align::right);
  table.row({"a name of thirty characters or", "12345"});
  table.row({"ümläut", "1"});
  EXPECT_EQ(table.text({.width = 24}),
            "name                   n\n"
            "a name of thir...  12345\n"
            "ümläut                 1\n");
}

Evaluation with_geomean(Ratio ratio, double noise = 0.01) {
  Evaluation evaluation = fixed();
  evaluation.workloads.pop_back();
  evaluation.scoreboard.geomean_vs_fastest = ratio;
  evaluation.noise_floor = noise;
  return evaluation;
}

TEST(Comparison, HoldsWhenTheIntervalsMeet) {
  Evaluation old = with_geomean({1.5, 1.45, 1.55});
  EXPECT_EQ(compare_evaluations(old, with_geomean({1.6, 1.54, 1.66})).holding, Holding::holds);
  EXPECT_EQ(compare_evaluations(old, with_geomean({1.6, 1.57, 1.63})).holding, Holding::holds) << "within both noise floors";
  auto apart = compare_evaluations(old, with_geomean({1.7, 1.65, 1.75}));
  EXPECT_EQ(apart.holding, Holding::does_not_hold) << "faster than was said is another claim";
  EXPECT_THAT(apart.reasons, ElementsAre("geomean against the fastest: was 1.50x [1.45, 1.55], is 1.70x [1.65, 1.75]"));
  EXPECT_EQ(compare_evaluations(with_geomean({1.5, 1.45, 1.55}, 0), with_geomean({1.6, 1.57, 1.63}, 0)).holding, Holding::does_not_hold);
  EXPECT_EQ(compare_evaluations(old, with_geomean({1.3, 1.25, 1.35})).holding, Holding::does_not_hold);
}

TEST(Comparison, AVerdictThatChangedDoesNotHold) {
  Evaluation old = with_geomean({1.5, 1.45, 1.55}), fresh = old;
  fresh.workloads[0].trials[0].verdict = {Code::stale, "it answered the call before", ""};
  fresh.scoreboard.geomean_vs_fastest.reset();
  auto comparison = compare_evaluations(old, fresh);
  EXPECT_EQ(comparison.holding, Holding::does_not_hold);
  EXPECT_THAT(comparison.reasons, ElementsAre("prefill-causal-128: was correct, is stale: it answered the call before"));
  EXPECT_EQ(compare_evaluations(fixed(), fixed()).holding, Holding::holds) << "wrong then, wrong now";
}

TEST(Comparison, NotEnoughEvidence) {
  Evaluation old = with_geomean({1.5, 1.45, 1.55}), fresh = old;
  fresh.workloads.pop_back();
  EXPECT_THAT(compare_evaluations(old, fresh).reasons, ElementsAre("decode-1024: not measured again"));
  EXPECT_EQ(compare_evaluations(old, fresh).holding, Holding::not_enough_evidence);
  fresh = old;
  fresh.workloads[0].trials[0].verdict.code = Code::machine_failed;
  EXPECT_EQ(compare_evaluations(old, fresh).holding, Holding::not_enough_evidence);
  fresh = with_geomean({9, 9, 9});
  fresh.task_hash = "other";
  EXPECT_THAT(compare_evaluations(old, fresh).reasons, ElementsAre("the task is of another version"));
}

TEST(Comparison, Text) {
  EXPECT_EQ(comparison_text(fixed(), fixed(), {}),
            "e0123456789abcdef of 2025-03-04 05:06, judged again in e0123456789abcdef: holds\n\n"
            "                                  was      is\n"
            "  correct                      2 of 3  2 of 3\n"
            "  geomean against the fastest       -       -\n"
            "  no workload stands apart from what it was\n");
  Evaluation fresh = fixed();
  fresh.workloads[1].trials[0].verdict = {Code::crashed, "signal 11", ""};
  EXPECT_THAT(comparison_text(fixed(), fresh, {}), HasSubstr("does not hold\n  decode-1024: was correct, is crashed: signal 11\n"));
  EXPECT_THAT(comparison_text(fixed(), fresh, {}), HasSubstr("  decode-1024  139 us  139 us  0.85x [0.83, 0.87]  crashed\n"));
}

}  // namespace
}  // namespace whet
