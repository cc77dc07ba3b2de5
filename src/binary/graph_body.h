// Graphs of files in the forms in which they are compiled.
#ifndef TIM_BINARY_GRAPH_BODY_H_
#define TIM_BINARY_GRAPH_BODY_H_

#include <memory>
#include <string>
#include <vector>

#include "ir/constant.h"
#include "ir/graph.h"
#include "ir/tensor_desc.h"

namespace tim::binary {

struct BodyState {
  std::string name;
  ir::TensorDesc desc;
  bool is_scalar = false;
  std::shared_ptr<const ir::ConstantData> content;  ///< Null: unknown.
  bool written = false;
};

/// A graph with states as the body of a composite, which has none: behind the
/// graph's inputs it has the states, behind its outputs the values of those
/// that are written, in the same order.
struct GraphBody {
  ir::Graph graph;
  std::vector<BodyState> states;
};

GraphBody AsBody(const ir::Graph& graph);

/// The same graph without the absent ones of its inputs and outputs.
ir::Graph WithoutAbsent(const ir::Graph& graph);

}  // namespace tim::binary

#endif  // TIM_BINARY_GRAPH_BODY_H_
