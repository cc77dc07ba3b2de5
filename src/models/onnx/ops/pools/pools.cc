// MaxPool, AveragePool, LpPool, their global forms and MaxUnpool.
#include <limits>
#include <string>
#include <vector>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/convolutions/convolve.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/pools/greatest_places.h"
#include "models/onnx/ops/pools/pool.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/scatternd_onnx_v16.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

std::vector<std::string> WindowAttributes(std::vector<std::string> more) {
  more.insert(more.end(), {"auto_pad", "ceil_mode", "dilations", "kernel_shape",
                           "pads", "strides"});
  return more;
}

Status MaxPool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, WindowAttributes({"storage_order"})));
  const Value& x = node.inputs[0];
  if (!IsFloat(x.type) && x.type != vx::DataType::INT8 &&
      x.type != vx::DataType::UINT8) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", float types, int8 and uint8 are taken");
  }
  TIM_ASSIGN_OR_RETURN(const Windows windows, PoolWindows(node, x));
  if (!node.Wants(1)) {
    return node.SetOutput(0, GreatestOfWindows(node.builder, x, windows));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t order, node.Int("storage_order", 0));
  if (order != 0 && order != 1) {
    return InvalidArgument("attribute 'storage_order' is ", order,
                           ", expected 0 or 1");
  }
  TIM_ASSIGN_OR_RETURN(
      const GreatestPlaces found,
      FindGreatest(node.builder, x, windows,
                   order == 0 ? IndexOrder::kRows : IndexOrder::kColumns));
  TIM_RETURN_IF_ERROR(node.SetOutput(0, found.values));
  return node.SetOutput(1, found.indices);
}

Status AveragePool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, WindowAttributes({"count_include_pad"})));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_ASSIGN_OR_RETURN(const int64_t padded, node.Int("count_include_pad", 0));
  TIM_ASSIGN_OR_RETURN(const Windows windows,
                       PoolWindows(node, node.inputs[0]));
  return node.SetOutput(
      0, AverageOfWindows(node.builder, node.inputs[0], windows,
                          padded != 0 ? Divisor::kPadded : Divisor::kInside));
}

// |x| to the power of p, whose sums an Lp norm is the root of.
Result<Value> Powers(GraphBuilder* builder, const Value& x, int64_t p) {
  if (p == 2) return Unary<vx::ops::Square>(builder, x);
  TIM_ASSIGN_OR_RETURN(const Value size, Unary<vx::ops::Abs>(builder, x));
  if (p == 1) return size;
  return Binary<vx::ops::Pow>(builder, x.type, size,
                              ScalarOf(*builder, static_cast<float>(p)));
}

Result<Value> Root(GraphBuilder* builder, const Value& x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return Unary<vx::ops::Sqrt>(builder, x);
  return Binary<vx::ops::Pow>(builder, x.type, x,
                              ScalarOf(*builder, 1.0f / static_cast<float>(p)));
}

Result<int64_t> PowerOf(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t p, node.Int("p", 2));
  if (p >= 1 && p <= 1024) return p;
  return Unimplemented("attribute 'p' is ", p, ", taken are 1 to 1024");
}

Status LpPool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, WindowAttributes({"p"})));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  GraphBuilder* builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const int64_t p, PowerOf(node));
  TIM_ASSIGN_OR_RETURN(const Windows windows,
                       PoolWindows(node, node.inputs[0]));
  TIM_ASSIGN_OR_RETURN(const Value powers, Powers(builder, node.inputs[0], p));
  Value sums;
  if (windows.Dilated()) {
    TIM_ASSIGN_OR_RETURN(sums,
                         WindowSums(builder, powers, WithExactEnds(windows)));
  } else {
    TIM_ASSIGN_OR_RETURN(const int64_t cells, windows.KernelCells());
    TIM_ASSIGN_OR_RETURN(
        sums, AverageOfWindows(builder, powers, windows, Divisor::kWindow));
    TIM_ASSIGN_OR_RETURN(sums,
                         Scaled(builder, sums, static_cast<float>(cells)));
  }
  return node.SetOutput(0, Root(builder, sums, p));
}

Status CheckGlobal(const Node& node, const std::vector<std::string>& names) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, names));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  if (node.inputs[0].rank() >= 3) return OkStatus();
  return Unimplemented("operand 0 is ", Describe(node.inputs[0]),
                       ", one spatial axis or more is taken");
}

Status GlobalAveragePool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckGlobal(node, {}));
  return node.SetOutput(0, AverageOfAll(node.builder, node.inputs[0]));
}

// A reduction of the spatial axes, which are the fastest of the graph.
template <typename Reduction>
Result<Value> ReduceSpatial(GraphBuilder* builder, const Value& x) {
  std::vector<int32_t> axes;
  for (int i = 0; i < x.rank() - 2; ++i) axes.push_back(i);
  return builder->Add<Reduction>(
      {x}, Wanted::Of(x.type, PooledDims(x, Dims(x.dims.size() - 2, 1))), axes,
      true);
}

