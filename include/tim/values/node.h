// Operators by name, as functions of values.
#ifndef TIM_VALUES_NODE_H_
#define TIM_VALUES_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/device.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

namespace internal {
struct NodeState;
struct OutputsState;
}  // namespace internal

/// Bytes.  `bound`: made from upper bounds of extents.  -1 where it failed.
struct MemoryEstimate {
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t scratch = 0;
  bool bound = false;
};

/// Arithmetic operations (a multiply-add is two) and bytes.  -1 where it
/// failed.
struct ComputeEstimate {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  bool bound = false;
};

/// The results of an operator.
class TIM_API Outputs {
 public:
  Outputs() = default;
  bool ok() const;
  std::string error() const;
  size_t size() const;
  /// Output `index`; failed where there is no such output.
  Value operator[](size_t index) const;
  /// The signal of the operator's end.
  Token signal() const;
  /// The only output; failed where there are several.
  operator Value() const;  // NOLINT: one output is a value

 private:
  friend struct internal::Access;
  std::shared_ptr<const internal::OutputsState> state_;
};

/// An operator with its attributes.  Any thread.
class TIM_API Node {
 public:
  /// \param op "tim.Relu", "acme.FancyNorm"; failed where there is none, and
  ///     where an attribute is unknown, missing or of another type.
  explicit Node(const std::string& op, Attributes attributes = {});
  /// A move copies: no handle is left without what it stood for.
  Node(const Node& other) = default;
  Node& operator=(const Node& other) = default;

  bool ok() const;
  std::string error() const;
  std::string op() const;

  /// Runs the operator, or records it (tim/values/mode.h); an absent operand is
  /// Value().
  Outputs Forward(const std::vector<Value>& inputs,
                  const std::vector<Token>& after = {}) const;
  /// Results by the operator's host reference, at once.  Empty where it failed,
  /// and LastError() says why.
  std::vector<Plain> Eval(const std::vector<Plain>& inputs) const;
  /// Facts about the outputs, as far as they can be known; empty where it
  /// failed.
  std::vector<Spec> InferOutputs(const std::vector<Spec>& inputs) const;
  MemoryEstimate EstimateMemory(const std::vector<Spec>& inputs) const;
  ComputeEstimate EstimateCompute(const std::vector<Spec>& inputs) const;
  /// Time of the kernel that would be taken; -1 where it failed.
  double PredictMicroseconds(const std::vector<Spec>& inputs,
                             const Device& device = Device()) const;

 private:
  friend struct internal::Access;
  std::shared_ptr<const internal::NodeState> state_;
};

/// Node(op, attributes).Forward(inputs)
TIM_API Outputs Call(const std::string& op, const std::vector<Value>& inputs,
                     Attributes attributes = {});

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_NODE_H_
