#include "tests/support/data/binary_reference.h"

#include <cmath>

namespace tim::testing {
namespace {

// Element of `x` that meets index i of `shape`, by coordinates.
int64_t SourceOf(int64_t i, const ir::Shape& shape, const ir::Shape& x) {
  int64_t source = 0;
  int64_t stride = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t coordinate = i % shape[axis];
    i /= shape[axis];
    if (x[axis] > 1) source += coordinate * stride;
    stride *= x[axis];
  }
  return source;
}

}  // namespace

Result<TestNode> MakeBinary(const std::string& op, const ir::TensorDesc& a,
                            const ir::TensorDesc& b, ir::TensorDesc y,
                            const ir::AttributeMap& attributes) {
  y.shape = ir::Shape();
  return MakeNode(op, attributes, {a, b}, {y});
}

std::vector<int64_t> Shrink(std::vector<int64_t> shape, std::mt19937& rng) {
  for (int64_t& extent : shape) {
    if (rng() % 3 == 0) extent = 1;
  }
  while (shape.size() > 1 && shape.back() == 1 && rng() % 2 == 0) {
    shape.pop_back();
  }
  return shape;
}

std::vector<double> BinaryReference(
    const TestNode& node, const std::vector<TensorData>& inputs,
    const std::function<double(double, double)>& formula) {
  const std::vector<double> a = RealValues(inputs[0]);
  const std::vector<double> b = RealValues(inputs[1]);
  const ir::TensorDesc& y = node.output();
  double code_0 = NAN;
  if (!ir::IsFloat(y.type)) {
    code_0 = y.quantized() ? -static_cast<double>(y.quantization.ZeroPoint()) *
                                 y.quantization.Scale()
                           : 0;
  }
  std::vector<double> out(*y.shape.NumElements());
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    out[i] = formula(a[SourceOf(i, y.shape, inputs[0].desc.shape)],
                     b[SourceOf(i, y.shape, inputs[1].desc.shape)]);
    if (std::isnan(out[i])) out[i] = code_0;
  }
  return out;
}

}  // namespace tim::testing
