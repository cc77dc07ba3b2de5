// Thin names of operators: each is Call() with that operator's attributes,
// which docs/operators.md and the headers of tim/vx/ops describe.  Axes count
// from 0, the fastest-varying one; negative ones from the end.
#ifndef TIM_VALUES_OPS_H_
#define TIM_VALUES_OPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tim/values/node.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

// ---- Element by element ----------------------------------------------------

/// max(x, 0).
inline Value Relu(const Value& x) { return Call("tim.Relu", {x}); }
/// min(max(x, -1), 1).
inline Value Relu1(const Value& x) { return Call("tim.Relu1", {x}); }
/// min(max(x, 0), 6).
inline Value Relu6(const Value& x) { return Call("tim.Relu6", {x}); }
/// tanh(x).
inline Value Tanh(const Value& x) { return Call("tim.Tanh", {x}); }
/// 1 / (1 + e^-x).
inline Value Sigmoid(const Value& x) { return Call("tim.Sigmoid", {x}); }
/// x * min(max(x + 3, 0), 6) / 6.
inline Value HardSwish(const Value& x) { return Call("tim.HardSwish", {x}); }
/// x * sigmoid(x).
inline Value Swish(const Value& x) { return Call("tim.Swish", {x}); }
/// x * tanh(ln(1 + e^x)).
inline Value Mish(const Value& x) { return Call("tim.Mish", {x}); }
/// ln(1 + e^x).
inline Value SoftRelu(const Value& x) { return Call("tim.SoftRelu", {x}); }
/// e^x.
inline Value Exp(const Value& x) { return Call("tim.Exp", {x}); }
/// ln(x).
inline Value Log(const Value& x) { return Call("tim.Log", {x}); }
/// x^0.5.
inline Value Sqrt(const Value& x) { return Call("tim.Sqrt", {x}); }
/// x^-0.5.
inline Value Rsqrt(const Value& x) { return Call("tim.Rsqrt", {x}); }
/// x^2.
inline Value Square(const Value& x) { return Call("tim.Square", {x}); }
/// -x.
inline Value Neg(const Value& x) { return Call("tim.Neg", {x}); }
/// |x|.
inline Value Abs(const Value& x) { return Call("tim.Abs", {x}); }
/// 1 / x.
inline Value Rcp(const Value& x) { return Call("tim.Rcp", {x}); }
/// sin(x).
inline Value Sin(const Value& x) { return Call("tim.Sin", {x}); }
/// cos(x).
inline Value Cos(const Value& x) { return Call("tim.Cos", {x}); }
/// erf(x).
inline Value Erf(const Value& x) { return Call("tim.Erf", {x}); }
/// the greatest integer <= x.
inline Value Floor(const Value& x) { return Call("tim.Floor", {x}); }
/// the least integer >= x.
inline Value Ceil(const Value& x) { return Call("tim.Ceil", {x}); }
/// the nearest integer, of two the even one.
inline Value Round(const Value& x) { return Call("tim.Round", {x}); }
/// -1, 0 or 1.
inline Value Sign(const Value& x) { return Call("tim.Sign", {x}); }
/// not x, BOOL8.
inline Value LogicalNot(const Value& x) { return Call("tim.LogicalNot", {x}); }
/// x where x > 0, else alpha * x.
inline Value LeakyRelu(const Value& x, double alpha) {
  return Call("tim.LeakyRelu", {x}, {{"alpha", alpha}});
}
/// x where x >= 0, else alpha * (e^x - 1).
inline Value Elu(const Value& x, double alpha = 1) {
  return Call("tim.Elu", {x}, {{"alpha", alpha}});
}
/// x * the normal distribution up to x; approximate: by tanh.
inline Value Gelu(const Value& x, bool approximate = true) {
  return Call("tim.Gelu", {x}, {{"approximate", approximate}});
}
/// min(max(x, least), most).
inline Value Clip(const Value& x, double least, double most) {
  return Call("tim.Clip", {x}, {{"min", least}, {"max", most}});
}
/// min(max(alpha * x + beta, 0), 1).
inline Value HardSigmoid(const Value& x, double alpha, double beta) {
  return Call("tim.HardSigmoid", {x}, {{"alpha", alpha}, {"beta", beta}});
}
/// a * x + b.
inline Value Linear(const Value& x, double a, double b = 0) {
  return Call("tim.Linear", {x}, {{"a", a}, {"b", b}});
}

