// Faults that are planted in operators, each of which a property must report.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/builtin.h"
#include "tests/properties/pointwise_cases.h"
#include "tests/properties/properties.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;

// A built-in operator of another name, to be spoilt.
ir::OpSchema CopyOf(const std::string& op) {
  ir::OpSchema schema = *ops::BuiltinOperators().Find(op);
  schema.domain = "toy";
  return schema;
}

Status Report(const ir::OpRegistry& registry, OperatorCases cases,
              Property property) {
  return CheckNodes({cases, registry}, property, {.count = 40});
}

OperatorCases ToyAdd() { return BinaryCases("toy.Add", 1, {}); }

// ---- schemas ----------------------------------------------------------------

TEST(Planted, CorrectSchemaPasses) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(CopyOf("tim.Add"));
  for (const Property property :
       {ShapesAgree, UnknownShapesAgree, EvalWritesItsOutputs, EstimatesAgree,
        PermutedNodeAgrees, LayoutsAgree, ViewsAgree, CopiesAgree})
    EXPECT_OK(Report(registry, ToyAdd(), property));
}

TEST(Planted, ForgottenBroadcast) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.infer_shapes = [](ir::InferContext& context) {
    context.outputs[0].desc.shape = context.shape(0);
    return OkStatus();
  };
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  const Status status = Report(registry, ToyAdd(), ShapesAgree);
  EXPECT_ERROR(status, "infer_shapes: output 0 is ");
  EXPECT_ERROR(status, "toy.Add");
  EXPECT_ERROR(status, "repeat it with TIMCL_TEST_SEED=");
}

TEST(Planted, ExtentThatIsKnownTooEarly) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.infer_shapes = [infer =
                             schema.infer_shapes](ir::InferContext& context) {
    TIM_RETURN_IF_ERROR(infer(context));
    ir::Shape& shape = context.outputs[0].desc.shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == ir::kUnknownDim) shape.set_dim(axis, 1);
    }
    return OkStatus();
  };
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  EXPECT_OK(Report(registry, ToyAdd(), ShapesAgree));
  EXPECT_ERROR(Report(registry, ToyAdd(), UnknownShapesAgree),
               "which does not admit");
}

TEST(Planted, EstimateOffByTwo) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.compute_estimate =
      [estimate = schema.compute_estimate](const ir::NodeView& view) {
        ir::ComputeEstimate out = estimate(view);
        out.flops *= 2;
        return out;
      };
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  EXPECT_ERROR(Report(registry, ToyAdd(), EstimatesAgree),
               "compute_estimate: flops is 2, expected 1");
}

OperatorCases ToyTranspose() {
  return {.op = "toy.Transpose",
          .legal =
              [](CaseRng&) {
                const auto desc = Desc(DataType::kInt32, {3, 3, 3});
                return NodeCase{
                    .op = "toy.Transpose",
                    .attributes = {{"perm", std::vector<int64_t>{1, 0, 2}}},
                    .inputs = {desc},
                    .outputs = {desc}};
              },
          .permute_rule = PermuteRule::kRequired};
}

Status ReportPermuted(ir::OpSchema schema, const OperatorCases& cases) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  return Report(registry, cases, PermutedNodeAgrees);
}

TEST(Planted, PermuteRuleWithAWrongAxis) {
  ir::OpSchema schema = CopyOf("tim.Transpose");
  EXPECT_OK(ReportPermuted(schema, ToyTranspose()));
  schema.permute_rule = [](const ir::NodeView& view, int,
                           std::span<const int> perm) {
    ir::PermutedNode out = ir::UnpermutedNode(view);
    out.inputs[0].assign(perm.begin(), perm.end());
    return Result<ir::PermutedNode>(std::move(out));
  };
  EXPECT_ERROR(ReportPermuted(std::move(schema), ToyTranspose()),
               "input 0 permuted by [");
}

