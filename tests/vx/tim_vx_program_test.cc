// Programs in the form that TIM-VX's users write: their kernels rely on global
// sizes that overrun, on reading what is __write_only, and on ids and names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/support/vx/vx_graph.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace vx {
namespace ops {
namespace {

// One item = one element; the global size is rounded up to a multiple of 4.
class Affine : public CustomOpBase {
 public:
  using ParamTuple = std::tuple<float, int, bool>;
  Affine(Graph* graph, ParamTuple tuple_list, uint32_t input_num = 1,
         uint32_t output_num = 1)
      : CustomOpBase(graph, input_num, output_num, Affine::kernel_id_,
                     Affine::kernel_name_),
        tuple_list_(tuple_list) {
    param_transform(tuple_list_, param_list_);
    kernel_resource_ =
        "__kernel void affine_F32toF32(__read_only image2d_t input,\n"
        "    __write_only image2d_t output, float scale, int offset,\n"
        "    int negate) {\n"
        "  int2 coord = (int2)(get_global_id(0), get_global_id(1));\n"
        "  float4 value = read_imagef(input, coord);\n"
        "  float result = value.x * scale + offset;\n"
        "  write_imagef(output, coord, negate ? -result : result);\n"
        "}\n"
        "__kernel void affine_U8toU8(__read_only image2d_t input,\n"
        "    __write_only image2d_t output, float scale, int offset,\n"
        "    int negate) {\n"
        "  int2 coord = (int2)(get_global_id(0), get_global_id(1));\n"
        "  uint4 value = read_imageui(input, coord);\n"
        "  value.x = convert_uint_sat(value.x * scale + offset);\n"
        "  write_imageui(output, coord, value);\n"
        "}\n";
  }

 protected:
  void SetupShapeInfor() override {
    outputs_size_[0].push_back(inputs_size_[0][0]);
    outputs_size_[0].push_back(inputs_size_[0][1]);
  }

  void SetupParams(std::vector<DataType> input_types,
                   std::string& build_option) override {
    if (input_types[0] == DataType::FLOAT32) {
      func_name_ = "affine_F32toF32";
      build_option = "-cl-mad-enable";
    } else {
      snprintf(name_, sizeof(name_), "affine_%s", "U8toU8");
      func_name_ = name_;
    }
  }

  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override {
    dim = 2;
    local_size[0] = 0;
    local_size[1] = 0;
    local_size[2] = 0;
    gobal_size[0] = gpu_align(outputs_size_[0][0], 4);
    gobal_size[1] = gpu_align(outputs_size_[0][1], 4);
  }

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Affine>(tuple_list_, input_num_, output_num_);
  }

 private:
  ParamTuple tuple_list_;
  char name_[32] = {};
  static const char* kernel_name_;
  static int32_t kernel_id_;
};

const char* Affine::kernel_name_ = "affine";
int32_t Affine::kernel_id_ = -1 * (++gobal_kernel_id_);

// A softmax of one row that keeps its sums in the output and reads them back.
class RowSoftmax : public CustomOpBase {
 public:
  using ParamTuple = std::tuple<int>;
  RowSoftmax(Graph* graph, ParamTuple tuple_list)
      : CustomOpBase(graph, 1, 1, RowSoftmax::kernel_id_,
                     RowSoftmax::kernel_name_),
        tuple_list_(tuple_list) {
    param_transform(tuple_list_, param_list_);
    kernel_resource_ =
        "__kernel void row_softmax(__read_only image2d_t input,\n"
        "    __write_only image2d_t output, int count) {\n"
        "  if (get_global_id(0) != 0 || get_global_id(1) != 0) return;\n"
        "  float sum = 0;\n"
        "  for (int i = 0; i < count; i++) {\n"
        "    float e = exp(read_imagef(input, (int2)(i, 0)).x);\n"
        "    sum += e;\n"
        "    write_imagef(output, (int2)(i, 0), e);\n"
        "  }\n"
        "  for (int i = 0; i < count; i++) {\n"
        "    float4 e = read_imagef(output, (int2)(i, 0));\n"
        "    write_imagef(output, (int2)(i, 0), e.x / sum);\n"
        "  }\n"
        "}\n";
  }

