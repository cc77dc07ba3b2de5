// What CompileToBinary() writes of a graph that has been compiled.
#ifndef TIM_VX_BINARY_GRAPH_BINARY_H_
#define TIM_VX_BINARY_GRAPH_BINARY_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "binary/program_file.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/plan.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

/// What a Compile() leaves for it.
struct BinarySource {
  ir::Graph graph;  ///< Types and shapes inferred.
  /// Every tensor that is bound, and its value in the graph.
  std::vector<std::pair<std::shared_ptr<TensorImpl>, ir::ValueId>> tensors;
  std::shared_ptr<const ir::OpRegistry> registry;
  /// compiler::InferredGraph has them.
  std::vector<ir::NodeId> declared_reshapes = {};
};

/// What is written of it for the tensors given, in their order.
struct WrittenGraph {
  ir::Graph graph;  ///< With the ids and the ends of BinarySource::graph.
  /// By port; absent where it is unused.
  std::vector<ir::ValueId> input_ids, output_ids;
  std::vector<binary::Port> inputs, outputs;
};
Result<WrittenGraph> WrittenOf(
    const BinarySource& source,
    const std::vector<std::shared_ptr<Tensor>>& inputs,
    const std::vector<std::shared_ptr<Tensor>>& outputs);

/// Content of the states in what is written.
enum class States : uint8_t { kAsTheyAre, kZeros };

/// Makes the ports the ends of `graph`, which is that of `written` or has its
/// ids, and gives its states their content.
Status Complete(const BinarySource& source, const WrittenGraph& written,
                ir::Graph* graph, States states = States::kAsTheyAre);

/// What is written, and the memory that it refers to besides constants.
struct GraphBinary {
  binary::BlobContent content;
  std::shared_ptr<const binary::Programs> programs;
};

/// Its inputs and outputs are the tensors given, in their order.
Result<GraphBinary> BinaryOf(
    const BinarySource& source,
    const std::vector<std::shared_ptr<Tensor>>& inputs,
    const std::vector<std::shared_ptr<Tensor>>& outputs,
    States states = States::kAsTheyAre);

/// What the graph was compiled to, where it is worth its bytes.
void AddStored(const ir::Plan& plan,
               const std::shared_ptr<const binary::Programs>& programs,
               GraphBinary* made);

}  // namespace tim::vx

#endif  // TIM_VX_BINARY_GRAPH_BINARY_H_
