// Properties of infer_shapes.
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

std::vector<ir::Shape> ShapesOf(const NodeCase& node) {
  std::vector<ir::Shape> shapes;
  for (const auto& input : node.inputs) {
    shapes.push_back(input ? input->shape : ir::Shape());
  }
  return shapes;
}

// The shape with its rank, or some of its extents, forgotten.
ir::Shape Forget(const ir::Shape& shape, CaseRng& rng) {
  std::mt19937& engine = rng.engine();
  switch (engine() % 3) {
    case 0:
      return shape;
    case 1:
      return ir::Shape();
    default:
      ir::Shape out = shape;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (engine() % 2 == 0) out.set_dim(axis, ir::kUnknownDim);
      }
      return out;
  }
}

// Whether `known` may turn out to be `full`.
bool Admits(const ir::Shape& known, const ir::Shape& full) {
  if (!known.ranked()) return true;
  if (known.rank() != full.rank()) return false;
  for (int axis = 0; axis < known.rank(); ++axis) {
    const int64_t bound = known.Bound(axis);
    if (known[axis] != ir::kUnknownDim && known[axis] != full[axis]) {
      return false;
    }
    if (bound != ir::kUnknownDim && bound < full[axis]) return false;
  }
  return true;
}

}  // namespace

Status ShapesAgree(const Described& described, const NodeCase& node, CaseRng&) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ir::TensorDesc& stated = node.outputs[i];
    const ir::TensorDesc& inferred = made.output(static_cast<int>(i));
    if (inferred.shape != stated.shape || inferred.type != stated.type ||
        inferred.quantization != stated.quantization) {
      return InvalidArgument("infer_shapes: output ", i, " is ",
                             inferred.ToString(), ", expected ",
                             stated.ToString());
    }
  }
  return OkStatus();
}

Status UnknownShapesAgree(const Described& described, const NodeCase& node,
                          CaseRng& rng) {
  const std::vector<ir::Shape> full = ShapesOf(node);
  for (int repeat = 0; repeat < 8; ++repeat) {
    std::vector<ir::Shape> shapes;
    std::string dump;
    for (const ir::Shape& shape : full) {
      shapes.push_back(Forget(shape, rng));
      dump += StrCat(" ", shapes.back().ToString());
    }
    const auto inferred = Infer(node, shapes, described.registry);
    if (!inferred.ok()) {
      return inferred.status().WithContext(StrCat("infer_shapes of", dump));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (Admits((*inferred)[i].shape, node.outputs[i].shape)) continue;
      return InvalidArgument("infer_shapes of", dump, ": output ", i, " is ",
                             (*inferred)[i].shape.ToString(),
                             ", which does not admit ",
                             node.outputs[i].shape.ToString());
    }
  }
  return OkStatus();
}

}  // namespace tim::testing