/// Sums and the like of two operands, which are broadcast: shapes are aligned
/// at axis 0, extents are equal or 1.
inline Value Add(const Value& a, const Value& b) {
  return Call("tim.Add", {a, b});
}
inline Value Sub(const Value& a, const Value& b) {
  return Call("tim.Sub", {a, b});
}
/// a * b * scale.
inline Value Multiply(const Value& a, const Value& b, double scale = 1) {
  return Call("tim.Multiply", {a, b}, {{"scale", scale}});
}
/// a / b * scale.
inline Value Div(const Value& a, const Value& b, double scale = 1) {
  return Call("tim.Div", {a, b}, {{"scale", scale}});
}
/// The greater element.
inline Value Maximum(const Value& a, const Value& b) {
  return Call("tim.Maximum", {a, b});
}
/// The lesser element.
inline Value Minimum(const Value& a, const Value& b) {
  return Call("tim.Minimum", {a, b});
}
/// a^b.
inline Value Pow(const Value& a, const Value& b) {
  return Call("tim.Pow", {a, b});
}
/// Floor(a / b).
inline Value FloorDiv(const Value& a, const Value& b) {
  return Call("tim.FloorDiv", {a, b});
}
/// a - b * floor(a / b), of floats a - b * trunc(a / b).
inline Value Mod(const Value& a, const Value& b) {
  return Call("tim.Mod", {a, b});
}
/// a = b, BOOL8.
inline Value Equal(const Value& a, const Value& b) {
  return Call("tim.Equal", {a, b});
}
/// a != b, BOOL8.
inline Value NotEqual(const Value& a, const Value& b) {
  return Call("tim.NotEqual", {a, b});
}
/// a < b, BOOL8.
inline Value Less(const Value& a, const Value& b) {
  return Call("tim.Less", {a, b});
}
/// a <= b, BOOL8.
inline Value LessOrEqual(const Value& a, const Value& b) {
  return Call("tim.LessOrEqual", {a, b});
}
/// a > b, BOOL8.
inline Value Greater(const Value& a, const Value& b) {
  return Call("tim.Greater", {a, b});
}
/// a >= b, BOOL8.
inline Value GreaterOrEqual(const Value& a, const Value& b) {
  return Call("tim.GreaterOrEqual", {a, b});
}
/// a and b, BOOL8.
inline Value LogicalAnd(const Value& a, const Value& b) {
  return Call("tim.LogicalAnd", {a, b});
}
/// a or b, BOOL8.
inline Value LogicalOr(const Value& a, const Value& b) {
  return Call("tim.LogicalOr", {a, b});
}
/// a where the condition is true, else b.
inline Value Select(const Value& condition, const Value& a, const Value& b) {
  return Call("tim.Select", {condition, a, b});
}

inline Value operator+(const Value& a, const Value& b) { return Add(a, b); }
inline Value operator-(const Value& a, const Value& b) { return Sub(a, b); }
inline Value operator*(const Value& a, const Value& b) {
  return Multiply(a, b);
}
inline Value operator/(const Value& a, const Value& b) { return Div(a, b); }
inline Value operator-(const Value& x) { return Neg(x); }

// ---- Products and windows --------------------------------------------------

