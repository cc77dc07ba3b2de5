#include "tests/properties/permuted_case.h"

#include <algorithm>

namespace tim::testing {
namespace {

// Of as many axes as the tensor and the permutation have.
ir::Permutation Whole(ir::Permutation p, const ir::Shape& shape) {
  for (auto axis = static_cast<int>(p.size()); axis < shape.rank(); ++axis) {
    p.push_back(axis);
  }
  return p;
}

std::vector<int64_t> Extended(const ir::Shape& shape, size_t rank) {
  std::vector<int64_t> dims = shape.dims();
  dims.resize(rank, 1);
  return dims;
}

ir::TensorDesc PermutedDesc(const ir::TensorDesc& desc,
                            const ir::Permutation& p) {
  const ir::Permutation whole = Whole(p, desc.shape);
  const std::vector<int64_t> dims = Extended(desc.shape, whole.size());
  ir::TensorDesc out = desc;
  std::vector<int64_t> moved;
  for (size_t i = 0; i < whole.size(); ++i) {
    moved.push_back(dims[whole[i]]);
    if (desc.quantization.per_channel() && whole[i] == desc.quantization.axis) {
      out.quantization.axis = static_cast<int>(i);
    }
  }
  out.shape = ir::Shape(moved);
  return out;
}

// Element of a tensor of `dims` that stands at index i of the permuted one.
int64_t SourceOf(int64_t i, const std::vector<int64_t>& dims,
                 const ir::Permutation& p) {
  const std::vector<int64_t> strides = ir::DenseStrides(ir::Shape(dims));
  int64_t source = 0;
  for (const int axis : p) {
    source += i % dims[axis] * strides[axis];
    i /= dims[axis];
  }
  return source;
}

}  // namespace

TensorData PermutedData(const TensorData& tensor, const ir::Permutation& p) {
  TensorData out{PermutedDesc(tensor.desc, p), tensor.bytes};
  const ir::Permutation whole = Whole(p, tensor.desc.shape);
  const std::vector<int64_t> dims = Extended(tensor.desc.shape, whole.size());
  const int64_t size = ir::Info(tensor.desc.type).bits / 8;
  const auto count = static_cast<int64_t>(tensor.bytes.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(tensor.bytes.data() + SourceOf(i, dims, whole) * size, size,
                out.bytes.data() + i * size);
  }
  return out;
}

NodeCase PermutedCase(const NodeCase& node, const ir::PermutedNode& answer) {
  NodeCase out = node;
  out.attributes = answer.attributes;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    out.inputs[i] = PermutedDesc(*node.inputs[i], answer.inputs[i]);
    for (auto* all : {&out.constants, &out.data}) {
      const auto at = all->find(static_cast<int>(i));
      if (at == all->end()) continue;
      at->second = PermutedData(at->second, answer.inputs[i]);
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    out.outputs[i] = PermutedDesc(node.outputs[i], answer.outputs[i]);
  }
  return out;
}

std::vector<TensorData> PermutedInputs(const NodeCase& node,
                                       const std::vector<TensorData>& inputs,
                                       const ir::PermutedNode& answer) {
  std::vector<TensorData> out;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.constants.contains(static_cast<int>(i))) {
      continue;
    }
    out.push_back(PermutedData(inputs[out.size()], answer.inputs[i]));
  }
  return out;
}

}  // namespace tim::testing
