// Parts of a program: some of its statements, as a program of their own.
#ifndef TIM_EXPR_PARTS_H_
#define TIM_EXPR_PARTS_H_

#include <memory>
#include <vector>

#include "expr/program.h"

namespace tim::expr {

/// Inputs are those of the whole program and the tensors that earlier
/// statements hand over; results are the tensors that are results of the whole,
/// or that later statements need.
struct Part {
  size_t first = 0;  ///< Statements.
  size_t last = 0;   ///< Behind them.
  /// The only statement may be a product (MayBeProduct).
  bool candidate = false;
  std::shared_ptr<const Program> program;
  std::vector<int> inputs;   ///< Tensors of the whole program.
  std::vector<int> outputs;  ///< The same.
};

/// All statements, in their order; empty where none may be a product.
std::vector<Part> DivideProgram(const Program& program);

}  // namespace tim::expr

#endif  // TIM_EXPR_PARTS_H_