 protected:
  void SetupShapeInfor() override { outputs_size_[0] = {inputs_size_[0][0]}; }
  void SetupParams(std::vector<DataType> input_types,
                   std::string& build_option) override {
    (void)input_types;
    (void)build_option;
    func_name_ = "row_softmax";
  }
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override {
    dim = 3;
    local_size = {0, 0, 0};
    gobal_size = {gpu_align(1u, 4u), gpu_align(1u, 4u), 1};
  }
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<RowSoftmax>(tuple_list_);
  }

 private:
  ParamTuple tuple_list_;
  static const char* kernel_name_;
  static int32_t kernel_id_;
};

const char* RowSoftmax::kernel_name_ = "row_softmax";
int32_t RowSoftmax::kernel_id_ = -1 * (++gobal_kernel_id_);

// A graph on the default device, as such programs make it.
struct Program {
  std::shared_ptr<Context> context = Context::Create();
  std::shared_ptr<Graph> graph = context->CreateGraph();

  std::shared_ptr<Tensor> Make(DataType type, const ShapeType& shape,
                               TensorAttribute attribute) {
    return graph->CreateTensor(TensorSpec(type, shape, attribute));
  }
};

TEST(TimVxProgram, GlobalSizeThatOverrunsAndScalarTexels) {
  Program p;
  const auto in = p.Make(DataType::FLOAT32, {5, 3}, TensorAttribute::INPUT);
  const auto out = p.Make(DataType::FLOAT32, {5, 3}, TensorAttribute::OUTPUT);
  auto op = p.graph->CreateOperation<Affine>(
      std::tuple<float, int, bool>(2.0f, -1, true));
  (*op).BindInputs({in}).BindOutputs({out});
  std::vector<float> data(15), expected(15), result(15);
  for (int i = 0; i < 15; ++i) {
    data[i] = static_cast<float>(i);
    expected[i] = 1 - 2 * data[i];
  }
  ASSERT_TRUE(p.graph->Compile()) << LastError();
  ASSERT_TRUE(in->CopyDataToTensor(data.data(), 15 * sizeof(float)));
  ASSERT_TRUE(p.graph->Run()) << LastError();
  ASSERT_TRUE(out->CopyDataFromTensor(result.data()));
  EXPECT_EQ(result, expected);
}

TEST(TimVxProgram, FunctionNamePrintedIntoAMember) {
  Program p;
  const auto in = p.Make(DataType::UINT8, {3, 2}, TensorAttribute::INPUT);
  const auto out = p.Make(DataType::UINT8, {3, 2}, TensorAttribute::OUTPUT);
  p.graph->CreateOperation<Affine>(std::tuple<float, int, bool>(2.0f, 1, false))
      ->BindInput(in)
      .BindOutput(out);
  testing::Write<uint8_t>(in, {0, 1, 2, 3, 4, 100});
  ASSERT_TRUE(p.graph->Run()) << LastError();
  EXPECT_THAT(testing::Read<uint8_t>(out),
              ::testing::ElementsAre(1, 3, 5, 7, 9, 201));
}

TEST(TimVxProgram, SoftmaxThatReadsItsOutputEndsANetwork) {
  Program p;
  const auto in = p.Make(DataType::FLOAT32, {10, 1}, TensorAttribute::INPUT);
  const auto mid = p.Make(DataType::FLOAT32, {}, TensorAttribute::TRANSIENT);
  // The operator gives {10}: as many elements.
  const auto out = p.Make(DataType::FLOAT32, {10, 1}, TensorAttribute::OUTPUT);
  p.graph->CreateOperation<Affine>(std::tuple<float, int, bool>(0.5f, 0, false))
      ->BindInput(in)
      .BindOutput(mid);
  p.graph->CreateOperation<RowSoftmax>(std::tuple<int>(10))
      ->BindInput(mid)
      .BindOutput(out);
  std::vector<float> data(10);
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    data[i] = static_cast<float>(i);
    sum += std::exp(0.5 * i);
  }
  testing::Write(in, data);
  ASSERT_TRUE(p.graph->Run()) << LastError();
  const auto result = testing::Read(out);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(result[i], std::exp(0.5 * i) / sum, 1e-6);
  }
}

TEST(TimVxProgram, CounterOfKernelIdsIsTheFilesOwn) {
  EXPECT_EQ(gobal_kernel_id_, 2);  // of this file's two classes
}

}  // namespace
}  // namespace ops
}  // namespace vx
}  // namespace tim
