#include "bench/timing/program.h"

#include <cstdio>

namespace tim::bench {

int RunProgram(CLI::App& app, int argc, char** argv,
               const std::function<Status(const ProgramOptions&)>& execute) {
  ProgramOptions options;
  app.add_option("--json", options.json_path,
                 "also write the figures to this file");
  bool quick = false;
  app.add_flag("--quick", quick, "once, to see that everything runs");
  CLI11_PARSE(app, argc, argv);
  if (quick) options.effort = Effort::kQuick;
  const Status status = execute(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace tim::bench
