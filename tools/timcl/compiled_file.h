// A binary graph that is compiled anew, so that its plan has all its notes.
#ifndef TIM_TOOLS_TIMCL_COMPILED_FILE_H_
#define TIM_TOOLS_TIMCL_COMPILED_FILE_H_

#include <memory>

#include "base/status.h"
#include "binary/blob.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "runtime/compiled_graph.h"
#include "runtime/device_set.h"

namespace tim::tool {

struct CompiledFile {
  std::shared_ptr<const ir::OpRegistry> registry;  ///< Operators of `graph`.
  ir::Graph graph;  ///< As it was written, with all types and shapes.
  std::unique_ptr<runtime::CompiledGraph> compiled;
};

/// Compiles a graph of operators of `registry`.  States have their content
/// before the first run.
Result<CompiledFile> CompileGraph(
    ir::Graph graph, std::shared_ptr<const ir::OpRegistry> registry,
    const device::Devices& devices, bool strict,
    const runtime::Division& division = {});
/// The same of the graph of `blob`, whatever plan it has.
Result<CompiledFile> CompileFile(const binary::Blob& blob,
                                 const device::Devices& devices,
                                 const runtime::Division& division = {});

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_COMPILED_FILE_H_
