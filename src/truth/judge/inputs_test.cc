// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/inputs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "truth/judge/host_memory.h"

namespace whet {
namespace {

constexpr int64_t kCount = 65536;

struct Case {
  Definition definition;
  Workload workload;
  mutable HostMemory memory;
  explicit Case(Role role = Role::activation) {
    definition.name = "d";
    definition.axes = {{"n", std::nullopt, ""}};
    workload.name = "w";
    workload.axes = {{"n", kCount}};
    for (const char* name : {"a", "b"}) {
      definition.inputs.push_back({name, std::vector<std::string>{"n"}, Dtype::float32, "", role});
      workload.inputs[name] = {InputSource::Kind::random, int64_t{0}, "", "", Recipe{}};
    }
  }
  // They point into this.
  Inputs inputs(const std::string& secret) const { return std::move(Inputs::make(memory, definition, workload, secret, 3)).value(); }
};

// Draws 2 to 7 are those of the shortest judgement: 0 is the reference's alone, 1 the cold call.
TEST(Inputs, TheShortestJudgementHasTwoTwinsThatASampleOfTheInputsMisses) {
  const Case one;
  for (const char* secret : {"r", "s", "t", "u", "v"}) {
    const Inputs inputs = one.inputs(secret);
    int twins = 0;
    std::set<std::string> varied;
    for (int number = 2; number <= 7; ++number) {
      const Draw draw = inputs.next(number);
      if (draw.parent < 0) continue;
      ++twins;
      EXPECT_EQ(draw.parent, number - 1);
      EXPECT_LT(inputs.next(draw.parent).parent, 0) << "its parent is none: else what outputs are filled with would be nearly right";
      EXPECT_LE(draw.twin_end - draw.twin_begin, kCount / 1024);
      EXPECT_LE(draw.twin_end, kCount);
      varied.insert(draw.twin_input);
    }
    EXPECT_EQ(twins, 2) << secret;
    EXPECT_EQ(varied.size(), 2u) << "not the same input twice";
  }
}

TEST(Inputs, OneTwinOfFourIsLong) {
  const Case one;
  const Inputs inputs = one.inputs("s");
  int twins = 0, large = 0;
  for (int number = 0; number < 64; ++number) {
    const Draw draw = inputs.next(number);
    twins += draw.parent >= 0;
    large += draw.parent >= 0 && draw.twin_end - draw.twin_begin == kCount / 16;
  }
  EXPECT_EQ(twins, 16);
  EXPECT_EQ(large, 4);
}

TEST(Inputs, ATwinIsItsParentButForItsStretch) {
  const Case one;
  Inputs inputs = one.inputs("s");
  int number = 2;
  while (inputs.next(number).parent < 0) ++number;
  const Draw twin = inputs.next(number);
  inputs.write(inputs.next(twin.parent));
  inputs.write(twin);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* before = reinterpret_cast<const float*>(inputs.set(inputs.set_of(twin.parent))[i].data());
    const auto* after = reinterpret_cast<const float*>(inputs.set(inputs.set_of(number))[i].data());
    int64_t differing = 0;
    for (int64_t e = 0; e < kCount; ++e) {
      if (before[e] == after[e]) continue;
      ++differing;
      EXPECT_EQ(inputs.tensors()[i]->name, twin.twin_input);
      EXPECT_TRUE(e >= twin.twin_begin && e < twin.twin_end) << e;
    }
    EXPECT_EQ(differing > 0, inputs.tensors()[i]->name == twin.twin_input);
  }
}

TEST(Inputs, WeightsHaveNoTwins) {
  const Case weight(Role::weight), activation;
  const Inputs weights = weight.inputs("s");
  EXPECT_FALSE(weights.have_twins());
  for (int number = 0; number < 16; ++number) EXPECT_LT(weights.next(number).parent, 0);
  EXPECT_TRUE(activation.inputs("s").have_twins());
}

TEST(Inputs, WhatIsHiddenIsPutBack) {
  const Case one;
  Inputs inputs = one.inputs("s");
  const Draw draw = inputs.next(1);
  inputs.write(draw);
  const Buffer& buffer = inputs.set(inputs.set_of(1))[0];
  const std::vector<uint8_t> whole(buffer.data(), buffer.data() + buffer.bytes());
  inputs.hide(draw);
  EXPECT_NE(std::memcmp(whole.data(), buffer.data(), whole.size()), 0);
  EXPECT_EQ(inputs.reveal().size(), 2u);
  EXPECT_EQ(std::memcmp(whole.data(), buffer.data(), whole.size()), 0);
}

}  // namespace
}  // namespace whet
