// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

std::string error_of(std::string_view text) {
  auto parsed = parse_json(text, "f.json");
  return parsed ? "no error" : parsed.error().what;
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  auto json = parse_json(R"({"z":1,"a":2})", "f.json");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->dump(), R"({"z":1,"a":2})");
}

TEST(ParseJson, NamesFileLineAndColumn) {
  EXPECT_NE(error_of("{\n \"a\": 1,\n \"b\": }").find("f.json: not JSON at line 3"), std::string::npos) << error_of("{\n \"a\": 1,\n \"b\": }");
}

TEST(ParseJson, RefusesDuplicateKeysDepthAndHugeNumbers) {
  EXPECT_EQ(error_of(R"({"a":1,"a":2})"), "f.json: the key \"a\" stands twice in one object");
  EXPECT_EQ(error_of(std::string(201, '[') + std::string(201, ']')), "f.json: nested deeper than 200 levels");
  EXPECT_EQ(error_of("18446744073709551615"), "f.json: the integer 18446744073709551615 does not fit into 64 signed bits");
  EXPECT_NE(error_of("1e999"), "no error");
}

TEST(JsonReader, CollectsEveryComplaintWithItsPath) {
  auto json = parse_json(R"({"name":"","n":-1,"list":[1,"x"],"flag":3})", "f.json");
  std::vector<std::string> complaints;
  JsonReader in(*json, "f.json", "outer", complaints);
  in.string("name");
  in.integer("n", 0);
  in.integer("absent", 0);
  in.strings_or_empty("list");
  in.boolean_or("flag", false);
  EXPECT_EQ(complaints, (std::vector<std::string>{
                            "f.json: outer.name: expected a non-empty string, found \"\"",
                            "f.json: outer.n: expected an integer >= 0, found -1",
                            "f.json: outer.absent: missing; expected an integer",
                            "f.json: outer.list: expected a list of strings, found 1 in it",
                            "f.json: outer.flag: expected true or false, found 3",
                        }));
}

TEST(JsonDouble, RoundTripsWhatJsonCannotSay) {
  EXPECT_TRUE(std::isnan(double_from_json(json_double(NAN))));
  EXPECT_EQ(double_from_json(json_double(-INFINITY)), -INFINITY);
  EXPECT_EQ(double_from_json(json_double(0.1)), 0.1);
}

}  // namespace
}  // namespace whet
