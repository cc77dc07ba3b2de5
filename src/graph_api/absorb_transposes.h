// Transposes at the ports of a partition, which become the order in which its
// plan sees the ports' memory.
#ifndef TIM_GRAPH_API_ABSORB_TRANSPOSES_H_
#define TIM_GRAPH_API_ABSORB_TRANSPOSES_H_

#include <vector>

#include "compiler/compiler.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/permutation.h"
#include "ir/tensor_desc.h"

namespace tim::graph {

/// Moves Transposes, where the compiler can, to where few bytes pass, and takes
/// out those that are left at inputs and outputs in the host's memory: their
/// ports have strides then, in the order of the operators' axes.  Returns, by
/// output, what a Transpose did behind the one that leaves now: axis i of the
/// client's tensor is axis [i] of it; empty where there was none.
/// \param graph with its inputs and outputs, which have `options`' ports.
std::vector<ir::Permutation> AbsorbTransposes(
    const ir::OpRegistry& registry, ir::Graph* graph,
    compiler::CompileOptions* options);

/// The layout of a plan's output for the client, whose axes `perm` gives.
ir::TensorDesc InAxesOfClient(const ir::TensorDesc& made,
                              const ir::Permutation& perm);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_ABSORB_TRANSPOSES_H_
