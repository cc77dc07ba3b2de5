// Names and writes the files of a Compile.
#include "vx/dump/graph_dump.h"

#include <algorithm>

#include "base/log.h"
#include "base/write_file.h"
#include "ir/dump/file_names.h"
#include "ir/dump/graph_dot.h"
#include "ir/dump/graph_json.h"
#include "ir/dump/memory_svg.h"
#include "ir/dump/partition_text.h"

namespace tim::vx {

Result<std::shared_ptr<GraphDump>> GraphDump::Create(const DumpOptions& options,
                                                     const std::string& graph) {
  std::shared_ptr<GraphDump> dump(new GraphDump(options, graph));
  TIM_RETURN_IF_ERROR(dump->TakeNumber().WithContext(
      StrCat("graph ", graph, " cannot be dumped")));
  return dump;
}

// Creating the file takes the number, whoever else writes to the folder.
Status GraphDump::TakeNumber() {
  TIM_RETURN_IF_ERROR(CreateFolder(options_.directory));
  for (int number = 1;; ++number) {
    prefix_ = StrCat(options_.directory, "/", number, "_");
    const std::string path = prefix_ + "graph.txt";
    TIM_ASSIGN_OR_RETURN(const bool created, CreateFile(path));
    if (!created) continue;
    return WriteFile(path, {"graph ", graph_, ": Compile() has failed\n"});
  }
}

void GraphDump::Observe(const std::shared_ptr<GraphDump>& dump,
                        compiler::CompileOptions* options) {
  options->dump_sink = [dump](const std::string& pass, const ir::Graph& graph) {
    dump->AfterPass(pass, graph);
  };
}

void GraphDump::Keep(const Status& status) {
  if (status.ok() || !status_.ok()) return;
  status_ = status.WithContext(
      StrCat("graph ", graph_, " is not dumped any further"));
  TIM_LOG(kError, status_.message());
}

void GraphDump::Write(const std::string& name, const std::string& text) {
  if (status_.ok()) Keep(WriteFile(prefix_ + name, {text}));
}

// Passes keep their number where the graph is compiled once more.
void GraphDump::AfterPass(const std::string& pass, const ir::Graph& graph) {
  if (!status_.ok()) return;
  auto known = std::find(passes_.begin(), passes_.end(), pass);
  if (known == passes_.end()) known = passes_.insert(known, pass);
  const auto number = known - passes_.begin() + 1;
  const std::string name =
      StrCat(number < 10 ? "0" : "", number, "_", ir::FileNameOf(pass));
  Write(name + ".dot", ir::DotOf(graph));
  Write(name + ".json", ir::JsonOf(graph));
}

void GraphDump::AddGraph(const ir::Graph& graph) {
  Write("graph.txt", graph.Dump());
}

void GraphDump::AddPlan(const ir::Plan& plan) {
  Write("plan.txt", ir::Dump(plan));
  Write("memory.svg", ir::MemorySvg(plan));
  Write("partition.json", ir::PartitionJson(plan) + "\n");
  Write("partition.dot", ir::PartitionDot(plan));
  if (!filter_.MatchesAnyOf(plan)) {
    TIM_LOG(kWarning, "graph ", graph_, ": '", options_.filter,
            "' matches no tensor and no operation, so that no tensor is "
            "dumped; those that there are after fusion are in ",
            prefix_, "plan.txt and the .json files beside it");
  }
}

std::unique_ptr<RunDump> GraphDump::BeginRun(const ir::Plan& plan) {
  if (runs_ >= options_.runs || !status_.ok()) return nullptr;
  const std::string folder = StrCat(prefix_, "run", ++runs_);
  const Status made = CreateFolder(folder);
  Keep(made);
  if (!made.ok()) return nullptr;
  return std::make_unique<RunDump>(folder, plan, filter_);
}

void GraphDump::EndRun(RunDump& run) { Keep(run.Finish()); }

}  // namespace tim::vx
