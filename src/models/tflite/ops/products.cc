// Fully connected layers and products of matrices.
#include "models/tflite/node.h"
#include "tim/vx/ops/fullyconnected.h"
#include "tim/vx/ops/matmul.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

// The input is rows of as many elements as the weights have columns.
Status FullyConnected(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 3));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::FullyConnected>());
  if (options->weights_format() != fbs::WeightsFormat::DEFAULT) {
    return node.Refuse("weights_format", "number ",
                       static_cast<int>(options->weights_format()),
                       ", shuffled weights; those in rows are taken");
  }
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 2));
  const Value& input = node.inputs[0];
  const int64_t columns = node.inputs[1].dims[1];
  const int64_t made = node.inputs[1].dims[0];
  const int64_t count = input.ElementCount();
  if (columns < 1 || count < 1 || count % columns != 0) {
    return node.Refuse("input 1", Describe(node.inputs[1]), " for ",
                       Describe(input));
  }
  Dims dims = {count / columns, made};
  if (options->keeps_rank()) {
    if (input.rank() == 0 || input.dims.back() != columns) {
      return node.Refuse("keep_num_dims", "rows of ", Describe(input),
                         " are not of ", columns, " elements");
    }
    dims = input.dims;
    dims.back() = made;
  }
  std::vector<Value> operands(2);
  TIM_ASSIGN_OR_RETURN(
      operands[0], node.builder().Reshape(input, {count / columns, columns}));
  TIM_ASSIGN_OR_RETURN(operands[1], node.WeightsFor(input, node.inputs[1]));
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(Value bias, node.WeightsFor(input, node.inputs[2]));
    operands.push_back(std::move(bias));
  }
  TIM_ASSIGN_OR_RETURN(const Value rows,
                       node.builder().Add<ops::FullyConnected>(
                           operands, node.WantedOf(0), uint32_t{0}));
  return node.SetActivated(0, node.builder().Reshape(rows, dims),
                           options->activation());
}

Status BatchMatmul(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 2));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::BatchMatmul>());
  const Value& x = node.inputs[0];
  if (x.rank() < 2 || node.inputs[1].rank() < 2) {
    return node.Refuse("inputs", "their ranks are ", x.rank(), " and ",
                       node.inputs[1].rank());
  }
  TIM_ASSIGN_OR_RETURN(const Value y, node.WeightsFor(x, node.inputs[1]));
  return node.SetOutput(
      0, node.builder().Add<ops::Matmul>({x, y}, node.WantedOf(0),
                                         options->transposes_x(),
                                         options->transposes_y()));
}

}  // namespace

void AddProducts(OperatorTable* table) {
  OperatorTable& to = *table;
  to["FULLY_CONNECTED"] = FullyConnected;
  to["BATCH_MATMUL"] = BatchMatmul;
}

}  // namespace tim::models::tflite
