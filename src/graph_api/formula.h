// Formulas written as they are read: operators of the inner graph one after the
// other, of which the first failure is kept.
#ifndef TIM_GRAPH_API_FORMULA_H_
#define TIM_GRAPH_API_FORMULA_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph_api/lowering.h"

namespace tim::graph {

/// Adds nodes to a lowering.  Once one has failed, later calls do nothing and
/// return absent tensors; `status()`, Store() and Get() tell the failure.
class Formula {
 public:
  explicit Formula(Lowering& lowering) : lowering_(lowering) {}

  Lowering& lowering() { return lowering_; }
  const Status& status() const { return status_; }

  /// Input `index` of the op.
  Tensor In(size_t index) const { return lowering_.input(index); }
  /// Output `index` of the op is `tensor`; the failure, if there was one.
  Status Store(size_t index, const Tensor& tensor);
  Result<Tensor> Get(const Tensor& tensor) const;
  /// The value of a call that may fail.
  template <typename T>
  T Try(Result<T> result) {
    if (!status_.ok()) return T();
    if (result.ok()) return *std::move(result);
    status_ = result.status();
    return T();
  }
  void Try(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  Tensor Unary(std::string_view op, const Tensor& x,
               ir::AttributeMap attributes = {});
  Tensor Binary(std::string_view op, const Tensor& a, const Tensor& b);
  Tensor Add(const Tensor& a, const Tensor& b) { return Binary("Add", a, b); }
  Tensor Sub(const Tensor& a, const Tensor& b) { return Binary("Sub", a, b); }
  Tensor Multiply(const Tensor& a, const Tensor& b) {
    return Binary("Multiply", a, b);
  }
  Tensor Div(const Tensor& a, const Tensor& b) { return Binary("Div", a, b); }
  /// a * x + b
  Tensor Linear(const Tensor& x, double a, double b);
  Tensor Clip(const Tensor& x, double min, double max);
  Tensor Greater(const Tensor& x, double limit);
  Tensor Less(const Tensor& x, double limit);
  /// Elements of a where the condition holds, else of b.
  Tensor Select(const Tensor& condition, const Tensor& a, const Tensor& b);
  /// The same number everywhere, of rank 0.
  Tensor Number(double value);

  /// Sums along axes of this API, which stay with an extent of 1.
  Tensor Sum(const Tensor& x, const std::vector<int64_t>& axes);
  Tensor Mean(const Tensor& x, const std::vector<int64_t>& axes);

  Tensor Reshape(const Tensor& x, const Dims& dims);
  Tensor Transpose(const Tensor& x, const std::vector<int64_t>& order);
  Tensor Cast(const Tensor& x, ir::DataType type);
  Tensor Broadcast(const Tensor& x, const Dims& dims);
  /// Zeros in front and behind along each axis.
  Tensor Pad(const Tensor& x, const Dims& front, const Dims& back);
  /// `extents` elements from `start` on along each axis.
  Tensor Slice(const Tensor& x, const Dims& start, const Dims& extents);

  /// The product, along an axis of x, with a matrix of that extent and so many
  /// columns, row by row.
  Tensor MultiplyAlong(const Tensor& x, int64_t axis, const Floats& matrix,
                       int64_t columns);

 private:
  Tensor Reduce(std::string_view op, const Tensor& x,
                const std::vector<int64_t>& axes);

  Lowering& lowering_;
  Status status_ = OkStatus();
};

/// All axes of a tensor of `rank` but `kept`.
std::vector<int64_t> AxesBut(int64_t rank, int64_t kept);
/// `rank` extents of 1, but `extent` at `axis`.
Dims AlongAxis(int64_t rank, int64_t axis, int64_t extent);
/// Product of extents, which have passed the checks of tensors.
int64_t CountOf(const Dims& dims);
/// The op's output as its client describes it, where rank and all extents are
/// known; else nothing.
Dims DeclaredDims(const Op& op, size_t output);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_FORMULA_H_
