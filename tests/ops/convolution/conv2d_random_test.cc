// Random convolutions of every type: eval against a reference in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/data/sum_types.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

struct Case {
  AttributeMap attributes;
  Ints input;
  Ints kernel;
  Ints output;
  int weights_axis = 3;
  bool declared = false;

  int64_t terms() const {
    return kernel[0] * kernel[1] *
           (attributes.Int("multiplier") > 0 ? 1 : kernel[2]);
  }
};

int64_t Pick(std::mt19937& rng, const Ints& from) {
  return from[rng() % from.size()];
}

// Extents and front pad of one axis.
struct Axis {
  int64_t output;
  int64_t front;
};
Axis AxisOf(int64_t padding, int64_t in, int64_t k, int64_t stride,
            int64_t dilation, int64_t front, int64_t back) {
  const int64_t extent = (k - 1) * std::max<int64_t>(dilation, 1) + 1;
  if (padding == kValid) front = back = 0;
  if (padding == kSame) {
    const int64_t out = (in + stride - 1) / stride;
    const int64_t total =
        std::max<int64_t>((out - 1) * stride + extent - in, 0);
    return {out, total / 2};
  }
  const int64_t room = in + front + back - extent;
  return {room < 0 ? 0 : room / stride + 1, front};
}

Case RandomCase(std::mt19937& rng) {
  Case out;
  const int64_t padding = Pick(rng, {-1, kAuto, kAuto, kValid, kSame});
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const Ints pad = {small(3), small(3), small(3), small(3)};
  const Ints stride = {1 + small(3), 1 + small(2)};
  const Ints dilation = {small(3), small(3)};
  const int64_t w = Pick(rng, {1, 2, 3, 5, 7, 8, 15, 17, 31, 32, 33});
  const int64_t h = Pick(rng, {1, 2, 3, 5, 8});
  const int64_t batch = 1 + small(2);
  const int64_t kw = 1 + small(5);
  const int64_t kh = 1 + small(4);
  int64_t multiplier = 0;
  int64_t oc = Pick(rng, {1, 2, 15, 16, 17, 31, 32, 33, 40});
  int64_t c = Pick(rng, {1, 2, 3, 4, 15, 16, 17, 31, 32, 33});
  switch (rng() % 6) {
    case 0:  // depthwise
      multiplier = 1 + small(2);
      oc = c * multiplier;
      out.kernel = {kw, kh, oc, 1};
      out.weights_axis = 2;
      if (oc == 1 || small(2) == 0) {
        out.kernel = {kw, kh, 1, oc};
        out.weights_axis = oc == 1 ? 2 : 3;
      }
      break;
    case 1: {  // groups
      const int64_t groups = 2 + small(3);
      c = groups * (1 + small(4));
      oc = groups * (1 + small(5));
      out.kernel = {kw, kh, c / groups, oc};
      break;
    }
    default:
      out.kernel = {kw, kh, c, oc};
  }
  out.attributes = Conv2dAttributes(padding, pad, stride, dilation, multiplier);
  out.input = {w, h, c, batch};
  const Axis x = AxisOf(padding, w, kw, stride[0], dilation[0], pad[0], pad[1]);
  const Axis y = AxisOf(padding, h, kh, stride[1], dilation[1], pad[2], pad[3]);
  out.output = {x.output, y.output, oc, batch};
  out.declared = x.output < 1 || y.output < 1 || small(4) == 0;
  if (out.declared) {
    out.output[0] = std::max<int64_t>(x.output + small(4) - 1, 1);
    out.output[1] = std::max<int64_t>(y.output + small(4) - 1, 1);
  }
  return out;
}

