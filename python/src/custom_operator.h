// Custom operators whose functions are Python's.
#ifndef TIMCL_PYTHON_CUSTOM_OPERATOR_H_
#define TIMCL_PYTHON_CUSTOM_OPERATOR_H_

#include <memory>
#include <string>
#include <vector>

#include "python_call.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"

namespace timcl {

namespace vx = tim::vx;

/// Parts of a custom operation.  `hooks` is an object with functions
/// that take and return plain tuples, see python/timcl/custom.py:
///   source(): the text of the kernels
///   types(inputs): (type, quantization) of each output, or None
///   shapes(inputs): a shape for each output
///   setup(inputs, outputs): (function, build options, scalars)
///   enqueue(inputs, outputs): (global sizes, local sizes), up to 3 each
///   has_host(): whether there is
///   host(inputs, outputs): lists of (address, bytes, spec), absent: None
struct CustomDefinition {
  std::string name;
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  std::vector<int> optional;  ///< Inputs that may be absent.
  std::string source;
  bool has_host = false;
  PyRef hooks;
};

class CustomOperation : public vx::ops::CustomOpBase {
 public:
  CustomOperation(vx::Graph* graph,
                  std::shared_ptr<const CustomDefinition> definition);

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override;

 protected:
  void SetupTypes() override;
  void SetupShapeInfor() override;
  void SetupParams(std::vector<vx::DataType> input_types,
                   std::string& build_option) override;
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& global,
                    std::vector<size_t>& local) override;
  bool HasHostEval() const override;
  void HostEval(const std::vector<vx::ops::HostInput>& inputs,
                const std::vector<vx::ops::HostOutput>& outputs) override;

 private:
  nb::list InputSpecs() const;
  nb::list OutputSpecs() const;
  void SetScalars(nb::handle scalars);

  std::shared_ptr<const CustomDefinition> definition_;
  std::string function_;
};

}  // namespace timcl

#endif  // TIMCL_PYTHON_CUSTOM_OPERATOR_H_
