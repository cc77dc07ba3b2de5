// The program timcl: parses its command line and calls the subcommand.
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/timcl/command_line.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/pages.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

using Command = Result<ExitCode> (*)(const Arguments& arguments);

Command FindCommand(const std::string& name) {
  static const std::map<std::string, Command> commands = {
      {"devices", ShowDevices},
      {"compare", CompareLayers},
      {"run", RunGraph},
      {"explain", ExplainNodes},
      {"check", CheckLibrary},
      {"memory", ShowMemory},
      {"solve-memory", SolveMemory},
      {"report", WriteReport},
      {"compile", CompileModel},
      {"import", ImportModelFile},
      {"cache show", ShowCache},
      {"cache clear", ClearCache},
      {"graph-run", RunGraphFile},
      {"plugin-check", CheckPlugin}};
  const auto found = commands.find(name);
  return found == commands.end() ? nullptr : found->second;
}

ExitCode CodeOf(StatusCode code) {
  if (code == StatusCode::kInvalidArgument) return kUsage;
  return code == StatusCode::kNotFound ? kNoFile : kFailed;
}

ExitCode Report(const std::string& command, const Status& status) {
  ClearProgress();
  std::fprintf(stderr, "timcl %s: %s\n", command.c_str(),
               status.message().c_str());
  return CodeOf(status.code());
}

ExitCode Execute(const CLI::App& app, const Arguments& arguments) {
  const std::string name = CommandOf(app);
  if (name == "pages man") {
    Print(ManPage(app));
    return kDone;
  }
  if (name == "pages bash") {
    Print(BashCompletion(app));
    return kDone;
  }
  try {
    Result<ExitCode> code = FindCommand(name)(arguments);
    if (code.ok()) code = WithStdout(*code);
    return code.ok() ? *code : Report(name, code.status());
  } catch (const std::exception& error) {
    return Report(name, OutOfMemory("it cannot go on: ", error.what()));
  }
}

// CLI11 names no word that it takes for a subcommand.
int RefuseCommandLine(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> words = app.remaining(true);
  if (std::string_view(error.what()) == "A subcommand is required" &&
      !words.empty()) {
    std::fprintf(stderr,
                 "timcl: there is no command '%s'\nRun with --help for more "
                 "information.\n",
                 words.front().c_str());
    return kUsage;
  }
  return app.exit(error) == 0 ? kDone : kUsage;
}

}  // namespace
}  // namespace tim::tool

int main(int argc, char** argv) {
  tim::tool::Arguments arguments;
  const auto app = tim::tool::MakeCommandLine(&arguments);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tim::tool::RefuseCommandLine(*app, error);
  }
  return tim::tool::Execute(*app, arguments);
}
