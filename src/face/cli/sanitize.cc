// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/json_output.h"
#include "face/cli/outcome.h"
#include "face/cli/tool_request.h"
#include "record/sanitizing.h"
#include "report/profile_text.h"

namespace whet {
namespace {

class Sanitize : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(request_.task, "TASK", "a task's folder, or the name of a shipped task");
    arguments.position(request_.solution, "SOLUTION", "a Solution's folder, or the name of one of the task's");
    arguments.text(workload_, "--workload NAME", "the workload whose call is looked at (required)");
    arguments.texts(tools_, "--tool NAME", "memcheck, racecheck, initcheck or synccheck; may be repeated (default: all four)");
    request_.declare(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(request_.json));
    if (workload_.empty()) return bad_input("sanitize: --workload is missing: one call is looked at, of one workload; 'whet task show {}' lists them", request_.task);
    WHET_TRY(const Json answer, request_.ask(context, "sanitize", workload_, "", tools_));
    std::vector<std::string> complaints;
    const Json& seen = JsonReader(answer, "the worker's answer", "", complaints).object("sanitizing");
    if (!complaints.empty()) return machine_failed("{}", complaints.front());
    WHET_TRY(const Sanitizing sanitizing, sanitizing_from_json(seen, "the worker's answer"));
    if (!output.to_stdout()) print(sanitizing_text(sanitizing, style_of(context, false)));
    WHET_OK(output.write(to_json(sanitizing).dump(2)));
    if (sanitizing.clean()) return kGoalMet;
    // A finding is a finding, also where another tool could not run.
    for (const SanitizerReport& report : sanitizing.reports)
      if (report.outcome == SanitizerReport::Outcome::found) return kShortOfGoal;
    return kMachineFailed;
  }

 private:
  ToolRequest request_;
  std::string workload_;
  std::vector<std::string> tools_;
};

}  // namespace

const CommandRow kSanitize{
    "Other", "sanitize", "does a CUDA Solution touch memory that is not its own, race, or read what nobody wrote?",
    "The worker runs one call of the Solution under compute-sanitizer's memcheck, racecheck, initcheck and synccheck, outside of the jail. Each is a gate: it passes\n"
    "only if the tool ran to its end and found nothing. Choose a small workload: a call takes 10 to 100 times as long.\n\n"
    "Examples:\n"
    "  whet sanitize attention-hopper ./mine --workload NAME\n"
    "  whet sanitize attention-hopper ./mine --workload NAME --tool racecheck\n\n"
    "Exit codes: 0 all clean; 1 a finding; 2 bad input; 3 the machine failed: a tool is missing or said nothing about the Solution.\n",
    [] { return std::unique_ptr<Command>(new Sanitize); }};

}  // namespace whet
