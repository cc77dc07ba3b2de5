// An operator for which every translation unit has another kernel: the class,
// the kernel and the function have the same names in all of them, and so have
// their ids.  Include it once, after defining TWIN_FACTOR.
#ifndef TIM_TESTS_SUPPORT_TWINS_TWIN_H_
#define TIM_TESTS_SUPPORT_TWINS_TWIN_H_

#include <memory>

#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"

namespace {

#define TWIN_TEXT(x) #x
#define TWIN_NUMBER(x) TWIN_TEXT(x)

class Twin : public tim::vx::ops::CustomOpBase {
 public:
  explicit Twin(tim::vx::Graph* graph)
      : CustomOpBase(graph, 1, 1, Twin::kernel_id_, Twin::kernel_name_) {
    kernel_resource_ =
        "__kernel void twin(__global const float* x, __global float* y) {\n"
        "  const size_t i = get_global_id(0);\n"
        "  y[i] = " TWIN_NUMBER(TWIN_FACTOR) " * x[i];\n"
        "}\n";
  }
  std::shared_ptr<tim::vx::Operation> Clone(
      std::shared_ptr<tim::vx::Graph>& graph) const override {
    return graph->CreateOperation<Twin>();
  }

 protected:
  void SetupShapeInfor() override { outputs_size_[0] = inputs_size_[0]; }
  void SetupParams(std::vector<tim::vx::DataType>, std::string&) override {
    func_name_ = "twin";
  }
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>&) override {
    dim = 1;
    gobal_size[0] = outputs_size_[0][0];
  }

 private:
  static const char* kernel_name_;
  static int32_t kernel_id_;
};

const char* Twin::kernel_name_ = "twin";
int32_t Twin::kernel_id_ = -1 * (++tim::vx::ops::gobal_kernel_id_);

}  // namespace

#endif  // TIM_TESTS_SUPPORT_TWINS_TWIN_H_
