// An operation of a graph.
#ifndef TIM_VX_OPERATION_H_
#define TIM_VX_OPERATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/attribute.h"
#include "tim/vx/export.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace vx {

class OpImpl;

/// Made by Graph::CreateOperation().  One thread at a time, together with its
/// graph, which keeps it alive.
///
/// Mistakes in bindings (null, a tensor of another graph) are recorded and
/// logged; Compile() refuses the operation with the reason.
class TIM_VX_API Operation {
 public:
  Operation();
  virtual ~Operation();
  Operation& operator=(const Operation&) = delete;

  /// An operation of the same type and attributes in `graph`, not bound.
  virtual std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const = 0;

  /// Binds the next input or output, in the order that the operator documents.
  /// An absent optional one in the middle is Graph::CreateTensorPlaceHolder();
  /// trailing ones may be left out.  Constants behind the last input, where
  /// TFLite, ONNX or NNAPI have operands for what the operator's constructor is
  /// given here, are not read: a warning, or an error with TIMCL_LENIENT=0.
  Operation& BindInput(const std::shared_ptr<Tensor>& tensor);
  Operation& BindOutput(const std::shared_ptr<Tensor>& tensor);
  Operation& BindInputs(const std::vector<std::shared_ptr<Tensor>>& tensors);
  Operation& BindOutputs(const std::vector<std::shared_ptr<Tensor>>& tensors);

  /// Conversion of results to integers, rounding of pooled extents, and the
  /// accumulator's width (0: the operator's own).  The defaults hold from the
  /// start.
  Operation& SetRoundingPolicy(
      OverflowPolicy overflow_policy = OverflowPolicy::SATURATE,
      RoundingPolicy rounding_policy = RoundingPolicy::RTNE,
      RoundType down_scale_size_rounding = RoundType::FLOOR,
      uint32_t accumulator_bits = 0);

  std::unique_ptr<OpImpl>& impl();
  const std::unique_ptr<OpImpl>& impl() const;

  /// Number of the operation within its graph, from 1; 0 before it has one.
  const uint32_t& uid() const;

  /// All inputs if every input is CONSTANT, else none.
  virtual const std::vector<std::shared_ptr<Tensor>> ConstantInputsTensor()
      const;

  /// How many inputs and outputs are bound, placeholders included.
  uint32_t InputCount() const;
  uint32_t OutputCount() const;

  /// What is bound, as the graph declares it: UNKNOWN and an empty shape stand
  /// for what Compile() finds out, and for a placeholder.  The functions of
  /// custom operators see more, see ops::CustomOpBase.  Throws
  /// std::out_of_range where nothing is bound at `index`.
  TensorSpec InputSpec(uint32_t index) const;
  TensorSpec OutputSpec(uint32_t index) const;

  /// The operator, "Softmax"; empty for a class that names none.
  const char* Name() const;

  /// What messages and dumps call this operation besides its operator and
  /// number: "Conv2d#3 'stem'".  It need not be unique.
  Operation& SetInstanceName(const std::string& name);
  const std::string& InstanceName() const;

  /// Reads an attribute, given or default.  T: bool, an integer, enum or
  /// floating-point type, std::string, or a vector of these.  False, and
  /// `*value` unchanged, where the operator has none of this name and type.
  template <typename T>
  bool GetAttribute(const char* name, T* value) const {
    typename AttributeValue<T>::type kept{};
    if (!ReadAttribute(name, &kept)) return false;
    AttributeValue<T>::Restore(kept, value);
    return true;
  }

 protected:
  /// Copies attributes; the copy is unbound and of no graph.
  Operation(const Operation& original);

  /// True where at least one input is bound and all are CONSTANT.
  bool IsAllInputsConst() const;

  std::unique_ptr<OpImpl> impl_;

 private:
  /// Called after each BindInput().
  virtual void OnBindInputPostProc(const std::shared_ptr<Tensor>& tensor,
                                   int32_t input_idx);

  bool ReadAttribute(const char* name, bool* value) const;
  bool ReadAttribute(const char* name, int64_t* value) const;
  bool ReadAttribute(const char* name, double* value) const;
  bool ReadAttribute(const char* name, std::string* value) const;
  bool ReadAttribute(const char* name, std::vector<int64_t>* value) const;
  bool ReadAttribute(const char* name, std::vector<double>* value) const;
  bool ReadAttribute(const char* name, std::vector<std::string>* value) const;
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPERATION_H_
