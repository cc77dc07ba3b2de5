// Single operators beside the machine's limits, as JSON; run with --help.
#include <cstdio>
#include <string>

#include "bench/operators/measure_operators.h"
#include "bench/operators/report.h"
#include "bench/timing/json_file.h"
#include "bench/timing/program.h"

namespace tim::bench {
namespace {

Status Execute(const ProgramOptions& options, const std::string& clblast_path,
               const std::string& part) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json clblast, ReadJson(clblast_path));
  const auto asked = [&](const std::string& name) {
    return name.find(part) != std::string::npos;
  };
  TIM_ASSIGN_OR_RETURN(const std::vector<OperatorResult> results,
                       MeasureOperators(options.effort, asked));
  const nlohmann::json list = ToJson(results, clblast);
  std::printf("%s\n", list.dump(2).c_str());
  return WriteJson(list, options.json_path);
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app("Single operators of TIM-CL beside the machine's limits");
  std::string clblast_path;
  app.add_option("--clblast", clblast_path,
                 "what the program clblast wrote, to show beside ours");
  std::string part;
  app.add_option("--only", part, "operators with this in their name");
  return tim::bench::RunProgram(
      app, argc, argv, [&](const tim::bench::ProgramOptions& options) {
        return tim::bench::Execute(options, clblast_path, part);
      });
}
