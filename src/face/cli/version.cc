// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.h"

namespace whet {
namespace {

constexpr const char* kWhetVersion = "0.1.0";  // CMakeLists.txt says the same; tests/cli checks it

class Version : public Command {
 public:
  void declare(Arguments&) override {}
  Expected<int> run(Context&, const Arguments&) override {
    print(fmt::format("whet {}\n", kWhetVersion));
    return kGoalMet;
  }
};

}  // namespace

const CommandRow kVersion{"Other", "version", "the version of this program", "", [] { return std::unique_ptr<Command>(new Version); }};

}  // namespace whet
