// `timcl report`: a page that shows a graph, its times and its memory.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/write_file.h"
#include "runtime/profile.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/compiled_file.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/record.h"
#include "tools/timcl/report_data.h"
#include "tools/timcl/report_page.h"
#include "tools/timcl/tensor_data.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

namespace fs = std::filesystem;

Status CheckOut(const Arguments& arguments) {
  const std::string& out = arguments.report.out;
  if (out.empty()) {
    if (arguments.json) return OkStatus();
    return InvalidArgument(
        "it is not said where the page shall be; give --out FILE, or --json "
        "for its data");
  }
  std::error_code error;
  if (fs::equivalent(out, arguments.file, error)) {
    return InvalidArgument(
        "--out ", out, " is the file of the graph itself; name another one");
  }
  return OkStatus();
}

// Memory of a run.
struct Memory {
  Tensors inputs;
  Tensors outputs;
};

Result<double> MedianOfRuns(int runs, const Memory& memory,
                            runtime::CompiledGraph& graph) {
  using Clock = std::chrono::steady_clock;
  const auto inputs = memory.inputs.ForRun();
  const auto outputs = memory.outputs.ForRun();
  TIM_RETURN_IF_ERROR(graph.Run(inputs, outputs));
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    TIM_RETURN_IF_ERROR(graph.Run(inputs, outputs));
    times.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Sees nothing.
class Blind final : public runtime::RunObserver {
 public:
  Status AfterStep(const runtime::ObservedStep&) override { return OkStatus(); }
};

Result<runtime::RunProfile> ProfileOfRuns(int runs, const Memory& memory,
                                          runtime::CompiledGraph& graph) {
  const auto inputs = memory.inputs.ForRun();
  const auto outputs = memory.outputs.ForRun();
  Blind warm_up;
  TIM_RETURN_IF_ERROR(graph.RunObserved(inputs, outputs, warm_up));
  runtime::Profiler profiler(graph.executable());
  for (int i = 0; i < runs; ++i) {
    TIM_RETURN_IF_ERROR(graph.RunObserved(inputs, outputs, profiler));
  }
  return profiler.profile();
}

Result<Json> DataOf(const binary::Blob& blob, const Arguments& arguments,
                    const Memory& memory) {
  TIM_ASSIGN_OR_RETURN(const auto devices,
                       DevicesFor(arguments.device, GetOptions().on_device));
  ShowProgress("compiling");
  TIM_ASSIGN_OR_RETURN(const runtime::Division division,
                       DivisionFor(arguments.device, devices));
  TIM_ASSIGN_OR_RETURN(const CompiledFile file,
                       CompileFile(blob, devices, division));
  const int runs = arguments.report.runs;
  ShowProgress("running");
  TIM_ASSIGN_OR_RETURN(const double run_us,
                       MedianOfRuns(runs, memory, *file.compiled));
  ShowProgress("running step by step");
  TIM_ASSIGN_OR_RETURN(const runtime::RunProfile profile,
                       ProfileOfRuns(runs, memory, *file.compiled));
  return ReportData({.file = fs::path(arguments.file).filename().string(),
                     .file_library = blob.library,
                     .graph = file.graph,
                     .plan = file.compiled->plan(),
                     .profile = profile,
                     .run_us = run_us});
}

Status WritePage(const std::string& path, const Json& data) {
  const Status written = WriteFile(path, {ReportPage(data)});
  return written.ok() ? written : NotFound(written.message());
}

std::string TextOf(const Json& data, const std::string& out) {
  return StrCat("graph     '", data["graph"].get<std::string>(),
                "': ", data["nodes"].size(), " nodes, ",
                data["operations"].size(), " operations as run\n", "run       ",
                Milliseconds(data["time"]["run_us"].get<double>() / 1e3), ", ",
                Milliseconds(data["time"]["stepwise_us"].get<double>() / 1e3),
                " step by step\n", "written   ", out,
                ", to be opened in a browser\n");
}

}  // namespace

Result<ExitCode> WriteReport(const Arguments& arguments) {
  TIM_RETURN_IF_ERROR(CheckOut(arguments));
  TIM_ASSIGN_OR_RETURN(const binary::Blob blob,
                       OpenGraphFile(arguments.file, arguments.model));
  Memory memory;
  TIM_ASSIGN_OR_RETURN(memory.inputs, MakeTensors(blob.inputs));
  TIM_ASSIGN_OR_RETURN(memory.outputs, MakeTensors(blob.outputs));
  TIM_ASSIGN_OR_RETURN(const auto record, RecordIn(blob));
  TIM_RETURN_IF_ERROR(FillInputs(
      arguments.run, InputsOf(record, blob, arguments.run), &memory.inputs));
  const Result<Json> data = DataOf(blob, arguments, memory);
  if (!data.ok()) {
    const bool user = data.status().code() == StatusCode::kInvalidArgument;
    return user ? AsFailed(data.status()) : data.status();
  }
  const std::string& out = arguments.report.out;
  if (!out.empty()) TIM_RETURN_IF_ERROR(WritePage(out, *data));
  if (arguments.json) {
    PrintJson(*data);
  } else {
    Print(TextOf(*data, out));
  }
  return kDone;
}

}  // namespace tim::tool
