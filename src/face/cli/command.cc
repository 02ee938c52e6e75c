// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.h"

#include <algorithm>
#include <set>

#include "face/cli/suggest.h"
#include "report/table.h"

namespace whet {
namespace {

const char* const kExitCodes =
    "Exit codes: 0 done, or the goal is met; 1 judged and short of the goal; 2 bad input; 3 the machine failed; 130 interrupted.\n";

// Running text in paragraphs of a readable width; indented lines, as examples are, stay as they are.
std::string set_paragraphs(std::string_view text) {
  constexpr std::size_t kWidth = 100;
  std::string result, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) result += wrapped(paragraph, kWidth, 0);
    paragraph.clear();
  };
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == ' ') {
      end_paragraph();
      result += std::string(line) + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
  }
  end_paragraph();
  return result;
}

std::string overview() {
  std::string text =
      "whet makes a kernel faster and proves it: it judges a Solution of a Task against the best\n"
      "implementations there are, sharpens it, and keeps every measurement so that it can be made again.\n\n"
      "Usage: whet COMMAND [arguments]        whet COMMAND --help\n";
  std::string group;
  for (const CommandRow* row : all_commands()) {
    if (group != row->group) text += fmt::format("\n{}\n", group = row->group);
    text += fmt::format("  {:<15}{}\n", row->name, row->summary);
  }
  text +=
      "\nFirst steps:\n"
      "  whet demo                                            everything in one go, in about five minutes\n"
      "  whet evaluate rmsnorm-cpu start                      judge a shipped Solution\n"
      "  whet optimize attention-cpu --agent tuner --minutes 2\n\n"
      "TASK is a folder with a task.toml, or the name of a shipped task (whet task list).\n";
  return text + set_paragraphs(kExitCodes);
}

std::string help_of(const CommandRow& row, const Arguments& arguments) {
  return std::string(row.summary) + "\n\n" + arguments.usage() + "\n" + arguments.table() + "\n" + set_paragraphs(row.details);
}

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

// The row that the first one or two words name; takes these words away.
Expected<const CommandRow*> find_command(std::vector<std::string>& words) {
  std::set<std::string> firsts;
  std::vector<std::string> seconds;
  for (const CommandRow* row : all_commands()) {
    const std::string name = row->name;
    const auto space = name.find(' ');
    if (space == std::string::npos) {
      if (words[0] == name) {
        words.erase(words.begin());
        return row;
      }
    } else if (words[0] == name.substr(0, space)) {
      if (words.size() > 1 && words[1] == name.substr(space + 1)) {
        words.erase(words.begin(), words.begin() + 2);
        return row;
      }
      seconds.push_back(name.substr(space + 1));
    }
    firsts.insert(name.substr(0, space));
  }
  if (!seconds.empty()) {
    if (words.size() < 2) return bad_input("'whet {}' needs one more word: {}", words[0], listed(seconds));
    return bad_input("'whet {}' has no command '{}'{}; it has {}", words[0], words[1], did_you_mean(words[1], seconds), listed(seconds));
  }
  return bad_input("there is no command '{}'{}; 'whet --help' lists them", words[0], did_you_mean(words[0], {firsts.begin(), firsts.end()}));
}

// `whet task --help`: the commands of a group. Empty when there is no such group.
std::string help_of_group(const std::string& word) {
  std::string text;
  for (const CommandRow* row : all_commands())
    if (std::string(row->name).starts_with(word + " ")) text += fmt::format("  whet {:<15}{}\n", row->name, row->summary);
  return text.empty() ? "" : text + "\n'whet " + word + " COMMAND --help' says more.\n";
}

Expected<int> dispatch(std::vector<std::string> words, Context& context) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  if (words.empty() || asks_for_help(words[0])) {
    print(overview());
    return kGoalMet;
  }
  if (words[0] == "--version") words[0] = "version";
  if (words.size() == 2 && asks_for_help(words[1])) {
    if (const std::string text = help_of_group(words[0]); !text.empty()) {
      print(text);
      return kGoalMet;
    }
  }
  WHET_TRY(const CommandRow* row, find_command(words));
  const std::unique_ptr<Command> command = row->make();
  Arguments arguments(std::string("whet ") + row->name);
  command->declare(arguments);
  if (std::any_of(words.begin(), words.end(), asks_for_help)) {
    print(help_of(*row, arguments));
    return kGoalMet;
  }
  if (const Status parsed = arguments.parse(words); !parsed)
    return bad_input("{}: {}\n      'whet {} --help' shows what it takes", row->name, parsed.error().what, row->name);
  return command->run(context, arguments);
}

}  // namespace

std::vector<const CommandRow*> all_commands() {
  return {&kTaskList, &kTaskShow, &kTaskCheck,  &kTaskNew,    &kTaskImport,   &kHeader,      &kEvaluate, &kCompare, &kRecheck,
          &kOptimize, &kResume,   &kDemo,       &kLedgerList, &kLedgerShow,   &kLedgerExport, &kLedgerCheck, &kProfile, &kDisassemble, &kSanitize, &kMachine, &kVersion};
}

int run_command_line(const std::vector<std::string>& words, Context& context) {
  Expected<int> code = dispatch(words, context);
  if (!code) complain(code.error().what);
  int result = code ? *code : exit_code_of(code.error());
  if (const Status written = finish_output(); !written) {
    complain(written.error().what);
    if (result == kGoalMet || result == kShortOfGoal) result = kMachineFailed;
  }
  return result;
}

}  // namespace whet
