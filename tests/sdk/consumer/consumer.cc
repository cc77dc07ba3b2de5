// A client of the installed library: what a program needs from a binary of
// another compiler and language standard.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "tim/vx/compile_option.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"

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

struct Check {
  const char* name;
  bool (*passes)(GraphPtr graph);
};
const Check kChecks[] = {
    {"runs a graph", RunsAGraph},
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
