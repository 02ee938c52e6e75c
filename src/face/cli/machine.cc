// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/json_output.h"
#include "face/cli/session.h"

namespace whet {
namespace {

// An object as lines "key  value", what is nested below it further in.
std::string facts_text(const Json& json, int indent) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    const std::string name = json.is_array() ? "-" : key;
    const std::string left = std::string(static_cast<std::size_t>(indent), ' ') + name;
    const bool flat = !value.is_structured() || (value.is_array() && (value.empty() || !value.front().is_structured()));
    if (!flat) {
      text += left + "\n" + facts_text(value, indent + 2);
      continue;
    }
    std::string shown = value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (value.is_array()) {
      shown.clear();
      for (const Json& item : value) shown += (shown.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : item.dump());
    }
    text += fmt::format("{:<28} {}\n", left, shown);
  }
  return text;
}

class Machine : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.text(json_, "--json FILE", "the facts as JSON, whole or not at all; - is standard output");
    places_.declare_worker(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(json_));
    WHET_TRY(const WorkerOptions options, places_.worker_options(context));
    WHET_TRY(const auto worker, open_worker(options));
    WHET_TRY(const Json facts, worker->call("machine", Json::object()));
    if (!output.to_stdout()) print(facts_text(facts, 0));
    WHET_OK(output.write(facts.dump(2)));
    return kGoalMet;
  }

 private:
  std::string json_;
  Places places_;
};

}  // namespace

const CommandRow kMachine{"Other", "machine", "what the worker knows of the machine on which it judges",
                          "CPU, caches, clocks, compilers, libraries, and which walls of the jail this machine allows. A wall that is down makes a judgement\n"
                          "weaker, not impossible; it is named in every Evaluation. The first thing to try with a worker on another machine.\n\n"
                          "Examples:\n"
                          "  whet machine\n"
                          "  whet machine --worker ssh://me@bighost\n",
                          [] { return std::unique_ptr<Command>(new Machine); }};

}  // namespace whet
