// Single operators beside the machine's limits; run with --help.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "bench/operators/measure_operators.h"
#include "bench/operators/report.h"
#include "bench/timing/json_file.h"

namespace tim::bench {
namespace {

struct Arguments {
  std::string json_path;
  std::string clblast_path;
  Effort effort = Effort::kFull;
};

Status Execute(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json clblast,
                       ReadJson(arguments.clblast_path));
  TIM_ASSIGN_OR_RETURN(const std::vector<OperatorResult> results,
                       MeasureOperators(arguments.effort));
  const nlohmann::json list = ToJson(results, clblast);
  std::fputs(ToTable(list).c_str(), stdout);
  return WriteJson(list, arguments.json_path);
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app("Single operators of TIM-CL beside the machine's limits");
  tim::bench::Arguments arguments;
  app.add_option("--json", arguments.json_path, "also write a list of results");
  app.add_option("--clblast", arguments.clblast_path,
                 "what the program clblast wrote, to show beside ours");
  bool quick = false;
  app.add_flag("--quick", quick, "once, to see that everything runs");
  CLI11_PARSE(app, argc, argv);
  if (quick) arguments.effort = tim::bench::Effort::kQuick;
  const tim::Status status = tim::bench::Execute(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
