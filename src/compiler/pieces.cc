#include "compiler/pieces.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/index_limit.h"

namespace tim::compiler {
namespace {

using ir::KernelNode;
using ir::TensorDesc;

int64_t Elements(const TensorDesc& desc) {
  return desc.shape.NumElements().value_or(0);
}

int64_t Bytes(const TensorDesc& desc) {
  return Elements(desc) * (ir::Info(desc.type).bits / 8);
}

bool IsLarge(const KernelNode& view, int64_t most) {
  const auto is_large = [&](const TensorDesc& desc) {
    return Elements(desc) > most;
  };
  return std::any_of(view.inputs.begin(), view.inputs.end(), is_large) ||
         std::any_of(view.outputs.begin(), view.outputs.end(), is_large);
}

// The outermost axis that has more than one index; -1: there is none.
int OutermostAxis(const ir::Shape& shape) {
  int axis = shape.rank() - 1;
  while (axis >= 0 && shape[axis] == 1) --axis;
  return axis;
}

// Whether its indices along the axis are equal pieces, one behind the other.
bool IsSliceable(const TensorDesc& desc, int axis, int64_t extent) {
  return OutermostAxis(desc.shape) == axis && desc.shape[axis] == extent &&
         ir::Info(desc.type).bits % 8 == 0 &&
         !(desc.quantized() && desc.quantization.per_channel());
}

// How a node is cut along one axis.
struct Cut {
  int axis = 0;
  std::vector<bool> inputs;  // which are cut; all outputs are
  int64_t extent = 0;
  int64_t rows = 0;  // indices of a piece

  std::vector<const TensorDesc*> CutOperands(const KernelNode& view) const {
    std::vector<const TensorDesc*> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]) operands.push_back(&view.inputs[i]);
    }
    for (const TensorDesc& output : view.outputs) operands.push_back(&output);
    return operands;
  }
};

std::vector<bool> SlicedInputs(const KernelNode& view, int axis) {
  const ir::OpSchema& schema = *view.anchor->schema;
  if (!schema.sliced_inputs) return {};
  std::vector<const TensorDesc*> inputs;
  std::vector<const TensorDesc*> outputs;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    inputs.push_back(view.present[i] ? &view.inputs[i] : nullptr);
  }
  for (const TensorDesc& output : view.outputs) outputs.push_back(&output);
  return schema.sliced_inputs({*view.anchor, inputs, outputs}, axis);
}

// Indices of a piece: as many as the limit allows, so that parts are aligned;
// 0: there are none.
int64_t RowsOf(const KernelNode& view, const Cut& cut, int64_t most,
               int64_t alignment) {
  int64_t rows = cut.extent;
  int64_t step = 1;
  for (const TensorDesc* operand : cut.CutOperands(view)) {
    rows = std::min(rows, most / (Elements(*operand) / cut.extent));
    const int64_t bytes = Bytes(*operand) / cut.extent;
    step = std::lcm(step, alignment / std::gcd(bytes, alignment));
  }
  // Of an index that is too large alone its own pieces are made.
  return rows == 0 && step == 1 ? 1 : rows / step * step;
}

std::optional<Cut> CutOf(const KernelNode& view, int64_t most,
                         int64_t alignment) {
  if (view.node->composite || view.outputs.empty()) return std::nullopt;
  Cut cut;
  cut.axis = OutermostAxis(view.outputs[0].shape);
  if (cut.axis < 0) return std::nullopt;
  cut.extent = view.outputs[0].shape[cut.axis];
  if (cut.extent < 2) return std::nullopt;
  cut.inputs = SlicedInputs(view, cut.axis);
  if (cut.inputs.size() != view.inputs.size()) return std::nullopt;
  for (const TensorDesc* operand : cut.CutOperands(view)) {
    if (!IsSliceable(*operand, cut.axis, cut.extent)) return std::nullopt;
  }
  // What is packed is made of whole constants.
  for (size_t i = 0; i < cut.inputs.size(); ++i) {
    if (cut.inputs[i] ? view.constants[i] != nullptr
                      : Elements(view.inputs[i]) > most) {
      return std::nullopt;
    }
  }
  cut.rows = RowsOf(view, cut, most, alignment);
  if (cut.rows < 1 || cut.rows >= cut.extent) return std::nullopt;
  return cut;
}

// Makes the operand its part of `rows` indices; where the part begins.
int64_t TakePart(const Cut& cut, int64_t first, int64_t rows,
                 TensorDesc* operand) {
  const int64_t row_bytes = Bytes(*operand) / cut.extent;
  operand->shape.set_dim(cut.axis, rows);
  return first * row_bytes;
}

