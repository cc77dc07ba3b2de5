// Elements of small constants, as what computes shapes reads them.
#ifndef TIM_MODELS_ONNX_EXACT_ELEMENTS_H_
#define TIM_MODELS_ONNX_EXACT_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/build/value.h"
#include "models/onnx/node.h"

namespace tim::models::onnx {

/// Elements of a constant of INT64, INT32, BOOL8, FLOAT32 or FLOAT64, which is
/// a wide FLOAT32.  Sums, products and quotients of floats in 64 bits, rounded
/// to 32, are those of 32 bits.
struct Elements {
  vx::DataType type = vx::DataType::UNKNOWN;
  Dims dims;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  bool is_wide = false;

  bool is_float() const { return type == vx::DataType::FLOAT32; }
};

/// Constant operand `input` of few elements; none where it is none of them.
std::optional<Elements> LoadElements(const Node& node, size_t input);
/// Sets output 0.  Integers wrap as the type does.
bool StoreElements(Node* node, const Elements& made);

/// For each element of `to` the number of the one of `from` that it is
/// broadcast from.
std::vector<size_t> BroadcastPlaces(const Dims& from, const Dims& to);

using IntFunction = int64_t (*)(int64_t a, int64_t b);
using FloatFunction = double (*)(double a, double b);
using FloatTest = bool (*)(double a, double b);

/// `a` and `b` element by element as `type`; false where they do not fit.
bool Combine(const Elements& a, const Elements& b, vx::DataType type,
             IntFunction of_ints, FloatFunction of_floats, FloatTest test,
             Elements* made);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_EXACT_ELEMENTS_H_
