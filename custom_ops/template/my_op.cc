#include "my_op.h"

#include <stdexcept>
#include <tuple>

// The kernel's parameters: the inputs, the outputs, then the scalars.  A tensor
// is a pointer to dense elements, dimension 0 fastest, or an image2d_t or
// image2d_array_t.  Compile() compares them with what is bound and says what
// does not fit.
static const char kSource[] = R"(
__kernel void my_op(__global const float* x, __global float* y, float slope) {
  const size_t i = get_global_id(0);
  y[i] = x[i] > 0 ? x[i] : slope * x[i];
}
)";

// 1 input, 1 output; the id (-1) has no effect; the name is for messages.
MyOp::MyOp(tim::vx::Graph* graph, float slope)
    : CustomOpBase(graph, 1, 1, -1, "MyOp"), slope_(slope) {
  // Any bool, integer, float, double or tim::vx::Half, in the kernel's order.
  tim::vx::ops::param_transform(std::make_tuple(slope), param_list_);
  kernel_resource_ = kSource;
}

std::shared_ptr<tim::vx::Operation> MyOp::Clone(
    std::shared_ptr<tim::vx::Graph>& graph) const {
  return graph->CreateOperation<MyOp>(slope_);
}

// The shapes of the outputs, from those of the inputs.
void MyOp::SetupShapeInfor() { outputs_size_[0] = inputs_size_[0]; }

// Which kernel of kSource to run.  `build_option` may be set to "-DNAME=VALUE".
// What is thrown here is the reason why Compile() fails.
void MyOp::SetupParams(std::vector<tim::vx::DataType> input_types,
                       std::string&) {
  if (input_types[0] != tim::vx::DataType::FLOAT32) {
    throw std::invalid_argument("MyOp takes FLOAT32");
  }
  func_name_ = "my_op";
}

// How many work-items run: here one dimension, one item per element.  The local
// sizes stay 0, so that the OpenCL runtime chooses them.
void MyOp::SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                        std::vector<size_t>&) {
  dim = 1;
  gobal_size[0] = 1;
  for (const uint32_t extent : outputs_size_[0]) gobal_size[0] *= extent;
}
