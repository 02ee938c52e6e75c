// SPDX-License-Identifier: Apache-2.0
#include "truth/build/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"

namespace whet {
namespace {

class Cache : public testing::Test {
 protected:
  TemporaryDirectory folder = TemporaryDirectory::make("whet-cache-test").value();
  BuildCache cache = BuildCache::open(folder.path() / "x", 1 << 20).value();
  static std::string key(int i) { return sha256_hex(std::to_string(i)); }
  void age(int i, int seconds) {
    const timespec then[2] = {{1'000'000 - seconds, 0}, {1'000'000 - seconds, 0}};
    const auto path = folder.path() / "x" / key(i).substr(0, 2) / key(i);
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), then, 0), 0);
  }
};

TEST_F(Cache, GivesBackWhatItTook) {
  EXPECT_EQ(cache.load(key(1)), std::nullopt);
  const std::string contents("a\0b", 3);
  ASSERT_TRUE(cache.store(key(1), contents));
  EXPECT_EQ(cache.load(key(1)), contents);
  ASSERT_TRUE(cache.store(key(1), "new"));
  EXPECT_EQ(cache.load(key(1)), "new");
}

TEST_F(Cache, ADamagedEntryIsAbsentAndGoes) {
  ASSERT_TRUE(cache.store(key(1), "contents"));
  const auto path = folder.path() / "x" / key(1).substr(0, 2) / key(1);
  std::string text = read_file(path).value();
  text.back() ^= 1;
  ASSERT_TRUE(write_file_atomically(path, text));
  EXPECT_EQ(cache.load(key(1)), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(path));
  const auto file = cache.store_file(key(2), "library").value();
  EXPECT_EQ(cache.load_file(key(2), sha256_hex("library")), file);
  EXPECT_EQ(cache.load_file(key(2), sha256_hex("other")), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Cache, TheLeastRecentlyUsedGoFirst) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(cache.store(key(i), std::string(1000, 'x')));
    age(i, 100 - i);
  }
  EXPECT_TRUE(cache.load(key(0)));  // used just now
  cache.make_room(2500);
  EXPECT_TRUE(cache.load(key(0)));
  EXPECT_FALSE(cache.load(key(1)));
  EXPECT_FALSE(cache.load(key(2)));
  EXPECT_TRUE(cache.load(key(3)));
  EXPECT_LE(cache.bytes(), 2500u);
  cache.make_room(1);
  EXPECT_GT(cache.bytes(), 0u) << "the newest stays";
}

}  // namespace
}  // namespace whet