Status GlobalMaxPool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckGlobal(node, {}));
  return node.SetOutput(
      0, ReduceSpatial<vx::ops::ReduceMax>(node.builder, node.inputs[0]));
}

Status GlobalLpPool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckGlobal(node, {"p"}));
  TIM_ASSIGN_OR_RETURN(const int64_t p, PowerOf(node));
  TIM_ASSIGN_OR_RETURN(const Value powers,
                       Powers(node.builder, node.inputs[0], p));
  TIM_ASSIGN_OR_RETURN(const Value sums,
                       ReduceSpatial<vx::ops::ReduceSum>(node.builder, powers));
  return node.SetOutput(0, Root(node.builder, sums, p));
}

// The extents of what was pooled, as strides, kernel and pads say them.
Result<Dims> UnpooledDims(const Node& node, const Value& x) {
  if (x.rank() < 3 || !node.HasAttribute("kernel_shape")) {
    return InvalidArgument("operand 0 is ", Describe(x),
                           ", and 'kernel_shape' has to be there");
  }
  const size_t axes = x.dims.size() - 2;
  TIM_ASSIGN_OR_RETURN(const Dims kernel,
                       SpatialInts(node, "kernel_shape", axes, 1, 1));
  TIM_ASSIGN_OR_RETURN(const Dims strides,
                       SpatialInts(node, "strides", axes, 1, 1));
  TIM_ASSIGN_OR_RETURN(const Dims pads,
                       SpatialInts(node, "pads", 2 * axes, 0, 0));
  Dims spatial;
  for (size_t i = 0; i < axes; ++i) {
    spatial.push_back((x.dims[i + 2] - 1) * strides[i] + kernel[i] - pads[i] -
                      pads[axes + i]);
    if (spatial[i] < 1) {
      return InvalidArgument("a result of ", spatial[i],
                             " cells along spatial axis ", i);
    }
  }
  return PooledDims(x, spatial);
}

Result<Value> ExtendedTo(const Node& node, const Value& made) {
  if (!node.Has(2)) return made;
  TIM_ASSIGN_OR_RETURN(const Dims shape, node.ConstantInts(2));
  Dims more;
  for (size_t i = 0; i < shape.size() && i < made.dims.size(); ++i) {
    more.push_back(shape[i] - made.dims[i]);
    if (more[i] < 0 || (i < 2 && more[i] != 0)) {
      return Unimplemented("operand 2 asks for ", shape[i], " of ",
                           made.dims[i], " along axis ", i);
    }
  }
  if (shape.size() != made.dims.size()) {
    return InvalidArgument("operand 2 has ", shape.size(),
                           " extents, expected ", made.dims.size());
  }
  return Padded(node.builder, made, Dims(shape.size(), 0), more, 0.0f);
}

Status MaxUnpool(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, {"kernel_shape", "pads", "strides"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  GraphBuilder* builder = node.builder;
  const Value& x = node.inputs[0];
  if (node.inputs[1].dims != x.dims) {
    return InvalidArgument("indices ", Describe(node.inputs[1]), " for ",
                           Describe(x));
  }
  TIM_ASSIGN_OR_RETURN(const Dims dims, UnpooledDims(node, x));
  TIM_ASSIGN_OR_RETURN(const int64_t total, Product(dims, 0, dims.size()));
  TIM_ASSIGN_OR_RETURN(const int64_t count, Product(x.dims, 0, x.dims.size()));
  TIM_ASSIGN_OR_RETURN(Value zeros, FilledVector(*builder, 0.0f, total));
  if (x.type != vx::DataType::FLOAT32) {
    TIM_ASSIGN_OR_RETURN(zeros, builder->Cast(zeros, x.type));
  }
  TIM_ASSIGN_OR_RETURN(const Value values, builder->Reshape(x, {count}));
  TIM_ASSIGN_OR_RETURN(const Value indices,
                       builder->Reshape(node.inputs[1], {count, 1}));
  TIM_ASSIGN_OR_RETURN(
      Value made, builder->Add<vx::ops::ScatterND_ONNX_V16>(
                      {zeros, indices, values}, Wanted::Of(x.type, {total})));
  TIM_ASSIGN_OR_RETURN(made, builder->Reshape(made, dims));
  return node.SetOutput(0, ExtendedTo(node, made));
}

}  // namespace

void AddPools(OperatorTable* table) {
  table->Add("", "MaxPool", 1, MaxPool);
  table->Add("", "AveragePool", 1, AveragePool);
  table->Add("", "LpPool", 2, LpPool);
  table->Add("", "GlobalAveragePool", 1, GlobalAveragePool);
  table->Add("", "GlobalMaxPool", 1, GlobalMaxPool);
  table->Add("", "GlobalLpPool", 2, GlobalLpPool);
  table->Add("", "MaxUnpool", 9, MaxUnpool);
}

}  // namespace tim::models::onnx