// From the formula, in double.
RealSums Reference(const Case& c, const std::vector<double>& x,
                   const std::vector<double>& k,
                   const std::vector<double>& bias) {
  const int64_t padding = c.attributes.Int("padding");
  const Ints& pad = c.attributes.Ints("pad");
  const Ints& stride = c.attributes.Ints("stride");
  const Ints& dilation = c.attributes.Ints("dilation");
  const int64_t multiplier = c.attributes.Int("multiplier");
  const int64_t per_group = multiplier > 0 ? 1 : c.kernel[2];
  const int64_t outputs =
      multiplier > 0 ? multiplier : c.output[2] / (c.input[2] / per_group);
  const Axis ax = AxisOf(padding, c.input[0], c.kernel[0], stride[0],
                         dilation[0], pad[0], pad[1]);
  const Axis ay = AxisOf(padding, c.input[1], c.kernel[1], stride[1],
                         dilation[1], pad[2], pad[3]);
  RealSums out;
  for (int64_t n = 0; n < c.output[3]; ++n)
    for (int64_t oc = 0; oc < c.output[2]; ++oc)
      for (int64_t yo = 0; yo < c.output[1]; ++yo)
        for (int64_t xo = 0; xo < c.output[0]; ++xo) {
          double sum = bias.empty() ? 0 : bias[oc];
          double magnitude = std::abs(sum);
          for (int64_t ic = 0; ic < per_group; ++ic)
            for (int64_t kh = 0; kh < c.kernel[1]; ++kh)
              for (int64_t kw = 0; kw < c.kernel[0]; ++kw) {
                const int64_t xi = xo * stride[0] - ax.front +
                                   kw * std::max<int64_t>(dilation[0], 1);
                const int64_t yi = yo * stride[1] - ay.front +
                                   kh * std::max<int64_t>(dilation[1], 1);
                if (xi < 0 || xi >= c.input[0]) continue;
                if (yi < 0 || yi >= c.input[1]) continue;
                const int64_t channel = oc / outputs * per_group + ic;
                const double product =
                    x[xi + c.input[0] *
                               (yi + c.input[1] * (channel + c.input[2] * n))] *
                    k[kw +
                      c.kernel[0] * (kh + c.kernel[1] * (ic + per_group * oc))];
                sum += product;
                magnitude += std::abs(product);
              }
          out.Add(sum, magnitude);
        }
  return out;
}

struct Drawn {
  Case shape;
  SumOperands operands;
  std::vector<TensorData> inputs;  // input, weights, bias
};

Drawn Draw(const SumTypes& types, std::mt19937& rng) {
  Drawn out;
  out.shape = RandomCase(rng);
  out.operands = RandomSumOperands(
      types,
      {out.shape.input, out.shape.kernel, out.shape.weights_axis,
       out.shape.output[2], out.shape.terms()},
      rng);
  if (out.shape.declared) {
    out.operands.output.shape = ir::Shape(out.shape.output);
  }
  out.inputs.push_back(RandomTensor(out.operands.input, rng));
  out.inputs.push_back(RandomTensor(out.operands.weights, rng));
  if (out.operands.bias) {
    out.inputs.push_back(RandomBias(out.operands, out.shape.terms(), rng));
  }
  return out;
}

Result<TestNode> NodeOf(const Drawn& drawn) {
  std::vector<std::optional<TensorDesc>> inputs = {drawn.operands.input,
                                                   drawn.operands.weights};
  if (drawn.operands.bias) inputs.push_back(drawn.operands.bias);
  return MakeNode("tim.Conv2d", drawn.shape.attributes, inputs,
                  {drawn.operands.output});
}

class Conv2dEval : public ::testing::TestWithParam<SumTypes> {};

TEST_P(Conv2dEval, FollowsFormula) {
  std::mt19937 rng = SeededRng(11);
  for (int i = 0; i < 30; ++i) {
    const Drawn drawn = Draw(GetParam(), rng);
    SCOPED_TRACE(drawn.shape.attributes.ToString() + " " +
                 drawn.operands.input.ToString() + " " +
                 drawn.operands.weights.ToString());
    const auto node = NodeOf(drawn);
    ASSERT_OK(node);
    const auto result = Eval(*node, drawn.inputs);
    ASSERT_OK(result);
    EXPECT_EQ((*result)[0].desc.shape, ir::Shape(drawn.shape.output));
    const RealSums sums = Reference(drawn.shape, RealValues(drawn.inputs[0]),
                                    RealValues(drawn.inputs[1]),
                                    BiasReals(drawn.operands, drawn.inputs));
    EXPECT_OK(CheckRealSums(drawn.operands, sums, (*result)[0]));
  }
}

std::vector<SumTypes> AllTypes() {
  std::vector<SumTypes> out = KernelSumTypes();
  for (SumTypes& types : EvalSumTypes()) out.push_back(std::move(types));
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, Conv2dEval, ::testing::ValuesIn(AllTypes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tim::testing
