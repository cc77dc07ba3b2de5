// A custom operator in the form of TIM-VX's samples: a tuple of scalars, a
// kernel id and name of the class, images, overrunning global sizes.
#ifndef TIM_VX_OPS_SCALED_SUM_H_
#define TIM_VX_OPS_SCALED_SUM_H_

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace vx {
namespace ops {

class ScaledSum : public CustomOpBase {
 public:
  using ParamTuple = std::tuple<float, /* scale_a */
                                float, /* scale_b */
                                int    /* offset */
                                >;
  ScaledSum(Graph* graph, bool integers, ParamTuple tuple_list,
            uint32_t input_num = 2, uint32_t output_num = 1)
      : CustomOpBase(graph, input_num, output_num, ScaledSum::kernel_id_,
                     ScaledSum::kernel_name_),
        integers_(integers) {
    tuple_list_.swap(tuple_list);
    param_transform(tuple_list_, param_list_);

    kernel_resource_ =
        "__kernel void scaled_sum_F32F32toF32(\n\
    __read_only image2d_t   a,\n\
    __read_only image2d_t   b,\n\
    __write_only image2d_t  output,\n\
    float scale_a,\n\
    float scale_b,\n\
    int offset\n\
    )\n\
{\n\
    int2 coord = (int2)(get_global_id(0), get_global_id(1));\n\
    float4 sum = read_imagef(a, coord) * scale_a;\n\
    sum = sum + read_imagef(b, coord) * scale_b + offset;\n\
    write_imagef(output, coord, sum);\n\
}\n\
__kernel void scaled_sum_I32I32toI32(\n\
    __read_only image2d_t   a,\n\
    __read_only image2d_t   b,\n\
    __write_only image2d_t  output,\n\
    float scale_a,\n\
    float scale_b,\n\
    int offset\n\
    )\n\
{\n\
    int2 coord = (int2)(get_global_id(0), get_global_id(1));\n\
    int4 sum = read_imagei(a, coord);\n\
    sum.x = convert_int_rte(sum.x * scale_a +\n\
                            read_imagei(b, coord).x * scale_b) + offset;\n\
    write_imagei(output, coord, sum);\n\
}\n";
  };

 protected:
  const char* kernel_float_ = "scaled_sum_F32F32toF32";
  const char* kernel_int_ = "scaled_sum_I32I32toI32";
  ParamTuple tuple_list_;
  bool integers_;
  static const char* kernel_name_;
  static int32_t kernel_id_;

  // function for setup output
  void SetupShapeInfor() override {
    outputs_size_[0].push_back(inputs_size_[0][0]);
    outputs_size_[0].push_back(inputs_size_[0][1]);
  }

  // function for kernel select and build option
  void SetupParams(std::vector<tim::vx::DataType> input_types,
                   std::string& build_option) override {
    if (!integers_ && input_types[0] == tim::vx::DataType::FLOAT32 &&
        input_types[1] == tim::vx::DataType::FLOAT32) {
      func_name_ = kernel_float_;
      build_option = "";
    } else {
      func_name_ = kernel_int_;
      build_option = "-cl-fast-relaxed-math";
    }
  }

  // function for kernel local size and gobal size
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override {
    dim = 3;
    local_size[0] = 0;
    local_size[1] = 0;
    local_size[2] = 0;

    gobal_size[0] = gpu_align(outputs_size_[0][0], 4);
    gobal_size[1] = gpu_align(outputs_size_[0][1], 4);
    gobal_size[2] = outputs_size_[0].size() > 2 ? outputs_size_[0][2] : 1;
  }

  std::shared_ptr<tim::vx::Operation> Clone(
      std::shared_ptr<tim::vx::Graph>& graph) const override {
    return graph->CreateOperation<ScaledSum>(
        integers_, this->tuple_list_, this->input_num_, this->output_num_);
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_SCALED_SUM_H_
