// SPDX-License-Identifier: Apache-2.0
#include "task/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Packed sequences: x[total, columns], their running sums, the pages of each.
Definition packed() {
  Definition definition;
  definition.name = "packed";
  for (const char* axis : {"batch", "ends", "total", "columns", "pages"}) definition.axes.push_back({axis, std::nullopt, ""});
  definition.inputs = {{"x", std::vector<std::string>{"total", "columns"}, Dtype::float32, "", Role::activation},
                       {"offsets", std::vector<std::string>{"ends"}, Dtype::int32, "", Role::plan},
                       {"used", std::vector<std::string>{"batch"}, Dtype::int32, "", Role::plan},
                       {"longest", std::nullopt, Dtype::int64, "", Role::activation},
                       {"scale", std::nullopt, Dtype::float32, "", Role::activation}};
  return definition;
}

std::vector<std::string> complaints_about(std::map<std::string, Range> ranges) {
  TaskToml toml;
  toml.file = "task.toml";
  Task task;
  task.definitions = {packed()};
  task.ranges = std::move(ranges);
  std::vector<std::string> complaints;
  check_ranges(toml, task, complaints);
  return complaints;
}

Range interval(double min, double max) { return {{}, min, max, -1, "", "", "", ""}; }
Range follows(const std::string& text) { return {{}, 0, 0, 1, text, "", "", ""}; }
Range lengths(double max, const std::string& total, const std::string& longest) { return {{}, 0, max, -1, "", "", total, longest}; }
Range up_to(const std::string& most) { return {{}, 0, 0, -1, "", most, "", ""}; }

TEST(Ranges, LengthsTotalsAndAxesThatFollow) {
  EXPECT_THAT(complaints_about({{"batch", interval(1, 8)},
                                {"ends", follows("batch + 1")},
                                {"offsets", lengths(100, "total", "longest")},
                                {"pages", interval(1, 4)},
                                {"used", up_to("16 * pages")}}),
              IsEmpty());
}

TEST(Ranges, SayWhatIsWrongWithLengths) {
  const auto one = [](const std::string& name, const Range& range) { return complaints_about({{name, range}}); };
  EXPECT_THAT(one("offsets", lengths(100, "totl", "")), ElementsAre("task.toml: ranges.offsets.total: packed has no variable axis \"totl\""));
  EXPECT_THAT(one("offsets", lengths(100, "total", "scale")), ElementsAre("task.toml: ranges.offsets.longest: packed has no integer scalar \"scale\""));
  EXPECT_THAT(one("used", up_to("pages * size")),
              ElementsAre("task.toml: ranges.used.max: \"pages * size\" is no expression over the axes of packed that are drawn (batch, ends, total, columns, pages)"));
  EXPECT_THAT(one("used", up_to("pages *")), ElementsAre("task.toml: ranges.used.max: \"pages *\" is no expression: it ends where a value is expected"));
  EXPECT_THAT(one("used", interval(0.5, 3)), ElementsAre("task.toml: ranges.used: expected integers >= 0, found 0.5"));
  EXPECT_THAT(one("used", {{1, 2}, 0, 0, 1, "", "", "", ""}), ElementsAre("task.toml: ranges.used: lengths are drawn from an interval; expected { min, max, total, longest }"));
  EXPECT_THAT(one("used", {{}, 0, 9, 3, "", "", "", ""}), ElementsAre("task.toml: ranges.used.step: lengths have no step"));
  EXPECT_THAT(one("x", interval(0, 3)), ElementsAre(testing::HasSubstr("ranges.x: no Definition has a variable axis, a scalar or an integer tensor with one axis of this name")));
}

TEST(Ranges, NothingIsDrawnTwice) {
  EXPECT_THAT(complaints_about({{"offsets", lengths(100, "total", "longest")}, {"total", interval(1, 9)}, {"longest", interval(1, 9)}}),
              ElementsAre("task.toml: ranges.longest: it is the longest of offsets already; drop one of the two", "task.toml: ranges.total: it is the total of offsets already; drop one of the two"));
  EXPECT_THAT(complaints_about({{"ends", follows("total + 1")}, {"offsets", lengths(100, "total", "")}}),
              ElementsAre("task.toml: ranges.ends: \"total + 1\" is no expression over the axes of packed that are drawn (batch, columns, pages)"));
}

}  // namespace
}  // namespace whet
