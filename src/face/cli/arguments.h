// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"

namespace whet {

// What one command takes from the command line. A command declares each argument once: where its value goes, how it is written, and the
// line that --help shows. The variables must outlive parse(); they hold the defaults.
class Arguments {
 public:
  // `whole` is the command as it is typed: "whet task check".
  explicit Arguments(std::string whole) : whole_(std::move(whole)) {}

  // In the order of their positions; optional ones last. `name` in capitals: "TASK".
  void position(std::string& value, std::string name, std::string help);
  void optional_position(std::string& value, std::string name, std::string help);

  // `flag` with the placeholder of its value: "--set NAME".
  void text(std::string& value, std::string flag, std::string help);
  void texts(std::vector<std::string>& values, std::string flag, std::string help);  // may be repeated
  void number(double& value, std::string flag, std::string help, double low, double high);
  void integer(int& value, std::string flag, std::string help, int low, int high = std::numeric_limits<int>::max());
  void flag(bool& value, std::string flag, std::string help);

  // Fills the variables. Errors name the argument, what was expected and what was found, and suggest the nearest option.
  Status parse(const std::vector<std::string>& words);
  bool given(const std::string& flag) const;  // "--set"; after parse()

  // "Usage: ..." and the lines of the arguments.
  std::string usage() const;
  std::string table() const;

 private:
  struct Row {
    std::string name;         // "TASK" or "--set"
    std::string placeholder;  // "NAME"; empty for a flag without a value
    std::string help;
    bool positional = false, required = false, repeats = false;
    std::function<Status(const std::string&)> take;
    int count = 0;
  };
  void option(const std::string& flag, std::string help, bool repeats, std::function<Status(const std::string&)> take);
  const Row* find(const std::string& name) const;

  std::string whole_;
  std::vector<Row> rows_;
};

}  // namespace whet
