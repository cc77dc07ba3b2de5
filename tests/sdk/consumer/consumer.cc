// A client of the installed library: what a program needs from a binary of
// another compiler and language standard.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "scaled_sum.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"

const char* tim::vx::ops::ScaledSum::kernel_name_ = "ScaledSum";
int32_t tim::vx::ops::ScaledSum::kernel_id_ =
    -1 * (++tim::vx::ops::gobal_kernel_id_);

namespace {

using tim::vx::TensorAttribute;
using GraphPtr = std::shared_ptr<tim::vx::Graph>;

std::shared_ptr<tim::vx::Tensor> MakeTensor(const GraphPtr& graph,
                                            TensorAttribute attribute) {
  return graph->CreateTensor(tim::vx::TensorSpec(
      tim::vx::DataType::FLOAT32, tim::vx::ShapeType({4}), attribute));
}

bool RunsAGraph(GraphPtr graph) {
  auto input = MakeTensor(graph, TensorAttribute::INPUT);
  auto output = MakeTensor(graph, TensorAttribute::OUTPUT);
  auto relu = graph->CreateOperation<tim::vx::ops::Relu>();
  (*relu).BindInput(input).BindOutput(output);
  const std::vector<float> data = {-1.0f, 2.0f, -3.0f, 4.0f};
  const std::vector<float> expected = {0.0f, 2.0f, 0.0f, 4.0f};
  std::vector<float> result(4, -1.0f);
  return graph->Compile() &&
         input->CopyDataToTensor(data.data(), 4 * sizeof(float)) &&
         graph->Run() && output->CopyDataFromTensor(result.data()) &&
         result == expected;
}

class Throwing : public tim::vx::BuiltinOpOf<Throwing> {
 public:
  static const char* OpName() { return "Relu"; }
  explicit Throwing(tim::vx::Graph* graph) : BuiltinOpOf(graph, {}) {}

 private:
  void OnBindInputPostProc(const std::shared_ptr<tim::vx::Tensor>&,
                           int32_t) override {
    throw std::runtime_error("thrown by a client");
  }
};

// Throws into the library, which turns it into an error of Compile().
bool ExceptionsAreUnderstood(GraphPtr graph) {
  auto operation = graph->CreateOperation<Throwing>();
  operation->BindInput(MakeTensor(graph, TensorAttribute::INPUT));
  operation->BindOutput(MakeTensor(graph, TensorAttribute::OUTPUT));
  return !graph->Compile() &&
         graph->ErrorMessage().find("thrown by a client") != std::string::npos;
}

bool TypesAreKnown(GraphPtr graph) {
  graph->CreateOperation<tim::vx::ops::Relu>();
  tim::vx::Operation& relu = *graph->OpVector().back();
  const auto clone = relu.Clone(graph);
  tim::vx::Operation& copied = *clone;
  return dynamic_cast<tim::vx::ops::Relu*>(&copied) != nullptr &&
         dynamic_cast<tim::vx::ops::Softmax*>(&copied) == nullptr &&
         typeid(copied) == typeid(relu);
}

bool ErrorsBelongToTheirThread(GraphPtr graph) {
  auto tensor = MakeTensor(graph, TensorAttribute::INPUT);
  const std::string mine = tim::vx::LastError();
  bool empty_before = false;
  bool set_after = false;
  std::thread thread([&] {
    empty_before = tim::vx::LastError().empty();
    set_after =
        !tensor->CopyDataFromTensor(nullptr) && !tim::vx::LastError().empty();
  });
  thread.join();
  return empty_before && set_after && tim::vx::LastError() == mine;
}

bool SharesData(GraphPtr) {
  tim::vx::CompileOption& options = tim::vx::CompileOption::DefaultOptions;
  options.setRelaxMode(true);
  return options.isRelaxMode() && !options.setRelaxMode(false);
}

// out = 2 * a + 0.5 * b + 3, by the operator's kernel for T.
template <typename T>
bool RunsAScaledSum(GraphPtr graph, tim::vx::DataType type) {
  const tim::vx::ShapeType shape({3, 2});
  auto make = [&](TensorAttribute attribute) {
    return graph->CreateTensor(tim::vx::TensorSpec(type, shape, attribute));
  };
  auto a = make(TensorAttribute::INPUT);
  auto b = make(TensorAttribute::INPUT);
  auto out = make(TensorAttribute::OUTPUT);
  std::tuple<float, float, int> tuple_list(2.0f, 0.5f, 3);
  auto op = graph->CreateOperation<tim::vx::ops::ScaledSum>(
      type != tim::vx::DataType::FLOAT32, tuple_list);
  (*op).BindInputs({a, b}).BindOutputs({out});
  const std::vector<T> a_data = {1, 2, 3, 4, 5, 6};
  const std::vector<T> b_data = {2, 4, 6, 8, 10, 12};
  const std::vector<T> expected = {6, 9, 12, 15, 18, 21};
  std::vector<T> result(6);
  return graph->Compile() &&
         a->CopyDataToTensor(a_data.data(), 6 * sizeof(T)) &&
         b->CopyDataToTensor(b_data.data(), 6 * sizeof(T)) && graph->Run() &&
         out->CopyDataFromTensor(result.data()) && result == expected;
}

bool RunsSourcesOfTimVx(GraphPtr graph) {
  return RunsAScaledSum<float>(graph, tim::vx::DataType::FLOAT32) &&
         RunsAScaledSum<int32_t>(graph, tim::vx::DataType::INT32);
}

struct Check {
  const char* name;
  bool (*passes)(GraphPtr graph);
};
const Check kChecks[] = {
    {"runs a graph", RunsAGraph},
    {"runs a custom operator in the form of TIM-VX", RunsSourcesOfTimVx},
    {"exceptions are understood", ExceptionsAreUnderstood},
    {"types are known", TypesAreKnown},
    {"errors belong to their thread", ErrorsBelongToTheirThread},
    {"shares data", SharesData},
};

}  // namespace

int main() {
  auto context = tim::vx::Context::Create();
  int failed = 0;
  for (const Check& check : kChecks) {
    const bool passed = check.passes(context->CreateGraph());
    std::printf("%s: %s\n", check.name, passed ? "ok" : "FAILED");
    if (!passed) failed = 1;
  }
  return failed;
}