/// Products of matrices [K, M] and [N, K], batches in the further axes.
inline Value Matmul(const Value& a, const Value& b, bool transpose_a = false,
                    bool transpose_b = false) {
  return Call("tim.Matmul", {a, b},
              {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}
/// weights [K, O], bias [O] or none.
inline Value FullyConnected(const Value& x, const Value& weights,
                            const Value& bias = Value(), int64_t axis = 0) {
  return Call("tim.FullyConnected", {x, weights, bias}, {{"axis", axis}});
}

/// Options of convolutions; pads are {left, right, top, bottom}, others {x, y}.
struct Conv2dOptions {
  std::vector<int64_t> stride = {1, 1};
  std::vector<int64_t> dilation = {1, 1};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  /// "auto" takes `pad`; "valid" and "same" tell the pads.
  std::string padding = "auto";
  /// Channels per input channel of a depthwise convolution; 0: it is none.
  int64_t multiplier = 0;
};
/// x [W, H, C, N], weights [Kw, Kh, C, O], bias [O] or none.
inline Value Conv2d(const Value& x, const Value& weights,
                    const Value& bias = Value(),
                    const Conv2dOptions& options = Conv2dOptions()) {
  return Call("tim.Conv2d", {x, weights, bias},
              {{"stride", options.stride},
               {"dilation", options.dilation},
               {"pad", options.pad},
               {"padding", options.padding},
               {"multiplier", options.multiplier}});
}

/// Options of windows; pads are {left, right, top, bottom}, others {x, y}.
struct Pool2dOptions {
  std::vector<int64_t> ksize = {2, 2};
  std::vector<int64_t> stride = {2, 2};
  std::vector<int64_t> pad = {0, 0, 0, 0};
  std::string padding = "auto";
};
inline Value Pool2d(const Value& x, const std::string& type,
                    const Pool2dOptions& options) {
  return Call("tim.Pool2d", {x},
              {{"type", type},
               {"ksize", options.ksize},
               {"stride", options.stride},
               {"pad", options.pad},
               {"padding", options.padding}});
}
inline Value MaxPool2d(const Value& x,
                       const Pool2dOptions& options = Pool2dOptions()) {
  return Pool2d(x, "max", options);
}
inline Value AveragePool2d(const Value& x,
                           const Pool2dOptions& options = Pool2dOptions()) {
  return Pool2d(x, "avg", options);
}

// ---- Along axes ------------------------------------------------------------

/// e^(beta * x) over its sum along the axis.
inline Value Softmax(const Value& x, double beta = 1, int64_t axis = 0) {
  return Call("tim.Softmax", {x}, {{"beta", beta}, {"axis", axis}});
}
/// The logarithm of Softmax().
inline Value LogSoftmax(const Value& x, double beta = 1, int64_t axis = 0) {
  return Call("tim.LogSoftmax", {x}, {{"beta", beta}, {"axis", axis}});
}
inline Value ReduceSum(const Value& x, const std::vector<int64_t>& axes,
                       bool keep_dims = false) {
  return Call("tim.ReduceSum", {x}, {{"axis", axes}, {"keep_dims", keep_dims}});
}
inline Value ReduceMean(const Value& x, const std::vector<int64_t>& axes,
                        bool keep_dims = false) {
  return Call("tim.ReduceMean", {x},
              {{"axis", axes}, {"keep_dims", keep_dims}});
}
inline Value ReduceMax(const Value& x, const std::vector<int64_t>& axes,
                       bool keep_dims = false) {
  return Call("tim.ReduceMax", {x}, {{"axis", axes}, {"keep_dims", keep_dims}});
}
inline Value ReduceMin(const Value& x, const std::vector<int64_t>& axes,
                       bool keep_dims = false) {
  return Call("tim.ReduceMin", {x}, {{"axis", axes}, {"keep_dims", keep_dims}});
}
inline Value ReduceProd(const Value& x, const std::vector<int64_t>& axes,
                        bool keep_dims = false) {
  return Call("tim.ReduceProd", {x},
              {{"axis", axes}, {"keep_dims", keep_dims}});
}
inline Value ReduceAny(const Value& x, const std::vector<int64_t>& axes,
                       bool keep_dims = false) {
  return Call("tim.ReduceAny", {x}, {{"axis", axes}, {"keep_dims", keep_dims}});
}
inline Value ReduceAll(const Value& x, const std::vector<int64_t>& axes,
                       bool keep_dims = false) {
  return Call("tim.ReduceAll", {x}, {{"axis", axes}, {"keep_dims", keep_dims}});
}
/// The index of the first greatest element.
inline Value ArgMax(const Value& x, int64_t axis) {
  return Call("tim.ArgMax", {x}, {{"axis", axis}});
}
/// The index of the first least element.
inline Value ArgMin(const Value& x, int64_t axis) {
  return Call("tim.ArgMin", {x}, {{"axis", axis}});
}
inline Value CumSum(const Value& x, int64_t axis = 0) {
  return Call("tim.CumSum", {x}, {{"axis", axis}});
}
inline Value L2Normalization(const Value& x, int64_t axis) {
  return Call("tim.L2Normalization", {x}, {{"axis", axis}});
}
inline Value LayerNormalization(const Value& x, const Value& beta,
                                const Value& gamma, int64_t axis = 0,
                                double eps = 1e-5) {
  return Call("tim.LayerNormalization", {x, beta, gamma},
              {{"axis", axis}, {"eps", eps}});
}

// ---- Shapes and places -----------------------------------------------------

/// The same elements; one extent may be -1.
inline Value Reshape(const Value& x, const std::vector<int64_t>& shape) {
  return Call("tim.Reshape", {x}, {{"shape", shape}});
}
inline Value Squeeze(const Value& x, const std::vector<int64_t>& axes) {
  return Call("tim.Squeeze", {x}, {{"axis", axes}});
}
/// Axis i of the result is axis perm[i] of x.
inline Value Transpose(const Value& x, const std::vector<int64_t>& perm) {
  return Call("tim.Transpose", {x}, {{"perm", perm}});
}
inline Value Broadcast(const Value& x, const std::vector<int64_t>& shape) {
  return Call("tim.Broadcast", {x}, {{"shape", shape}});
}
inline Value Tile(const Value& x, const std::vector<int64_t>& multiples) {
  return Call("tim.Tile", {x}, {{"multiples", multiples}});
}
inline Value Reverse(const Value& x, const std::vector<int64_t>& axes) {
  return Call("tim.Reverse", {x}, {{"axis", axes}});
}
inline Value Concat(const std::vector<Value>& values, int64_t axis) {
  return Call(
      "tim.Concat", values,
      {{"axis", axis}, {"input_cnt", static_cast<int64_t>(values.size())}});
}
inline Value Stack(const std::vector<Value>& values, int64_t axis) {
  return Call(
      "tim.Stack", values,
      {{"axis", axis}, {"input_cnt", static_cast<int64_t>(values.size())}});
}
inline Outputs Split(const Value& x, int64_t axis,
                     const std::vector<int64_t>& extents) {
  return Call("tim.Split", {x}, {{"axis", axis}, {"slices", extents}});
}
inline Outputs Unstack(const Value& x, int64_t axis, int64_t count) {
  return Call("tim.Unstack", {x}, {{"axis", axis}, {"output_num", count}});
}
inline Value Slice(const Value& x, const std::vector<int64_t>& start,
                   const std::vector<int64_t>& length) {
  return Call("tim.Slice", {x},
              {{"dims", static_cast<int64_t>(start.size())},
               {"start", start},
               {"length", length}});
}
inline Value Pad(const Value& x, const std::vector<int64_t>& front,
                 const std::vector<int64_t>& back, double value = 0) {
  return Call(
      "tim.PadV2", {x},
      {{"front_size", front}, {"back_size", back}, {"const_val", value}});
}
inline Value Gather(const Value& x, const Value& indices, int64_t axis) {
  return Call("tim.Gather", {x, indices}, {{"axis", axis}});
}
inline Value GatherNd(const Value& x, const Value& indices) {
  return Call("tim.GatherNd", {x, indices});
}
inline Value ScatterND(const Value& indices, const Value& updates,
                       const std::vector<int64_t>& shape) {
  return Call("tim.ScatterND", {indices, updates}, {{"shape", shape}});
}
inline Value EmbeddingLookup(const Value& indices, const Value& table) {
  return Call("tim.EmbeddingLookup", {indices, table});
}
inline Value OneHot(const Value& indices, int64_t depth, double on = 1,
                    double off = 0, int64_t axis = 0) {
  return Call(
      "tim.OneHot", {indices},
      {{"depth", depth}, {"on_value", on}, {"off_value", off}, {"axis", axis}});
}
/// Elements of another type: "float16".  Floats are cut at the point.
inline Value Cast(const Value& x, const std::string& type) {
  return Call("tim.Cast", {x}, {{"output_type", type}});
}
/// The same real values in another type, rounded.
inline Value DataConvert(const Value& x, const std::string& type) {
  return Call("tim.DataConvert", {x}, {{"output_type", type}});
}

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_OPS_H_
