// One op by itself: checked, compiled as a partition for the host device or
// another cpu engine and executed, on plain arrays.
#ifndef TIM_TESTS_GRAPH_API_EVALUATED_OP_H_
#define TIM_TESTS_GRAPH_API_EVALUATED_OP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/compile.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"

namespace tim::graph {

using Numbers = std::vector<double>;

struct Array {
  Dims dims = {};
  Numbers values = {};  ///< Row-major.
  tim_graph_data_type_t type = tim_graph_f32;
};

class EvaluatedOp {
 public:
  explicit EvaluatedOp(tim_graph_op_kind_t kind);

  EvaluatedOp& Input(Array array);
  /// An output of unknown rank.
  EvaluatedOp& Output(tim_graph_data_type_t type = tim_graph_f32);
  EvaluatedOp& Output(tim_graph_data_type_t type, const Dims& dims);
  EvaluatedOp& Set(tim_graph_op_attr_t attribute, AttributeValue value);

  /// Runs are of this engine, not of the host device.
  EvaluatedOp& On(std::shared_ptr<tim_graph_engine> engine);

  /// Status of CheckOp().
  Status Check() const;
  /// Status of the record's `supports` behind that.
  Status Supports() const;
  Result<std::vector<Array>> Run() const;
  /// What the client is told by compile of an op that passes CheckOp.
  tim_graph_status_t CompileCode() const;
  /// Output 0; a test failure, and nothing, where the op cannot run.
  Array First() const;

 private:
  Result<Op> Checked() const;
  CompileResult Compiled(const Op& op) const;

  Op op_;
  std::shared_ptr<tim_graph_engine> engine_;
  std::vector<Array> inputs_;
};

int64_t CountOf(const Array& array);
/// Numbers from -1 to 1, those of `seed`.
Array Random(const Dims& dims, uint32_t seed);
/// Dim i of the result is dim order[i] of `array`.
Array Permuted(const Array& array, const std::vector<size_t>& order);
/// Every number in `type` and back.
Array Rounded(Array array, tim_graph_data_type_t type);
/// Of `loss` at x, by central differences.
Numbers NumericGradient(const std::function<double(const Numbers&)>& loss,
                        Numbers x, double step = 1e-4);
double Dot(const Numbers& a, const Numbers& b);
/// Fails where |found - expected| > tolerance * (1 + |expected|).
void ExpectNear(const Numbers& found, const Numbers& expected,
                double tolerance);
/// Fails unless the status is a failure whose message has `text`.
void ExpectRefused(const Status& status, const std::string& text);

}  // namespace tim::graph

#endif  // TIM_TESTS_GRAPH_API_EVALUATED_OP_H_
