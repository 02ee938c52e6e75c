// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

TEST(Sha256, MatchesThePublishedVectors) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesArrive) {
  std::string bytes(1000, 'x');
  Sha256 pieces;
  for (std::size_t i = 0, n = 1; i < bytes.size(); i += n, n = n % 97 + 1) pieces.update(std::string_view(bytes).substr(i, n));
  EXPECT_EQ(pieces.hex(), sha256_hex(bytes));
}

TEST(TreeHash, SeparatesPathFromContents) {
  EXPECT_NE(tree_hash({{"a", "bc"}}), tree_hash({{"ab", "c"}}));
  EXPECT_NE(tree_hash({{"a", ""}, {"b", ""}}), tree_hash({{"a", "1:b0:"}}));
}

}  // namespace
}  // namespace whet
