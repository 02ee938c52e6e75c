// SPDX-License-Identifier: Apache-2.0
// Runs the real program in a folder and a home of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"

namespace whet {

class WhetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::make("whet-cli");
    ASSERT_TRUE(made) << made.error().what;
    folder_ = std::move(*made);
  }

  // `whet WORDS` in folder(), with an environment of its own.
  ProcessSpec spec_of(const std::vector<std::string>& words) {
    ProcessSpec spec;
    spec.argv = {std::string(WHET_BINARY_DIR) + "/bin/whet"};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.environment = {{"HOME", folder().string()}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    if (const char* core = std::getenv("OPENBLAS_CORETYPE")) (*spec.environment)["OPENBLAS_CORETYPE"] = core;
    for (const auto& [name, value] : variables_) (*spec.environment)[name] = value;
    spec.working_directory = folder();
    return spec;
  }

  // What it printed and how it ended.
  ProcessResult whet(const std::vector<std::string>& words, int seconds = 60) {
    ProcessSpec spec = spec_of(words);
    spec.deadline = std::chrono::seconds(seconds);
    auto result = run_process(spec);
    EXPECT_TRUE(result) << result.error().what;
    return result ? *result : ProcessResult{};
  }

  // The two halves that every refusal has: its exit code and its exact text.
  void expect_refusal(const std::vector<std::string>& words, int exit_code, const std::string& text) {
    const ProcessResult result = whet(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    EXPECT_EQ(result.err, text);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder() / path).parent_path());
    std::ofstream(folder() / path) << text;
  }
  std::string read(const std::string& path) {
    std::ifstream in(folder() / path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::map<std::string, std::string> variables_;  // that whet has besides

 private:
  TemporaryDirectory folder_;
};

}  // namespace whet
