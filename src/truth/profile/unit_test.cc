// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/unit.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

void expect(std::string_view value, std::string_view unit, double wanted, std::string_view base) {
  const auto counter = normalised(value, unit);
  ASSERT_TRUE(counter) << value << " " << unit;
  EXPECT_NEAR(counter->value, wanted, 1e-9 * (1 + std::abs(wanted))) << value << " " << unit;
  EXPECT_EQ(counter->unit, base);
}

TEST(Unit, TimesAreNanoseconds) {
  expect("65,696", "ns", 65696, "ns");
  expect("65.696", "us", 65696, "ns");
  expect("0.065696", "ms", 65696, "ns");
  expect("1.5", "s", 1.5e9, "ns");
  expect("2", "usecond", 2000, "ns");
}

TEST(Unit, SizesAreBytesAndAKilobyteIsAThousand) {
  expect("0.134227", "Gbyte", 134227000, "byte");
  expect("32.77", "Kbyte", 32770, "byte");
  expect("1.02", "Kbyte/block", 1020, "byte/block");
}

TEST(Unit, RatesArePerSecond) {
  expect("3.75", "Tbyte/s", 3.75e12, "byte/s");
  expect("2", "sector/ns", 2e9, "sector/s");
  expect("7", "sector/us", 7e6, "sector/s");
  expect("3", "byte/second", 3, "byte/s");
  expect("1.98", "Ghz", 1.98e9, "hz");
  expect("2", "%/Kbyte", 0.002, "%/byte");
}

TEST(Unit, OthersStay) {
  expect("78.00", "%", 78, "%");
  expect("16", "register/thread", 16, "register/thread");
  expect("1,056", "", 1056, "");
  expect("4.2", "parsec", 4.2, "parsec");
}

TEST(Unit, TheWholeOfAFigureWithParts) { expect("12 (3; 9)", "inst", 12, "inst"); }

TEST(Unit, WhatIsNoNumber) {
  for (const char* text : {"", "n/a", "PolicySpread", "nan", "inf", "1e999", "1.2.3", "-", "0x10"}) EXPECT_FALSE(normalised(text, "")) << text;
}

}  // namespace
}  // namespace whet
