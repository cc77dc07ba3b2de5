// Operations that formulas are made of.
#include "models/onnx/ops/images/formula.h"

#include <utility>

#include "models/onnx/ops/movement/moves.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/logical.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

template <typename Op>
Formula Two(const Formula& a, const Formula& b,
            DataType type = DataType::FLOAT32) {
  GraphBuilder* const builder = a.builder();
  if (!a.result().ok()) return a;
  if (!b.result().ok()) return b;
  auto dims = BroadcastDims(a.result()->dims, b.result()->dims);
  if (!dims.ok()) return {builder, dims.status()};
  return {builder, builder->Add<Op>({*a.result(), *b.result()},
                                    Wanted::Of(type, *std::move(dims)))};
}

template <typename Op, typename... Args>
Formula One(const Formula& a, DataType type, const Args&... args) {
  if (!a.result().ok()) return a;
  return {a.builder(),
          a.builder()->Add<Op>({*a.result()},
                               Wanted::Of(type, a.result()->dims), args...)};
}

Formula Number(const Formula& beside, float value) {
  return Formula::Of(beside.builder(), {value}, {});
}

}  // namespace

Formula Formula::Of(GraphBuilder* builder, const std::vector<float>& values,
                    const Dims& dims) {
  return {builder, builder->ConstantOf(values, dims)};
}

Formula operator+(const Formula& a, const Formula& b) {
  return Two<vx::ops::Add>(a, b);
}
Formula operator-(const Formula& a, const Formula& b) {
  return Two<vx::ops::Sub>(a, b);
}
Formula operator*(const Formula& a, const Formula& b) {
  return Two<vx::ops::Multiply>(a, b);
}
Formula operator/(const Formula& a, const Formula& b) {
  return Two<vx::ops::Div>(a, b);
}
Formula operator+(const Formula& a, float b) { return a + Number(a, b); }
Formula operator-(const Formula& a, float b) { return a - Number(a, b); }
Formula operator*(const Formula& a, float b) { return a * Number(a, b); }
Formula operator/(const Formula& a, float b) { return a / Number(a, b); }

Formula operator<(const Formula& a, const Formula& b) {
  return Two<vx::ops::Less>(a, b, DataType::BOOL8);
}
Formula operator<=(const Formula& a, const Formula& b) {
  return Two<vx::ops::LessOrEqual>(a, b, DataType::BOOL8);
}
Formula operator<=(const Formula& a, float b) { return a <= Number(a, b); }
Formula operator<=(float a, const Formula& b) { return Number(b, a) <= b; }
Formula operator&&(const Formula& a, const Formula& b) {
  return Two<vx::ops::LogicalAnd>(a, b, DataType::BOOL8);
}

Formula Formula::Floor() const {
  return One<vx::ops::Floor>(*this, DataType::FLOAT32);
}
Formula Formula::Ceil() const {
  return One<vx::ops::Ceil>(*this, DataType::FLOAT32);
}
Formula Formula::Abs() const {
  return One<vx::ops::Abs>(*this, DataType::FLOAT32);
}
Formula Formula::Clip(float least, float most) const {
  return One<vx::ops::Clip>(*this, DataType::FLOAT32, least, most);
}
Formula Formula::Round() const {
  return One<vx::ops::Round>(*this, DataType::FLOAT32);
}
Formula Formula::AsIndex() const {
  return One<vx::ops::Cast>(*this, DataType::INT32);
}
Formula Formula::AsFactor() const {
  return One<vx::ops::Cast>(*this, DataType::FLOAT32);
}

Formula Formula::Choose(const Formula& a, const Formula& b) const {
  for (const Formula* part : {this, &a, &b}) {
    if (!part->value_.ok()) return *part;
  }
  auto dims = BroadcastDims(a.value_->dims, b.value_->dims);
  if (dims.ok()) dims = BroadcastDims(*dims, value_->dims);
  if (!dims.ok()) return With(dims.status());
  return With(builder_->Add<vx::ops::Select>(
      {*value_, *a.value_, *b.value_},
      Wanted::Of(a.value_->type, *std::move(dims))));
}

Formula Formula::Reshape(const Dims& dims) const {
  if (!value_.ok()) return *this;
  return With(builder_->Reshape(*value_, dims));
}

Formula Formula::SumAlong(int axis) const {
  if (!value_.ok()) return *this;
  Dims dims = value_->dims;
  dims.erase(dims.begin() + axis);
  const std::vector<int32_t> axes = {GraphAxis(axis, value_->rank())};
  return With(builder_->Add<vx::ops::ReduceSum>(
      {*value_}, Wanted::Of(DataType::FLOAT32, std::move(dims)), axes, false));
}

Formula Formula::Range(int axis, int64_t first, int64_t count) const {
  if (!value_.ok()) return *this;
  std::vector<AxisRange> ranges;
  for (const int64_t extent : value_->dims) ranges.push_back({0, extent, 1});
  ranges[axis] = {first, count, 1};
  return With(TakeRanges(builder_, *value_, ranges));
}

}  // namespace tim::models::onnx
