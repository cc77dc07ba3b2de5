// Nodes of constants as constants.
#ifndef TIM_MODELS_ONNX_FOLDER_H_
#define TIM_MODELS_ONNX_FOLDER_H_

#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "models/onnx/node.h"
#include "tim/vx/context.h"

namespace tim::models::onnx {

/// Evaluates nodes when a model is read.
class Folder {
 public:
  explicit Folder(std::shared_ptr<vx::Context> context)
      : context_(std::move(context)) {}

  /// Sets the outputs of `node` where they follow from what is known: exactly
  /// in 64 bits for what computes shapes, else by `function` in a graph on the
  /// host.  False where the node is to be built; its outputs are as before.
  bool Fold(Node* node, NodeFunction function) const;

 private:
  bool FoldByGraph(Node* node, NodeFunction function) const;

  std::shared_ptr<vx::Context> context_;
};

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_FOLDER_H_
