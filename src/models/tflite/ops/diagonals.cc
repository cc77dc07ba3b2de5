// Matrices made of their diagonals.
#include <algorithm>

#include "models/tflite/node.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/select.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

// [rows, columns], true where both are equal.
Result<Value> DiagonalMask(Node& node, int64_t rows, int64_t columns) {
  const int64_t count = rows * columns;
  if (rows < 1 || columns < 1 || count > (int64_t{1} << 26)) {
    return node.Refuse("input 0", "matrices of ", rows, " rows and ", columns,
                       " columns");
  }
  TIM_RETURN_IF_ERROR(node.workspace->Spend(count));
  std::vector<uint8_t> mask(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) {
    mask[static_cast<size_t>(i * columns + i)] = 1;
  }
  HostArray array = ArrayOf(mask, {rows, columns});
  array.type = vx::DataType::BOOL8;
  return node.builder().Constant(std::move(array));
}

// Diagonals [..., n] as the one row of matrices [..., 1, n].
Result<Value> AsRows(Node& node, const Value& diagonals) {
  Dims dims = diagonals.dims;
  dims.insert(dims.end() - 1, 1);
  return node.builder().Reshape(diagonals, dims);
}

Status MatrixDiag(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(1, 1));
  const Value& input = node.inputs[0];
  if (input.rank() == 0 || input.quantization.Type() != vx::QuantType::NONE) {
    return node.Refuse("input 0", Describe(input),
                       "; rows of plain numbers are taken");
  }
  const int64_t extent = input.dims.back();
  TIM_ASSIGN_OR_RETURN(const Value mask, DiagonalMask(node, extent, extent));
  TIM_ASSIGN_OR_RETURN(const Value rows, AsRows(node, input));
  TIM_ASSIGN_OR_RETURN(
      const Value zero,
      node.builder().Cast(node.builder().ConstantOf<int32_t>({0}, {1}),
                          input.type));
  Dims dims = input.dims;
  dims.push_back(extent);
  return node.SetOutput(0, node.builder().Add<ops::Select>(
                               {mask, rows, zero}, node.WantedOf(0, dims)));
}

// Inputs: matrices [..., rows, columns], diagonals [..., the smaller one].
Status MatrixSetDiag(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  const Value& input = node.inputs[0];
  Value diagonals = node.inputs[1];
  if (input.rank() < 2) {
    return node.Refuse("input 0", Describe(input), ", no matrices");
  }
  const int64_t rows = input.dims[input.dims.size() - 2];
  const int64_t columns = input.dims.back();
  Dims expected(input.dims.begin(), input.dims.end() - 2);
  expected.push_back(std::min(rows, columns));
  if (diagonals.dims != expected || diagonals.type != input.type ||
      !(diagonals.quantization == input.quantization)) {
    return node.Refuse("input 1", Describe(diagonals), " for ",
                       Describe(input));
  }
  TIM_ASSIGN_OR_RETURN(const Value mask, DiagonalMask(node, rows, columns));
  if (columns > rows) {
    std::vector<uint32_t> front(expected.size(), 0);
    std::vector<uint32_t> back = front;
    back[0] = static_cast<uint32_t>(columns - rows);
    TIM_ASSIGN_OR_RETURN(
        diagonals, node.builder().Add<ops::Pad>(
                       {diagonals}, Wanted::Like(diagonals), front, back, 0));
  }
  TIM_ASSIGN_OR_RETURN(const Value row, AsRows(node, diagonals));
  return node.SetOutput(
      0, node.builder().Add<ops::Select>({mask, row, input},
                                         node.WantedOf(0, input.dims)));
}

}  // namespace

void AddDiagonals(OperatorTable* table) {
  (*table)["MATRIX_DIAG"] = MatrixDiag;
  (*table)["MATRIX_SET_DIAG"] = MatrixSetDiag;
}

}  // namespace tim::models::tflite