TEST(Planted, PermuteRuleThatForgetsTheOutput) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.permute_rule = [rule = schema.permute_rule](
                            const ir::NodeView& view, int operand,
                            std::span<const int> perm) {
    auto out = rule(view, operand, perm);
    if (out.ok()) out->outputs[0].clear();
    return out;
  };
  EXPECT_ERROR(ReportPermuted(std::move(schema), ToyAdd()), "permuted by [");
}

TEST(Planted, PermuteRuleThatForgetsToBroadcast) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.permute_rule = [rule = schema.permute_rule](
                            const ir::NodeView& view, int operand,
                            std::span<const int> perm) {
    auto out = rule(view, operand, perm);
    for (int i = 0; i < 2 && out.ok(); ++i) {
      if (i != operand) out->inputs[i].clear();
    }
    return out;
  };
  EXPECT_ERROR(ReportPermuted(std::move(schema), ToyAdd()), "permuted by [");
}

TEST(Planted, PermuteRuleThatRefuses) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.permute_rule = [](const ir::NodeView&, int, std::span<const int>) {
    return Result<ir::PermutedNode>(Unimplemented("not today"));
  };
  EXPECT_ERROR(ReportPermuted(std::move(schema), ToyAdd()), "not today");
}

// A Relu with a layout argument: 2 is [H, W], all others [W, H].
ir::OpSchema LayoutSchema() {
  ir::OpSchema schema = CopyOf("tim.Relu");
  schema.attributes.push_back({"layout", ir::AttributeType::kInt, int64_t{1}});
  schema.layout_rule = [](const ir::NodeView& view) {
    ir::PermutedNode out = ir::UnpermutedNode(view);
    if (view.node.attributes.Int("layout") != 2) {
      return Result<ir::PermutedNode>(std::move(out));
    }
    out.attributes.Set("layout", int64_t{1});
    out.inputs[0] = out.outputs[0] = {1, 0};
    return Result<ir::PermutedNode>(std::move(out));
  };
  return schema;
}

Status ReportLayouts(ir::OpSchema schema) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  const auto desc = Desc(DataType::kInt32, {2, 3});
  const OperatorCases cases = {
      .op = "toy.Relu", .legal = [desc](CaseRng&) {
        return NodeCase{.op = "toy.Relu", .inputs = {desc}, .outputs = {desc}};
      }};
  return Report(registry, cases, LayoutsAgree);
}

TEST(Planted, LayoutRuleThatKeepsTheLayout) {
  EXPECT_OK(ReportLayouts(LayoutSchema()));
  ir::OpSchema schema = LayoutSchema();
  schema.layout_rule = [rule = schema.layout_rule](const ir::NodeView& view) {
    auto out = rule(view);
    out->attributes = view.node.attributes;
    return out;
  };
  EXPECT_ERROR(ReportLayouts(std::move(schema)), "an axis moves of a node");
}

TEST(Planted, EvalThatReadsALayout) {
  ir::OpSchema schema = LayoutSchema();
  schema.eval = [eval = schema.eval](const ir::EvalContext& context) {
    TIM_RETURN_IF_ERROR(eval(context));
    if (context.attributes().Int("layout") == 2) {
      ++*static_cast<int32_t*>(context.outputs[0].data);
    }
    return OkStatus();
  };
  EXPECT_ERROR(ReportLayouts(std::move(schema)),
               "output 0 depends on layout arguments");
}

TEST(Planted, MissingPermuteRule) {
  ir::OpSchema schema = CopyOf("tim.Add");
  schema.permute_rule = nullptr;
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  EXPECT_ERROR(Report(registry, ToyAdd(), PermutedNodeAgrees),
               "the schema has no permute_rule");
}

TEST(Planted, EvalThatLeavesItsLastElement) {
  ir::OpSchema schema = CopyOf("tim.Relu");
  schema.eval = [](const ir::EvalContext& context) {
    const int64_t count = *context.inputs[0].desc->shape.NumElements();
    auto* y = static_cast<uint8_t*>(context.outputs[0].data);
    for (int64_t i = 0; i + 1 < count; ++i) y[i] = 1;
    return OkStatus();
  };
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  const std::vector<std::string> bytes = {"u8>u8"};
  OperatorCases cases = UnaryCases("toy.Relu", 1, {});
  cases.legal = [bytes](CaseRng& rng) {
    return UnaryNode("toy.Relu", bytes, rng);
  };
  EXPECT_ERROR(Report(registry, cases, EvalWritesItsOutputs),
               "depends on what it held before");
}

