// One node with its operands, as a case description states it.
#ifndef TIM_TESTS_PROPERTIES_NODE_CASE_H_
#define TIM_TESTS_PROPERTIES_NODE_CASE_H_

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_registry.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/kernels/kernel_runner.h"

namespace tim::testing {

struct NodeCase {
  std::string op;  ///< "tim.Add"
  ir::AttributeMap attributes = {};
  std::vector<std::optional<ir::TensorDesc>> inputs = {};  ///< nullopt: absent.
  /// Type, quantization and the shape that the formula gives: written without
  /// a look at infer_shapes, so that the two can be compared.
  std::vector<ir::TensorDesc> outputs = {};
  /// The user declares the output's shape; false where missing.
  std::vector<bool> declared = {};
  std::map<int, TensorData> constants = {};  ///< By operand.
  /// Values of other inputs for which not every value is legal.
  std::map<int, TensorData> data = {};

  bool IsDeclared(size_t output) const {
    return output < declared.size() && declared[output];
  }
};

/// As Compile would make and check it; shapes that are not declared are
/// inferred.
Result<TestNode> MakeNode(const NodeCase& node, const ir::OpRegistry& registry);

/// What infer_shapes makes of the case with these input shapes (constant ones
/// keep theirs).
Result<std::vector<ir::TensorDesc>> Infer(
    const NodeCase& node, const std::vector<ir::Shape>& input_shapes,
    const ir::OpRegistry& registry);

/// Values of the inputs that are not constant: the case's or random ones.
std::vector<TensorData> CaseInputs(const NodeCase& node, std::mt19937& rng);

/// Attributes and operands, one per line.
std::string Dump(const NodeCase& node);

/// The node as rules and estimates see it; operands are the case's own.
class CaseView {
 public:
  /// Fails where the operator or an attribute is unknown.
  static Result<CaseView> Create(const NodeCase& node,
                                 const ir::OpRegistry& registry);
  ir::NodeView view() const { return {node_, inputs_, outputs_}; }
  const ir::OpSchema& schema() const { return *node_.schema; }

 private:
  ir::Node node_;
  std::vector<const ir::TensorDesc*> inputs_;
  std::vector<const ir::TensorDesc*> outputs_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_NODE_CASE_H_
