// Formulas over values as C++ expressions.
#ifndef TIM_MODELS_ONNX_OPS_IMAGES_FORMULA_H_
#define TIM_MODELS_ONNX_OPS_IMAGES_FORMULA_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "models/build/graph_builder.h"
#include "models/build/value.h"

namespace tim::models::onnx {

/// A value of FLOAT32 (INT32 and BOOL8 where a function says so), or the first
/// failure on the way to it.  Operators broadcast as ONNX's do, and add an
/// operation each.
class Formula {
 public:
  Formula(GraphBuilder* builder, Result<Value> value)
      : builder_(builder), value_(std::move(value)) {}

  /// A constant of `values`.
  static Formula Of(GraphBuilder* builder, const std::vector<float>& values,
                    const Dims& dims);

  const Result<Value>& result() const { return value_; }
  GraphBuilder* builder() const { return builder_; }

  friend Formula operator+(const Formula& a, const Formula& b);
  friend Formula operator-(const Formula& a, const Formula& b);
  friend Formula operator*(const Formula& a, const Formula& b);
  friend Formula operator/(const Formula& a, const Formula& b);
  friend Formula operator+(const Formula& a, float b);
  friend Formula operator-(const Formula& a, float b);
  friend Formula operator*(const Formula& a, float b);
  friend Formula operator/(const Formula& a, float b);

  /// BOOL8: a < b, a <= b.
  friend Formula operator<(const Formula& a, const Formula& b);
  friend Formula operator<=(const Formula& a, const Formula& b);
  friend Formula operator<=(const Formula& a, float b);
  friend Formula operator<=(float a, const Formula& b);
  /// BOOL8 of both.
  friend Formula operator&&(const Formula& a, const Formula& b);

  Formula Floor() const;
  Formula Ceil() const;
  Formula Abs() const;
  Formula Clip(float least, float most) const;
  /// Half to even.
  Formula Round() const;
  /// INT32, towards zero.
  Formula AsIndex() const;
  /// 1 or 0, of a BOOL8.
  Formula AsFactor() const;
  /// `a` where this BOOL8 is true, else `b`.
  Formula Choose(const Formula& a, const Formula& b) const;
  Formula Reshape(const Dims& dims) const;
  /// Sum along `axis`, which goes.
  Formula SumAlong(int axis) const;
  /// Elements first, first + 1, ... of an axis, `count` of them.
  Formula Range(int axis, int64_t first, int64_t count) const;

 private:
  Formula With(Result<Value> value) const { return {builder_, value}; }

  GraphBuilder* builder_;
  Result<Value> value_;
};

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_IMAGES_FORMULA_H_