// Relu of codes that are not negative, which is a copy, with this map.
Status ReportMap(const ir::ElementMap& map) {
  ir::OpSchema schema = CopyOf("tim.Relu");
  schema.element_map = [map](const ir::NodeView&) { return map; };
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(std::move(schema));
  OperatorCases cases = UnaryCases("toy.Relu", 1, {});
  cases.legal = [](CaseRng& rng) {
    const ir::TensorDesc desc = rng.Desc("u8", {4, 6});
    return NodeCase{.op = "toy.Relu", .inputs = {desc}, .outputs = {desc}};
  };
  return Report(registry, cases, ViewsAgree);
}

TEST(Planted, WrongElementMap) {
  ir::ElementMap map = {
      .start = 0, .extents = {24}, .strides = {1}, .bounds = {}};
  EXPECT_OK(ReportMap(map));
  map = {.start = 0, .extents = {6, 4}, .strides = {4, 1}, .bounds = {}};
  EXPECT_ERROR(ReportMap(map), "element_map says that element ");
  map = {.start = 1, .extents = {24}, .strides = {1}, .bounds = {}};
  EXPECT_ERROR(ReportMap(map), "element_map does not fit the operands");
  map = {.start = 0, .extents = {23}, .strides = {1}, .bounds = {}};
  EXPECT_ERROR(ReportMap(map), "element_map does not fit the operands");
}

// ---- kernels ----------------------------------------------------------------

// y[r + rows * c] = x[c + columns * r], of floats; a fault stays inside of y,
// as the kernel runs in this process.
constexpr char kTranspose[] = R"(
__kernel void f(__global const float* x, int xo, __global float* y, int yo,
                int columns, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int i = %s;
      if (i < rows * columns) y[yo + i] = x[xo + c + columns * r];
    }
}
)";
// y = max of x, of floats.
constexpr char kLargest[] = R"(
__kernel void f(__global const float* x, int xo, __global float* y, int yo,
                int columns, int rows) {
  float largest = x[xo];
  for (int i = 1; i < %s; ++i) largest = fmax(largest, x[xo + i]);
  y[yo] = largest;
}
)";

std::string WithPart(std::string text, const std::string& part) {
  return text.replace(text.find("%s"), 2, part);
}

// A kernel of one work-item for an operator of [columns, rows].
ir::KernelDef Kernel(const std::string& op, const std::string& text) {
  return ir::PlainKernel{
      .op = op,
      .name = "toy_kernel",
      .analyze = [](const ir::KernelNode&,
                    const ir::DeviceInfo&) { return OkStatus(); },
      .cost = [](const ir::KernelNode&, const ir::DeviceInfo&) { return 1.0; },
      .lower = [text](const ir::KernelNode& node,
                      const ir::DeviceInfo&) -> Result<ir::Lowering> {
        using Operand = ir::LoweredOperand;
        ir::KernelLaunch launch;
        launch.text = text;
        launch.function = "f";
        launch.arguments = {ir::TensorArg{.operand = 0},
                            ir::TensorArg{.operand = 1},
                            static_cast<int32_t>(node.inputs[0].shape[0]),
                            static_cast<int32_t>(node.inputs[0].shape[1])};
        ir::Lowering lowering;
        lowering.steps.push_back({.action = launch,
                                  .operands = {{Operand::Kind::kInput, 0},
                                               {Operand::Kind::kOutput, 0}},
                                  .written = {false, true}});
        return lowering;
      }};
}

