// permute_rule commutes with eval.
#include <algorithm>

#include "ir/op_schema.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

using Perm = std::vector<int>;

// New axis i is old axis perm[i].
ir::TensorDesc Permuted(const ir::TensorDesc& desc, const Perm& perm) {
  ir::TensorDesc out = desc;
  for (int axis = 0; axis < desc.shape.rank(); ++axis) {
    out.shape.set_dim(axis, desc.shape[perm[axis]]);
    if (desc.quantization.per_channel() &&
        perm[axis] == desc.quantization.axis) {
      out.quantization.axis = axis;
    }
  }
  return out;
}

// Element of `shape` that stands at index i of the permuted tensor.
int64_t SourceOf(int64_t i, const ir::Shape& shape, const Perm& perm) {
  const std::vector<int64_t> strides = ir::DenseStrides(shape);
  int64_t source = 0;
  for (const int axis : perm) {
    source += i % shape[axis] * strides[axis];
    i /= shape[axis];
  }
  return source;
}

// Whole bytes per element.
TensorData Permuted(const TensorData& tensor, const Perm& perm) {
  TensorData out{Permuted(tensor.desc, perm), tensor.bytes};
  const int64_t size = ir::Info(tensor.desc.type).bits / 8;
  const auto count = static_cast<int64_t>(tensor.bytes.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(
        tensor.bytes.data() + SourceOf(i, tensor.desc.shape, perm) * size, size,
        out.bytes.data() + i * size);
  }
  return out;
}

// What the rule answers: the node's attributes and, for each operand, how its
// axes move (of another rank: not at all).
struct Answer {
  ir::AttributeMap attributes;
  std::vector<Perm> inputs;
  std::vector<Perm> outputs;
};

Perm Identity(int rank) {
  Perm out;
  for (int axis = 0; axis < rank; ++axis) out.push_back(axis);
  return out;
}

Perm PermFor(const ir::TensorDesc& desc, const Perm& perm) {
  const int rank = desc.shape.rank();
  return rank == static_cast<int>(perm.size()) ? perm : Identity(rank);
}

Result<Answer> Ask(const NodeCase& node, const CaseView& view,
                   const Perm& perm) {
  Answer out;
  TIM_ASSIGN_OR_RETURN(out.attributes,
                       view.schema().permute_rule(view.view(), perm));
  for (const auto& input : node.inputs) {
    out.inputs.push_back(input ? PermFor(*input, perm) : Perm());
  }
  for (const ir::TensorDesc& output : node.outputs) {
    out.outputs.push_back(PermFor(output, perm));
  }
  return out;
}

// The node that the answer describes, with its data.
NodeCase PermutedCase(const NodeCase& node, const Answer& answer) {
  NodeCase out = node;
  out.attributes = answer.attributes;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    out.inputs[i] = Permuted(*node.inputs[i], answer.inputs[i]);
    for (auto* all : {&out.constants, &out.data}) {
      const auto at = all->find(static_cast<int>(i));
      if (at == all->end()) continue;
      at->second = Permuted(at->second, answer.inputs[i]);
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    out.outputs[i] = Permuted(node.outputs[i], answer.outputs[i]);
  }
  return out;
}

std::vector<TensorData> PermutedInputs(const NodeCase& node,
                                       const std::vector<TensorData>& inputs,
                                       const Answer& answer) {
  std::vector<TensorData> out;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.constants.contains(static_cast<int>(i))) {
      continue;
    }
    out.push_back(Permuted(inputs[out.size()], answer.inputs[i]));
  }
  return out;
}

bool IsOfWholeBytes(const NodeCase& node) {
  const auto whole = [](const ir::TensorDesc& desc) {
    return ir::Info(desc.type).bits >= 8;
  };
  for (const auto& input : node.inputs) {
    if (input && !whole(*input)) return false;
  }
  return std::all_of(node.outputs.begin(), node.outputs.end(), whole);
}

// Operands of one rank: the rule has nothing to refuse.
bool IsOfOneRank(const NodeCase& node, int rank) {
  for (const auto& input : node.inputs) {
    if (input && input->shape.rank() != rank) return false;
  }
  return true;
}

}  // namespace

Status PermutedNodeAgrees(const Described& described, const NodeCase& node,
                          CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const CaseView view,
                       CaseView::Create(node, described.registry));
  const bool required = described.cases.permute_rule == PermuteRule::kRequired;
  if (!view.schema().permute_rule) {
    return required ? InvalidArgument("the schema has no permute_rule")
                    : OkStatus();
  }
  const int rank = node.outputs[0].shape.rank();
  const Perm perm = rng.Permutation(rank);
  const Result<Answer> answer = Ask(node, view, perm);
  if (!answer.ok()) {
    if (required && IsOfOneRank(node, rank)) return answer.status();
    return OkStatus();
  }
  if (!IsOfWholeBytes(node)) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const TestNode plain,
                       MakeNode(node, described.registry));
  const NodeCase permuted_case = PermutedCase(node, *answer);
  TIM_RETURN_IF_ERROR(ShapesAgree(described, permuted_case, rng)
                          .WithContext("the permuted node"));
  TIM_ASSIGN_OR_RETURN(const TestNode permuted,
                       MakeNode(permuted_case, described.registry));
  const auto inputs = CaseInputs(node, rng.engine());
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(plain, inputs));
  TIM_ASSIGN_OR_RETURN(const auto actual,
                       Eval(permuted, PermutedInputs(node, inputs, *answer)));
  for (size_t i = 0; i < expected.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        CompareTensors(Permuted(expected[i], answer->outputs[i]), actual[i],
                       described.cases.tolerance)
            .WithContext(
                StrCat("permuted by [", StrJoin(perm, ", "), "]: output ", i)));
  }
  return OkStatus();
}

}  // namespace tim::testing
