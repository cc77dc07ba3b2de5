// A program with numbers: extents, attributes and types of one use.
#ifndef TIM_EXPR_BINDING_H_
#define TIM_EXPR_BINDING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "expr/affine.h"
#include "expr/bounds.h"
#include "expr/program.h"
#include "expr/types.h"
#include "ir/attribute.h"

namespace tim::expr {

/// Extents in the order of the text, kUnknownSize where one is not known.
using Dims = std::vector<int64_t>;

struct Shapes {
  std::vector<std::optional<Dims>> tensors;  ///< Nothing: unknown rank.
  Numbers numbers;
};

/// Extents of all tensors from those of the inputs, and from complete
/// attributes.  kInvalidArgument: extents that contradict the text, a negative
/// size, a division by 0, an overflow.
Result<Shapes> InferDims(const Program& program,
                         const ir::AttributeMap& attributes,
                         std::span<const std::optional<Dims>> inputs);

/// An element of a tensor that a node reads.
struct Access {
  int node = -1;
  int tensor = -1;
  std::vector<Affine> indices = {};
  Affine offset = {};  ///< In elements of the dense tensor.
};

struct BoundStatement {
  Dims dims;  ///< Of the left side; its index variables come first.
  std::vector<Row> rows = {};
  LoopPlan plan = {};
  std::vector<Access> accesses = {};
  double flops = 0;
};

struct Binding {
  std::shared_ptr<const Program> program;
  Types types = {};
  Numbers numbers = {};
  ir::AttributeMap attributes = {};
  std::vector<Dims> dims = {};  ///< By tensor.
  std::vector<BoundStatement> statements = {};

  int64_t Elements(int tensor) const;
  double Flops() const;
};

/// All extents are known.  Errors as of InferDims() and SolveRanges().
Result<Binding> Bind(std::shared_ptr<const Program> program,
                     const ir::AttributeMap& attributes,
                     std::span<const ir::DataType> types,
                     std::span<const Dims> inputs);

/// A float, of an attribute or an element of one.
Result<float> FloatOf(const Binding& binding, const Expr& node);

}  // namespace tim::expr

#endif  // TIM_EXPR_BINDING_H_
