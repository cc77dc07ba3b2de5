// Describes, measures or serves one network; run with --help.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "bench/models/catalog.h"
#include "bench/networks/binary_file.h"
#include "bench/networks/describe.h"
#include "bench/networks/fronts.h"
#include "bench/networks/measure.h"
#include "bench/networks/network_run.h"
#include "bench/networks/process.h"
#include "bench/networks/serve.h"
#include "bench/networks/steps.h"
#include "bench/networks/trace_cost.h"
#include "bench/operators/cases.h"
#include "bench/timing/core_to_core.h"

namespace tim::bench {
namespace {

constexpr char kCoreToCore[] = "core_to_core";
constexpr char kExecuteCost[] = "execute_cost";

struct Arguments {
  std::string network;
  uint32_t size = kImageSize;
  ElementType type = ElementType::kFloat32;
  int threads = 0;
  std::string file;
  int turns = 31;
  MeasureOptions measure;
};

void PrintLine(const nlohmann::json& json) {
  std::printf("%s\n", json.dump().c_str());
}

// A network of the catalog, or one operator of the program `kernels`.
Result<Network> FindNetwork(const Arguments& arguments) {
  const bool is_float = arguments.type == ElementType::kFloat32;
  for (OperatorCase& operator_case : OperatorCases()) {
    if (is_float && operator_case.name == arguments.network) {
      return std::move(operator_case.network);
    }
  }
  return MakeNetwork(arguments.network, arguments.size, arguments.type);
}

// By name.
std::map<std::string, ElementType> NetworkTypes() {
  std::map<std::string, ElementType> types;
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kInt8, ElementType::kUint8}) {
    types.emplace(NameOf(type), type);
  }
  return types;
}

Status Execute(const std::string& command, const Arguments& arguments) {
  if (command == kCoreToCore) {
    PrintLine({{"core_to_core_ns", CoreToCoreNanoseconds()}});
    return OkStatus();
  }
  if (command == kExecuteCost) {
    TIM_ASSIGN_OR_RETURN(const nlohmann::json figures,
                         MeasureExecuteCost(arguments.turns));
    PrintLine(figures);
    return OkStatus();
  }
  if (command == "load") {
    TIM_ASSIGN_OR_RETURN(const nlohmann::json figures,
                         LoadBinaryFile(arguments.file));
    PrintLine(figures);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const Network network, FindNetwork(arguments));
  if (arguments.threads != 0) {
    TIM_RETURN_IF_ERROR(PinThreads(arguments.threads));
  }
  if (command == "serve") return Serve(network, stdin, stdout);
  if (command == "write") {
    TIM_ASSIGN_OR_RETURN(const nlohmann::json figures,
                         WriteBinaryFile(network, arguments.file));
    PrintLine(figures);
    return OkStatus();
  }
  if (command == "trace") {
    TIM_ASSIGN_OR_RETURN(const nlohmann::json figures,
                         MeasureTraceCost(network, arguments.file));
    PrintLine(figures);
    return OkStatus();
  }
  if (command == "fronts") {
    TIM_ASSIGN_OR_RETURN(const nlohmann::json figures,
                         MeasureFronts(network, arguments.turns));
    PrintLine(figures);
    return OkStatus();
  }
  if (command == "describe") {
    PrintLine(Describe(network));
    return OkStatus();
  }
  if (command == "steps") {
    TIM_ASSIGN_OR_RETURN(const nlohmann::json steps, MeasureSteps(network));
    for (const nlohmann::json& step : steps) PrintLine(step);
    return OkStatus();
  }
  if (command == "plan") {
    TIM_ASSIGN_OR_RETURN(const NetworkRun run, NetworkRun::Create(network));
    std::printf("%s", ir::Dump(run.plan()).c_str());
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const nlohmann::json figures,
                       Measure(network, arguments.measure));
  PrintLine(figures);
  return OkStatus();
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app("One network, through the public API of TIM-CL");
  app.require_subcommand(1);
  tim::bench::Arguments arguments;
  const auto types = tim::bench::NetworkTypes();
  const auto add = [&](const char* name, const char* text) {
    CLI::App* command = app.add_subcommand(name, text);
    command
        ->add_option("network", arguments.network,
                     "its name, or that of an operator")
        ->required();
    command->add_option("--size", arguments.size, "width of images, pixels");
    command->add_option("--type", arguments.type, "float32, int8 or uint8")
        ->transform(CLI::CheckedTransformer(types));
    return command;
  };
  add("describe", "print the network as JSON");
  CLI::App* measure = add("measure", "print times and memory as JSON");
  measure->add_option("--runs", arguments.measure.runs,
                      "at least, each with a new input");
  measure->add_option("--between", arguments.measure.seconds_between,
                      "seconds that the caller computes before each run");
  CLI::App* serve = add("serve", "run what comes from standard input");
  CLI::App* steps = add("steps", "print the time of every step as JSON lines");
  CLI::App* plan = add("plan", "print the steps, and the kernels refused");
  CLI::App* write = add("write", "write the network as a binary graph");
  CLI::App* trace = add("trace", "print what a trace costs the runs as JSON");
  CLI::App* fronts =
      add("fronts", "print times through tim::vx and tim::graph as JSON");
  CLI::App* load = app.add_subcommand(
      "load", "print what loading such a file takes as JSON");
  for (CLI::App* command : {write, trace, load}) {
    command->add_option("--file", arguments.file)->required();
  }
  for (CLI::App* command : {measure, serve, steps, plan, trace, fronts}) {
    command->add_option("--threads", arguments.threads,
                        "processors to use; default: all");
  }
  app.add_subcommand(tim::bench::kCoreToCore, "print that latency as JSON");
  CLI::App* cost = app.add_subcommand(
      tim::bench::kExecuteCost,
      "print what an execute of tim::graph costs beyond its run as JSON");
  for (CLI::App* command : {fronts, cost}) {
    command->add_option("--turns", arguments.turns, "of both, one each")
        ->check(CLI::PositiveNumber);
  }
  CLI11_PARSE(app, argc, argv);
  const tim::Status status =
      Execute(app.get_subcommands()[0]->get_name(), arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
