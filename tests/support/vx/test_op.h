// A custom operator whose three functions are data.
#ifndef TIM_TESTS_SUPPORT_VX_TEST_OP_H_
#define TIM_TESTS_SUPPORT_VX_TEST_OP_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/graph.h"
#include "tim/vx/ops/custom_base.h"

namespace tim::testing {

/// What a TestOp is.  The defaults make it y = x of float32 tensors, one item
/// per element of output 0.
struct OpPlan {
  uint32_t inputs = 1;
  uint32_t outputs = 1;
  const char* name = "TestOp";
  std::string source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)];\n"
      "}\n";
  std::string function = "f";
  std::string options;
  std::vector<vx::ops::Param> scalars;

  using Op = vx::ops::CustomOpBase;
  using Sizes = std::vector<size_t>;
  /// At the end of the constructor, of a clone's, too.
  std::function<void(Op&)> construct;
  /// Called where set, in place of the defaults.
  std::function<void(Op&)> shapes;
  std::function<void(Op&, const std::vector<vx::DataType>&, std::string&)>
      params;
  std::function<void(Op&, uint32_t&, Sizes&, Sizes&)> enqueue;
  std::function<void(Op&)> types;
  using Inputs = std::vector<vx::ops::HostInput>;
  using Outputs = std::vector<vx::ops::HostOutput>;
  std::function<void(Op&, const Inputs&, const Outputs&)> host;
};

class TestOp : public vx::ops::CustomOpBase {
 public:
  static const char* OpName() { return "user.TestOp"; }
  TestOp(vx::Graph* graph, OpPlan plan,
         std::initializer_list<vx::NamedAttribute> attributes = {});

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override;

  bool HasHostEval() const override { return plan_.host != nullptr; }

 protected:
  void SetupTypes() override;
  void HostEval(const OpPlan::Inputs& inputs,
                const OpPlan::Outputs& outputs) override;
  void SetupShapeInfor() override;
  void SetupParams(std::vector<vx::DataType> input_types,
                   std::string& build_option) override;
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override;

 private:
  OpPlan plan_;
};

/// The scalars of a list, as a user's constructor makes them.
template <typename... Ts>
std::vector<vx::ops::Param> Scalars(Ts... values) {
  std::vector<vx::ops::Param> params;
  vx::ops::param_transform(std::tuple<Ts...>(values...), params);
  return params;
}

/// An enqueue function of constant sizes.
inline auto Sizes(uint32_t dim, OpPlan::Sizes global, OpPlan::Sizes local) {
  return [=](OpPlan::Op&, uint32_t& d, OpPlan::Sizes& g, OpPlan::Sizes& l) {
    d = dim;
    g = global;
    l = local;
  };
}

/// An empty graph on the first OpenCL device.
std::shared_ptr<vx::Graph> OpenClGraph();

/// x -> TestOp -> y, float32, on the first OpenCL device.
struct TestOpGraph {
  explicit TestOpGraph(const OpPlan& plan, const vx::ShapeType& shape = {4},
                       std::shared_ptr<vx::Graph> on = OpenClGraph());
  /// Writes x, runs and reads y.
  std::vector<float> Run(const std::vector<float>& values);

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> x;
  std::shared_ptr<vx::Tensor> y;
  std::shared_ptr<TestOp> op;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_TEST_OP_H_
