// Graphs of a model, its own and those of attributes, in the order in which
// their nodes run.
#ifndef TIM_MODELS_ONNX_SUBGRAPHS_H_
#define TIM_MODELS_ONNX_SUBGRAPHS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "models/onnx/messages.h"

namespace tim::models::onnx {

/// Graphs that are attributes of nodes, each read once.
class Subgraphs {
 public:
  /// The graph in `attribute`, which is of kind kGraph.
  Result<const GraphMessage*> Read(const AttributeMessage& attribute);

 private:
  std::map<const char*, std::unique_ptr<const GraphMessage>> graphs_;
};

/// Nodes of one graph or function, to be ordered.
struct NodeList {
  const std::vector<NodeMessage>* nodes = nullptr;
  /// Names that are known before the nodes run: inputs and initialisers.
  std::set<std::string_view> given;
  /// Names whose values are asked for.
  std::vector<std::string_view> outputs;
  /// Whether a graph around this one has the name; null: there is none.
  std::function<bool(std::string_view)> is_known_outside;
};

/// Numbers of the nodes that the outputs need, each behind those that it reads.
/// Fails where a name is defined twice or nowhere, or a node needs itself.
Result<std::vector<size_t>> OrderNodes(const NodeList& list,
                                       Subgraphs* subgraphs);

/// "'conv1'", or "#12" for the node with number 12 that has no name.
std::string LabelOf(const NodeMessage& node, size_t number);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_SUBGRAPHS_H_
