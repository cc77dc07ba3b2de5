// Properties of nodes that are done in pieces.
#include "compiler/pieces.h"

#include <algorithm>
#include <cstring>

#include "ir/op_schema.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

int64_t MostElements(const ir::KernelNode& view) {
  int64_t most = 0;
  for (const auto& descs : {view.inputs, view.outputs}) {
    for (const ir::TensorDesc& desc : descs) {
      most = std::max(most, desc.shape.NumElements().value_or(0));
    }
  }
  return most;
}

// Data of all operands of a node, by their place.
std::vector<const std::byte*> DataOf(const ir::KernelNode& view,
                                     const std::vector<TensorData>& inputs) {
  std::vector<const std::byte*> data;
  size_t next = 0;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (!view.present[i]) {
      data.push_back(nullptr);
    } else if (view.constants[i] != nullptr) {
      data.push_back(view.constants[i]->bytes.data());
    } else {
      data.push_back(inputs[next++].bytes.data());
    }
  }
  return data;
}

// What eval makes of a piece against its part of the whole results.
Status CheckPiece(const compiler::NodePiece& piece,
                  const std::vector<const std::byte*>& data,
                  const std::vector<TensorData>& whole) {
  std::vector<ir::ConstTensor> inputs;
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] == nullptr) {
      inputs.push_back({});
      continue;
    }
    inputs.push_back({&piece.view.inputs[i],
                      data[i] + std::max<int64_t>(piece.inputs[i], 0)});
  }
  std::vector<std::vector<std::byte>> results;
  std::vector<ir::MutableTensor> outputs;
  for (const ir::TensorDesc& desc : piece.view.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    results.emplace_back(static_cast<size_t>(bytes));
    outputs.push_back({&desc, results.back().data()});
  }
  const ir::Node& node = *piece.view.anchor;
  TIM_RETURN_IF_ERROR(node.schema->eval({node, inputs, outputs}));
  for (size_t i = 0; i < results.size(); ++i) {
    if (std::memcmp(results[i].data(), whole[i].bytes.data() + piece.outputs[i],
                    results[i].size()) == 0) {
      continue;
    }
    return InvalidArgument(
        "the piece at byte ", piece.outputs[i], " of output ", i, ", ",
        piece.view.outputs[i].ToString(), ", is not what the whole has there");
  }
  return OkStatus();
}

// One behind the other, without gaps.
Status CheckCover(const std::vector<compiler::NodePiece>& pieces,
                  const std::vector<TensorData>& whole) {
  for (size_t i = 0; i < whole.size(); ++i) {
    int64_t end = 0;
    for (const compiler::NodePiece& piece : pieces) {
      if (piece.outputs[i] != end) {
        return InvalidArgument("a piece of output ", i, " begins at ",
                               piece.outputs[i], ", expected ", end);
      }
      TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                           ir::ByteSize(piece.view.outputs[i]));
      end += bytes;
    }
    if (end != static_cast<int64_t>(whole[i].bytes.size())) {
      return InvalidArgument("the pieces of output ", i, " end at ", end,
                             ", expected ", whole[i].bytes.size());
    }
  }
  return OkStatus();
}

}  // namespace

Status PiecesAgree(const Described& described, const NodeCase& node,
                   CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const ir::KernelNode view =
      ir::MakeKernelNode(made.graph, made.graph.node(made.node));
  for (const int64_t parts : {2, 5}) {
    const auto pieces = compiler::CutToPieces(
        view, std::max<int64_t>(MostElements(view) / parts, 1), 1);
    if (pieces.empty()) continue;
    const std::vector<TensorData> inputs = RandomInputs(made, rng.engine());
    TIM_ASSIGN_OR_RETURN(const auto whole, Eval(made, inputs));
    TIM_RETURN_IF_ERROR(CheckCover(pieces, whole));
    for (const compiler::NodePiece& piece : pieces) {
      TIM_RETURN_IF_ERROR(CheckPiece(piece, DataOf(view, inputs), whole));
    }
  }
  return OkStatus();
}

}  // namespace tim::testing
