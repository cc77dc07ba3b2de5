// Statements that are a matrix product or a convolution, as operators of the
// library.
#ifndef TIM_EXPR_PRODUCTS_H_
#define TIM_EXPR_PRODUCTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "expr/binding.h"

namespace tim::expr {

/// Whether statement `i` is a sum of products of two floats, without
/// constraints: only such ones may be found to be a product.
bool MayBeProduct(const Program& program, size_t i);

/// Axes of an operand in the order that the operator wants, and what it sees
/// them as.
struct ProductOperand {
  int tensor = -1;
  std::vector<int64_t> order;  ///< Axis of the tensor, by axis of the operator.
  Dims dims;                   ///< Extents after axes are joined.
};

/// [batch, m, k] times [batch, k, n] is [batch, m, n]; or images [n, c, h, w]
/// and weights [o, c, i, j] give [n, o, y, x].
struct Product {
  bool convolution = false;
  ProductOperand a;
  ProductOperand b;
  Dims result;  ///< As the operator makes it.
  Dims parts;   ///< The same with an extent for each index variable.
  std::vector<int64_t> order;  ///< Axis of `parts`, by axis of the left side.
  // Of a convolution, along h and w.
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilations = {};
  std::vector<int64_t> pads_begin = {};
  std::vector<int64_t> pads_end = {};
};

/// Nothing where the numbers are not those of a product.
std::optional<Product> FindProduct(const Binding& binding, size_t i);

}  // namespace tim::expr

#endif  // TIM_EXPR_PRODUCTS_H_
