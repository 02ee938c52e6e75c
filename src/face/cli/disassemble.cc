// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/json_output.h"
#include "face/cli/outcome.h"
#include "face/cli/tool_request.h"
#include "record/disassembly.h"
#include "report/profile_text.h"

namespace whet {
namespace {

class Disassemble : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(request_.task, "TASK", "a task's folder, or the name of a shipped task");
    arguments.position(request_.solution, "SOLUTION", "a Solution's folder, or the name of one of the task's");
    arguments.text(against_, "--against SOLUTION", "another Solution: what is different in SOLUTION");
    request_.declare(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(request_.json));
    WHET_TRY(const Json answer, request_.ask(context, "disassemble", "", against_));
    std::vector<std::string> complaints;
    const Json& seen = JsonReader(answer, "the worker's answer", "", complaints).object("disassembly");
    if (!complaints.empty()) return machine_failed("{}", complaints.front());
    WHET_TRY(const Disassembly disassembly, disassembly_from_json(seen, "the worker's answer"));
    if (!output.to_stdout()) print(disassembly_text(disassembly, style_of(context, false)));
    WHET_OK(output.write(to_json(disassembly).dump(2)));
    return kGoalMet;
  }

 private:
  ToolRequest request_;
  std::string against_;
};

}  // namespace

const CommandRow kDisassemble{
    "Other", "disassemble", "the machine code of a CUDA Solution: instruction mix, spills, what changed between two",
    "The worker builds the Solution as for a judgement and reads its device code with cuobjdump. For every function: registers, instructions by class, and the lines that\n"
    "read or write local memory. Needs no GPU.\n\n"
    "Examples:\n"
    "  whet disassemble attention-hopper ./mine\n"
    "  whet disassemble attention-hopper ./mine --against start\n\n"
    "Exit codes: 0 done; 2 bad input (it does not compile, or has no device code); 3 the machine failed: there is no cuobjdump.\n",
    [] { return std::unique_ptr<Command>(new Disassemble); }};

}  // namespace whet
