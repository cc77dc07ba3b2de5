// Files of graphs and partitions, for people who look inside.
#ifndef TIM_GRAPH_API_DUMP_H_
#define TIM_GRAPH_API_DUMP_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/compile.h"
#include "graph_api/op.h"
#include "graph_api/partition.h"

namespace tim::graph {

/// Bits of tim_graph_dump_mode_t: SetDumpMode()'s, else TIMCL_GRAPH_DUMP's.
unsigned DumpModes();
/// kInvalidArgument for bits that are none.
Status SetDumpMode(unsigned modes);

/// graph-<id>.json and graph-<id>-partitioning.json in `folder`; `id` is the
/// process's next.
Status DumpPartitioning(const std::string& folder, const std::vector<Op>& ops,
                        const GraphTraits& traits,
                        const Partitions& partitions);

/// graph-<partition id>-<hash>.json in `folder`, with ports as they are
/// compiled; other ports have another hash.
Status DumpCompiled(const std::string& folder, const CompileSource& source,
                    const std::vector<LogicalTensor>& inputs,
                    const std::vector<LogicalTensor>& outputs);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_DUMP_H_
