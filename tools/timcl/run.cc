// `timcl run`: runs a graph and measures what users wait for.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/memory_count.h"
#include "base/options.h"
#include "tools/timcl/classes.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/compile_times.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/model_file.h"
#include "tools/timcl/record.h"
#include "tools/timcl/tensor_data.h"
#include "tools/timcl/terminal.h"
#include "vx/core/given_name.h"
#include "vx/core/user_programs.h"
#include "vx/lite/loaded_graph.h"

namespace tim::tool {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

struct Figures {
  std::string device;
  double ready_ms = 0;  // from the open file until it can run
  Status stored_plan;   // ok: it was used
  int built = 0;        // programs, from source
  int found = 0;        // in the cache folder
  double first_ms = 0;
  std::vector<double> run_ms;  // ascending
  std::optional<CompileTimes> compile;
  int64_t library_bytes = 0;
  int64_t process_bytes = 0;           // at most, until now
  Json record;                         // null: the file has none
  std::unique_ptr<Repeated> repeated;  // null: nothing was compared
  ModelFormat format = ModelFormat::kNone;
  std::vector<FoundClasses> classes;
};

// The time that this share of the runs does not exceed.
double Percentile(const std::vector<double>& ascending, double share) {
  const double rank = std::ceil(share * static_cast<double>(ascending.size()));
  return ascending[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

int64_t PeakOfProcess() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

int64_t ConstantBytes(const ir::Plan& plan) {
  int64_t bytes = 0;
  for (const ir::ConstantBlock& block : plan.constants) bytes += block.bytes;
  return bytes;
}

// A binary graph that is ready, with memory for its runs.
struct Ready {
  Tensors inputs;
  Tensors outputs;
  std::unique_ptr<lite::LoadedGraph> graph;
};

Result<std::unique_ptr<lite::LoadedGraph>> Load(const binary::Blob& blob,
                                                device::Devices devices,
                                                const Arguments& arguments,
                                                Figures* figures) {
  figures->device = devices.back()->info().name;
  const auto programs = vx::UserPrograms();
  const auto stored =
      arguments.run.anew ? lite::Stored::kIgnored : lite::Stored::kUsed;
  ShowProgress("making the graph ready");
  const auto start = Clock::now();
  auto graph =
      lite::LoadedGraph::Create(blob, std::move(devices), programs, stored);
  if (!graph.ok()) return AsFailed(graph.status());
  figures->ready_ms = MillisecondsSince(start);
  figures->stored_plan = (*graph)->stored_plan();
  figures->built = programs->builds();
  figures->found = programs->disk_hits();
  return graph;
}

// `record` is null where there is nothing to compare the first run with.
Status Measure(const RunArguments& arguments, const binary::Record* record,
               Ready* ready, Figures* figures) {
  const auto inputs = ready->inputs.ForRun();
  const auto outputs = ready->outputs.ForRun();
  const auto run = [&](double* ms) {
    const auto start = Clock::now();
    const Status status = ready->graph->Run(inputs, outputs);
    *ms = MillisecondsSince(start);
    return status;
  };
  TIM_RETURN_IF_ERROR(run(&figures->first_ms));
  if (record != nullptr) {
    figures->repeated = Repeat(*record, ready->graph->blob(), ready->outputs);
  }
  double unmeasured = 0;
  for (int i = 0; i < arguments.warm_up; ++i) {
    TIM_RETURN_IF_ERROR(run(&unmeasured));
  }
  ShowProgress("running");
  for (int i = 0; i < arguments.runs; ++i) {
    TIM_RETURN_IF_ERROR(run(&figures->run_ms.emplace_back()));
  }
  std::sort(figures->run_ms.begin(), figures->run_ms.end());
  figures->library_bytes = CountedMemory();
  figures->process_bytes = PeakOfProcess();
  return OkStatus();
}

Json JsonOf(const Tensors& tensors) {
  Json list = Json::array();
  for (size_t i = 0; i < tensors.ports.size(); ++i) {
    const ir::TensorDesc& desc = tensors.ports[i]->desc;
    const Statistics statistics = StatisticsOf(desc, tensors.memory[i].get());
    list.push_back({{"name", vx::GivenIn(tensors.ports[i]->name)},
                    {"type", ir::ToString(desc.type)},
                    {"shape", desc.shape.dims()},
                    {"least", statistics.least},
                    {"greatest", statistics.greatest},
                    {"nan", statistics.nans}});
  }
  return list;
}

Json JsonOf(const std::vector<FoundClasses>& all) {
  Json list = Json::array();
  for (const FoundClasses& found : all) {
    Json classes = Json::array();
    for (const FoundClass& one : found.classes) {
      classes.push_back(
          {{"index", one.index}, {"label", one.label}, {"value", one.value}});
    }
    list.push_back({{"output", found.output}, {"classes", classes}});
  }
  return list;
}

std::string TextOf(const FoundClasses& found) {
  std::vector<std::vector<std::string>> rows;
  for (const FoundClass& one : found.classes) {
    rows.push_back({StrCat("  ", one.index), Fixed(one.value, 4), one.label});
  }
  return StrCat("greatest of '", found.output, "'\n", Columns(rows));
}

Json JsonOf(const Figures& figures, const Ready& ready,
            const std::vector<std::string>& files) {
  const binary::Blob& blob = ready.graph->blob();
  const ir::Plan& plan = ready.graph->compiled().plan();
  Json json = {{"graph", blob.graph_name},
               {"library", blob.library},
               {"device", figures.device},
               {"model", ToString(figures.format)},
               {"plan_of_file", figures.stored_plan.ok()}};
  if (!figures.stored_plan.ok()) {
    json["compiled_because"] = figures.stored_plan.message();
  }
  json["ready_ms"] = figures.ready_ms;
  json["programs_built"] = figures.built;
  json["programs_from_cache"] = figures.found;
  if (figures.compile) {
    json["compile_cold_ms"] = figures.compile->cold_ms;
    json["compile_cached_ms"] = figures.compile->cached_ms;
  }
  json["first_run_ms"] = figures.first_ms;
  json["runs"] = figures.run_ms.size();
  if (!figures.run_ms.empty()) {
    json["p50_ms"] = Percentile(figures.run_ms, 0.5);
    json["p90_ms"] = Percentile(figures.run_ms, 0.9);
    json["p99_ms"] = Percentile(figures.run_ms, 0.99);
    json["least_ms"] = figures.run_ms.front();
    json["mean_ms"] = Mean(figures.run_ms);
  }
  json["arena_bytes"] = plan.memory.peak;
  json["constant_bytes"] = ConstantBytes(plan);
  json["library_bytes"] = figures.library_bytes;
  json["process_peak_bytes"] = figures.process_bytes;
  json["inputs"] = JsonOf(ready.inputs);
  json["outputs"] = JsonOf(ready.outputs);
  if (!figures.classes.empty()) json["classes"] = JsonOf(figures.classes);
  if (!figures.record.is_null()) json["record"] = figures.record;
  if (figures.repeated != nullptr) {
    json["repeated"] = RepeatedJson(*figures.repeated);
  }
  if (!files.empty()) json["files"] = files;
  return json;
}

std::string LineOf(const char* what, size_t index, const binary::Port& port,
                   const std::byte* memory) {
  const Statistics statistics = StatisticsOf(port.desc, memory);
  std::string text = StrCat(what, " ", index, "  '", vx::GivenIn(port.name),
                            "' ", port.desc.ToString(), ", from ",
                            static_cast<float>(statistics.least), " to ",
                            static_cast<float>(statistics.greatest));
  if (statistics.nans > 0) text += StrCat(", ", statistics.nans, " times NaN");
  return text + "\n";
}

std::string TextOf(const Figures& figures, const Ready& ready,
                   const std::vector<std::string>& files) {
  const binary::Blob& blob = ready.graph->blob();
  const ir::Plan& plan = ready.graph->compiled().plan();
  std::string text =
      figures.format == ModelFormat::kNone
          ? StrCat("graph     '", blob.graph_name, "', written by version ",
                   blob.library, "\n")
          : StrCat("graph     '", blob.graph_name, "', a model of ",
                   ToString(figures.format), "\n");
  text += StrCat("device    ", figures.device, "\n");
  if (figures.stored_plan.ok()) {
    text += "plan      the file's\n";
  } else if (figures.format == ModelFormat::kNone) {
    text += StrCat("plan      compiled here: ", figures.stored_plan.message(),
                   "\n");
  }
  text += StrCat("ready     ", Milliseconds(figures.ready_ms),
                 "; programs: ", figures.built, " built, ", figures.found,
                 " from the cache folder\n");
  if (figures.compile) {
    text += StrCat("compile   ", Milliseconds(figures.compile->cold_ms),
                   " cold, ", Milliseconds(figures.compile->cached_ms),
                   " with programs built before\n");
  }
  text += StrCat("first run ", Milliseconds(figures.first_ms), "\n");
  if (!figures.run_ms.empty()) {
    text += StrCat("runs      ", figures.run_ms.size(), ": p50 ",
                   Milliseconds(Percentile(figures.run_ms, 0.5)), ", p90 ",
                   Milliseconds(Percentile(figures.run_ms, 0.9)), ", p99 ",
                   Milliseconds(Percentile(figures.run_ms, 0.99)), ", least ",
                   Milliseconds(figures.run_ms.front()), ", mean ",
                   Milliseconds(Mean(figures.run_ms)), "\n");
  }
  text += StrCat("memory    arenas ", Bytes(plan.memory.peak), ", constants ",
                 Bytes(ConstantBytes(plan)), "; library ",
                 Bytes(figures.library_bytes), ", process at most ",
                 Bytes(figures.process_bytes), "\n");
  for (const auto& [what, tensors] :
       {std::pair("input  ", &ready.inputs), {"output ", &ready.outputs}}) {
    for (size_t i = 0; i < tensors->ports.size(); ++i) {
      text += LineOf(what, i, *tensors->ports[i], tensors->memory[i].get());
    }
  }
  for (const FoundClasses& found : figures.classes) text += TextOf(found);
  if (figures.repeated != nullptr) text += RepeatedText(*figures.repeated);
  for (const std::string& file : files)
    text += StrCat("written   ", file, "\n");
  return text;
}

// At once: the run may end the process, as it did there.
Status Show(const binary::Record& record, const device::Devices& devices,
            const Arguments& arguments, Figures* figures) {
  if (arguments.json) {
    figures->record = RecordJson(record, devices);
    return OkStatus();
  }
  Print(RecordText(record, devices));
  return WithStdout(kDone).status();
}

}  // namespace

Result<ExitCode> RunGraph(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const auto labels, LabelsFor(arguments.run));
  TIM_ASSIGN_OR_RETURN(const binary::Blob blob,
                       OpenGraphFile(arguments.file, arguments.model));
  Ready ready;
  TIM_ASSIGN_OR_RETURN(ready.inputs, MakeTensors(blob.inputs));
  TIM_ASSIGN_OR_RETURN(ready.outputs, MakeTensors(blob.outputs));
  TIM_ASSIGN_OR_RETURN(const auto record, RecordIn(blob));
  TIM_RETURN_IF_ERROR(FillInputs(
      arguments.run, InputsOf(record, blob, arguments.run), &ready.inputs));
  TIM_ASSIGN_OR_RETURN(auto devices,
                       DevicesFor(arguments.device, GetOptions().on_device));
  Figures figures;
  figures.format = FormatOf(arguments.file);
  if (record) TIM_RETURN_IF_ERROR(Show(*record, devices, arguments, &figures));
  TIM_ASSIGN_OR_RETURN(ready.graph,
                       Load(blob, std::move(devices), arguments, &figures));
  const bool repeats = record && CanRepeat(*record, blob, arguments.run);
  const Status measured =
      Measure(arguments.run, repeats ? &*record : nullptr, &ready, &figures);
  if (!measured.ok()) return AsFailed(measured);
  TIM_ASSIGN_OR_RETURN(figures.classes,
                       FindClasses(ready.outputs, arguments.run.top, labels));
  std::vector<std::string> files;
  if (!arguments.run.outputs.empty()) {
    TIM_ASSIGN_OR_RETURN(files,
                         WriteTensors(ready.outputs, arguments.run.outputs));
  }
  if (arguments.run.compile_times) {
    TIM_ASSIGN_OR_RETURN(figures.compile, MeasureCompile(arguments));
  }
  if (arguments.json) {
    PrintJson(JsonOf(figures, ready, files));
  } else {
    Print(TextOf(figures, ready, files));
  }
  const bool differs = figures.repeated != nullptr &&
                       figures.repeated->comparison.FirstDifferent() != nullptr;
  return differs ? kDiffers : kDone;
}

}  // namespace tim::tool
