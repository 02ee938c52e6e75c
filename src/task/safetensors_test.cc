// SPDX-License-Identifier: Apache-2.0
#include "task/safetensors.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

std::string file_with(std::string header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

std::string error_of(const std::string& file) {
  auto header = read_safetensors_header(file, file.size(), "f");
  return header ? "no error" : header.error().what;
}

TEST(Safetensors, FindsWhatWasWritten) {
  const std::string file = write_safetensors({{"a", Dtype::bfloat16, {2, 3}, "0123456789ab"},
                                              {"b", Dtype::int64, {}, "ABCDEFGH"},
                                              {"fp4", Dtype::float4_e2m1, {3}, "xyz"}});
  EXPECT_EQ(*load_safetensor(file, "a", Dtype::bfloat16, {2, 3}, "f"), "0123456789ab");
  EXPECT_EQ(*load_safetensor(file, "b", Dtype::int64, {}, "f"), "ABCDEFGH");
  EXPECT_EQ(*load_safetensor(file, "fp4", Dtype::float4_e2m1, {3}, "f"), "xyz");
  EXPECT_EQ(load_safetensor(file, "a", Dtype::float16, {2, 3}, "f").error().what,
            "f: tensor \"a\": expected F16 [2, 3], found BF16 [2, 3]");
  EXPECT_EQ(load_safetensor(file, "a", Dtype::bfloat16, {3, 2}, "f").error().what,
            "f: tensor \"a\": expected BF16 [3, 2], found BF16 [2, 3]");
  EXPECT_EQ(load_safetensor(file, "c", Dtype::bfloat16, {}, "f").error().what,
            "f: there is no tensor \"c\"; it has a, b, fp4");
}

TEST(Safetensors, ReadsTheHeaderFromAPrefixOfTheFile) {
  const std::string file = write_safetensors({{"a", Dtype::int8, {4}, "0123"}});
  const uint64_t prefix = *safetensors_prefix(file.substr(0, 8), file.size(), "f");
  auto header = read_safetensors_header(std::string_view(file).substr(0, prefix), file.size(), "f");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->tensors.at("a").end, 4u);
  EXPECT_EQ(read_safetensors_header(std::string_view(file).substr(0, prefix - 1), file.size(), "f").error().what,
            "f: the header is cut off");
}

TEST(Safetensors, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("abc"),
            "f: not a safetensors file: expected a length of 8 bytes at the start, found a file of 3 bytes");
  EXPECT_EQ(error_of(std::string(8, '\xff')),
            "f: not a safetensors file: a header of 18446744073709551615 bytes is beyond 100 MiB");
  EXPECT_EQ(error_of(std::string("\x10\0\0\0\0\0\0\0{}", 10)), "f: the header says 16 bytes, but the file has only 10");
  EXPECT_EQ(error_of(file_with("[]", "")), "f: the header must be a JSON object, found []");
  EXPECT_EQ(error_of(file_with("{", "")).substr(0, 44), "f (header): not JSON at line 1, column 2: sy");
  EXPECT_EQ(error_of(file_with(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "0123")),
            "f: a.data_offsets: 4 bytes do not hold [2] F32");
  EXPECT_EQ(error_of(file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "")),
            "f: a.data_offsets: the tensor ends at 4, but the file has only 0 bytes of data");
  EXPECT_EQ(error_of(file_with(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[4,0]}})", "0123")),
            "f: a.shape: expected integers >= 0, found -1\nf: a.data_offsets: expected [begin, end] with 0 <= begin <= "
            "end, found [4,0]");
  EXPECT_EQ(
      error_of(file_with(
          R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}})",
          "012")),
      "f: the data has overlapping tensors at byte 1");
  EXPECT_EQ(error_of(file_with(R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[1,2]}})", "01")),
            "f: the data has a hole at byte 0");
  EXPECT_EQ(error_of(file_with(R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})", "01")),
            "f: expected 1 bytes of data after the header, found 2");
  EXPECT_EQ(error_of(file_with(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "")),
            "f: a.data_offsets: 0 bytes do not hold [4611686018427387904, 4] F64");
  EXPECT_EQ(error_of(file_with(R"({"__metadata__":{"k":1}})", "")), "f: __metadata__.k: expected a string, found 1");
  EXPECT_EQ(error_of(file_with(R"({"a":3})", "")), "f: a: expected an object, found 3");
  EXPECT_EQ(error_of(file_with(R"({"a":{}})", "")),
            "f: a.dtype: missing; expected a non-empty string\nf: a.shape: missing; expected a list\nf: "
            "a.data_offsets: missing; expected a list");
}

}  // namespace
}  // namespace whet