NodePiece PieceOf(const KernelNode& view, const Cut& cut, int64_t first) {
  const int64_t rows = std::min(cut.rows, cut.extent - first);
  NodePiece piece{.view = view, .inputs = {}, .outputs = {}};
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    piece.inputs.push_back(
        cut.inputs[i] ? TakePart(cut, first, rows, &piece.view.inputs[i]) : -1);
  }
  for (TensorDesc& output : piece.view.outputs) {
    piece.outputs.push_back(TakePart(cut, first, rows, &output));
  }
  piece.view.anchor_output = piece.view.outputs[0];
  return piece;
}

// Where parts of a part begin in the whole.
void Shift(const std::vector<int64_t>& begin, std::vector<int64_t>* parts) {
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0) continue;
    (*parts)[i] = begin[i] + std::max<int64_t>((*parts)[i], 0);
  }
}

bool LieAlike(const NodePiece& piece, const ir::InPlacePair& pair) {
  return piece.inputs[pair.input] == piece.outputs[pair.output];
}

void Append(const NodePiece& piece, ir::Lowering part, ir::Lowering* all) {
  using Kind = ir::LoweredOperand::Kind;
  const int first_step = static_cast<int>(all->steps.size());
  const int first_scratch = static_cast<int>(all->scratch.size());
  const int first_packed = static_cast<int>(all->packed.size());
  for (ir::LoweredStep& step : part.steps) {
    for (ir::LoweredOperand& operand : step.operands) {
      const int i = operand.index;
      if (operand.kind == Kind::kScratch) operand.index += first_scratch;
      if (operand.kind == Kind::kPacked) operand.index += first_packed;
      if (operand.kind == Kind::kInput && piece.inputs[i] >= 0) {
        operand.offset = piece.inputs[i];
        operand.bytes = Bytes(piece.view.inputs[i]);
      }
      if (operand.kind == Kind::kOutput) {
        operand.offset = piece.outputs[i];
        operand.bytes = Bytes(piece.view.outputs[i]);
      }
    }
    all->steps.push_back(std::move(step));
  }
  for (ir::ScratchSpec& scratch : part.scratch) {
    scratch.first += first_step;
    scratch.last += first_step;
    all->scratch.push_back(scratch);
  }
  std::move(part.packed.begin(), part.packed.end(),
            std::back_inserter(all->packed));
  // What holds for every piece.
  if (first_step == 0) all->in_place = part.in_place;
  std::erase_if(all->in_place, [&](const ir::InPlacePair& pair) {
    return !LieAlike(piece, pair) ||
           std::count(part.in_place.begin(), part.in_place.end(), pair) == 0;
  });
}

}  // namespace

std::vector<NodePiece> CutToPieces(const KernelNode& view, int64_t most,
                                   int64_t alignment) {
  std::vector<NodePiece> pieces;
  if (!IsLarge(view, most)) return pieces;
  const auto cut = CutOf(view, most, alignment);
  if (!cut) return pieces;
  for (int64_t first = 0; first < cut->extent; first += cut->rows) {
    const NodePiece piece = PieceOf(view, *cut, first);
    if (!IsLarge(piece.view, most)) {
      pieces.push_back(piece);
      continue;
    }
    std::vector<NodePiece> smaller = CutToPieces(piece.view, most, alignment);
    if (smaller.empty()) return {};
    for (NodePiece& part : smaller) {
      Shift(piece.inputs, &part.inputs);
      Shift(piece.outputs, &part.outputs);
      pieces.push_back(std::move(part));
    }
  }
  return pieces;
}

bool AreInReach(const std::vector<NodePiece>& pieces) {
  const auto reaches = [](const std::vector<TensorDesc>& descs,
                          const std::vector<int64_t>& begin) {
    for (size_t i = 0; i < begin.size(); ++i) {
      if (begin[i] <= 0) continue;
      const int64_t first = begin[i] / (ir::Info(descs[i].type).bits / 8);
      if (!ir::IndicesFit(first, Elements(descs[i]))) return false;
    }
    return true;
  };
  return std::all_of(pieces.begin(), pieces.end(), [&](const NodePiece& piece) {
    return reaches(piece.view.inputs, piece.inputs) &&
           reaches(piece.view.outputs, piece.outputs);
  });
}

Result<ir::Lowering> LowerPieces(const ir::KernelDef& kernel,
                                 const std::vector<NodePiece>& pieces,
                                 const ir::DeviceInfo& device) {
  ir::Lowering all;
  for (const NodePiece& piece : pieces) {
    TIM_ASSIGN_OR_RETURN(const ir::KernelProblem problem,
                         ir::Analyze(kernel, piece.view, device));
    TIM_ASSIGN_OR_RETURN(ir::Lowering part,
                         kernel.lower(problem, piece.view, device));
    if (part.applied != static_cast<int>(piece.view.epilogue.size())) {
      return TIM_INTERNAL("a piece applies ", part.applied, " of ",
                          piece.view.epilogue.size(), " fused operators");
    }
    all.applied = part.applied;
    Append(piece, std::move(part), &all);
  }
  return all;
}

}  // namespace tim::compiler