ir::OpSchema TransposeSchema() {
  ir::OpSchema schema = CopyOf("tim.Relu");
  schema.name = "Swap";
  schema.infer_shapes = [](ir::InferContext& context) {
    const ir::Shape& x = context.shape(0);
    context.outputs[0].desc.shape = ir::Shape({x[1], x[0]});
    return OkStatus();
  };
  schema.eval = [](const ir::EvalContext& context) {
    const ir::Shape& shape = context.inputs[0].desc->shape;
    const auto* x = static_cast<const float*>(context.inputs[0].data);
    auto* y = static_cast<float*>(context.outputs[0].data);
    for (int64_t r = 0; r < shape[1]; ++r) {
      for (int64_t c = 0; c < shape[0]; ++c) {
        y[r + shape[1] * c] = x[c + shape[0] * r];
      }
    }
    return OkStatus();
  };
  return schema;
}

ir::OpSchema LargestSchema() {
  ir::OpSchema schema = CopyOf("tim.Relu");
  schema.name = "Largest";
  schema.infer_shapes = [](ir::InferContext& context) {
    context.outputs[0].desc.shape = ir::Shape({1});
    return OkStatus();
  };
  schema.eval = [](const ir::EvalContext& context) {
    const auto* x = static_cast<const float*>(context.inputs[0].data);
    const int64_t count = *context.inputs[0].desc->shape.NumElements();
    *static_cast<float*>(context.outputs[0].data) =
        *std::max_element(x, x + count);
    return OkStatus();
  };
  return schema;
}

OperatorCases FloatMatrix(const std::string& op) {
  return {.op = op, .legal = [op](CaseRng& rng) {
            const int64_t columns = rng.Extent();
            const int64_t rows = rng.Extent();
            const auto shape = op == "toy.Swap"
                                   ? std::vector<int64_t>{rows, columns}
                                   : std::vector<int64_t>{1};
            return NodeCase{
                .op = op,
                .inputs = {Desc(DataType::kFloat32, {columns, rows})},
                .outputs = {Desc(DataType::kFloat32, shape)}};
          }};
}

Status ReportKernel(ir::OpSchema schema, const std::string& text) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  const std::string op = StrCat("toy.", schema.name);
  registry.Add(std::move(schema));
  registry.Add(Kernel(op, text));
  return Report(registry, FloatMatrix(op), KernelsAgree);
}

TEST(Planted, CorrectKernelsPass) {
  EXPECT_OK(
      ReportKernel(TransposeSchema(), WithPart(kTranspose, "r + rows * c")));
  EXPECT_OK(
      ReportKernel(LargestSchema(), WithPart(kLargest, "columns * rows")));
}

TEST(Planted, KernelThatSwapsTwoStrides) {
  const Status status =
      ReportKernel(TransposeSchema(), WithPart(kTranspose, "rows * r + c"));
  EXPECT_ERROR(status, "toy_kernel layout 0");
}

TEST(Planted, KernelThatReadsOneElementTooMany) {
  EXPECT_ERROR(
      ReportKernel(LargestSchema(), WithPart(kLargest, "columns * rows + 1")),
      "the kernel reads outside of them");
}

TEST(Planted, CostThatIsNoTime) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  registry.Add(CopyOf("tim.Add"));
  ir::KernelDef kernel = Kernel("toy.Add", "");
  kernel.cost = [](const ir::KernelProblem&, const ir::KernelNode&,
                   const ir::DeviceInfo& device) {
    const bool priced = device.device_class == ir::DeviceClass::kCpu;
    return priced ? 1.0 : std::numeric_limits<double>::infinity();
  };
  registry.Add(std::move(kernel));
  EXPECT_ERROR(Report(registry, ToyAdd(), EstimatesAgree),
               "toy_kernel costs inf microseconds on a device of class gpu");
}

TEST(Planted, FailuresAreShrunk) {
  const Status status =
      ReportKernel(LargestSchema(), WithPart(kLargest, "columns * rows + 1"));
  EXPECT_ERROR(status, "TIMCL_TEST_SIZE=0");
}

}  // namespace
}  // namespace tim::testing
