// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/file.h"
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/json_output.h"
#include "face/cli/outcome.h"
#include "face/cli/run_folder.h"
#include "face/cli/tool_request.h"
#include "record/profile.h"
#include "report/profile_text.h"
#include "wire/blobs.h"

namespace whet {
namespace {

class ProfileCommand : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(request_.task, "TASK", "a task's folder, or the name of a shipped task");
    arguments.position(request_.solution, "SOLUTION", "a Solution's folder, or the name of one of the task's");
    arguments.text(workload_, "--workload NAME", "the workload whose call is profiled (required)");
    arguments.text(keep_, "--keep DIR", "where the profiler's own report is kept (default: a new folder in profiles/ of the data folder)");
    request_.declare(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(request_.json));
    if (workload_.empty()) return bad_input("profile: --workload is missing: one call is profiled, of one workload; 'whet task show {}' lists them", request_.task);
    WHET_TRY(const Json answer, request_.ask(context, "profile", workload_, ""));
    std::vector<std::string> complaints;
    JsonReader in(answer, "the worker's answer", "", complaints);
    const Json& seen = in.object("profile");
    const std::string report = in.string("report"), raw = in.string("raw");
    if (!complaints.empty()) return machine_failed("{}", complaints.front());
    WHET_TRY(const Profile profile, profile_from_json(seen, "the worker's profile"));
    WHET_TRY(const std::string kept, keep(context, profile, report, raw));
    if (!output.to_stdout()) {
      print(profile_text(profile, style_of(context, false)));
      print(fmt::format("\nThe whole report: {0}/call.ncu-rep (ncu --import, or Nsight Compute); every counter: {0}/raw.csv\n", kept));
    }
    Json json = to_json(profile);
    json["kept"] = kept;
    WHET_OK(output.write(json.dump(2)));
    return kGoalMet;
  }

 private:
  Expected<std::string> keep(const Context& context, const Profile& profile, const std::string& report, const std::string& raw) const {
    namespace fs = std::filesystem;
    fs::path folder = keep_;
    if (keep_.empty()) {
      WHET_TRY(const std::string data, request_.places.data_folder(context));
      folder = fs::path(data) / "profiles" / new_run_name(profile.task + "-" + profile.workload);
    }
    WHET_OK(make_folders(folder));
    WHET_TRY(const std::string report_bytes, from_base64(report));
    WHET_TRY(const std::string raw_text, from_base64(raw));
    WHET_OK(write_file_atomically(folder / "call.ncu-rep", report_bytes));
    WHET_OK(write_file_atomically(folder / "raw.csv", raw_text));
    WHET_OK(write_file_atomically(folder / "profile.json", to_json(profile).dump(2) + "\n"));
    return folder.string();
  }

  ToolRequest request_;
  std::string workload_, keep_;
};

}  // namespace

const CommandRow kProfile{
    "Other", "profile", "why is a CUDA Solution slow: counters, roofline position, bottleneck label",
    "The worker runs one call of the Solution under ncu (Nsight Compute), outside of the jail, and keeps the report. Every kernel of the call gets the counters that\n"
    "matter, its distance from the machine's ceilings, and a label such as dram_bound or tail_wave with the counters behind it; 'unknown' is a label too.\n"
    "Profiled times are not the times by which whet judges: each kernel runs alone, some 40 times, with flushed caches.\n\n"
    "Examples:\n"
    "  whet profile attention-hopper ./mine --workload NAME\n"
    "  whet profile attention-hopper ./mine --workload NAME --keep before --json before.json\n\n"
    "Exit codes: 0 done; 2 bad input; 3 the machine failed: there is no ncu, no GPU, or no permission to read its counters.\n",
    [] { return std::unique_ptr<Command>(new ProfileCommand); }};

}  // namespace whet
