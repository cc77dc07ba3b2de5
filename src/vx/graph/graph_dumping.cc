// Graph::Dump: a Compile and a run that are written down.
#include <utility>

#include "base/guarded.h"
#include "vx/core/failure.h"
#include "vx/dump/graph_dump.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {

// The folder is tried first: a mistake there must not be one of the graph.
Status GraphImpl::DumpRun(const DumpOptions& options) {
  if (options.directory.empty()) {
    return InvalidArgument("graph ", core_->name,
                           " cannot be dumped: the folder's name is empty");
  }
  TIM_RETURN_IF_ERROR(CheckCompilable());
  TIM_RETURN_IF_ERROR(CheckNotEmpty());
  if (IsItsInputs()) {
    return InvalidArgument("graph ", core_->name,
                           " has no operations and no OUTPUT tensor, so that "
                           "there is nothing to dump");
  }
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<GraphDump> dump,
                       GraphDump::Create(options, core_->name));
  core_->dump = dump;
  TIM_RETURN_IF_ERROR(CompileBy([this] { return CompileNow(); }));
  const Status run = compiled_->Run();
  compiled_->EndDump();
  if (!run.ok()) {
    LoseOutputs();
    return run;
  }
  return dump->status();
}

bool GraphImpl::DumpTo(const std::string& directory, const std::string& names) {
  const Status status = GuardedCall([&] {
    return DumpRun({.directory = directory, .filter = names, .runs = 1});
  });
  return status.ok() || FailToCompile(*core_, status);
}

}  // namespace tim::vx
