// Calls of tim::values that run at once, beside the plans that they have: what
// a call costs beyond its run, and how near predicted times are to measured
// ones; run with --help.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/timing/interleaved.h"
#include "bench/timing/json_file.h"
#include "bench/timing/probes.h"
#include "bench/timing/program.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/compile_options.h"
#include "runtime/node_runner.h"
#include "runtime/ready_graph.h"
#include "tim/values/values.h"

namespace tim::bench {
namespace {

using values::Attributes;
using values::Node;
using values::Shape;
using values::Spec;
using values::Type;
using values::Value;

constexpr int64_t kElements = 1024;
constexpr char kHit[] = "eager call";
constexpr char kRun[] = "run of its plan";

std::string DeviceName() { return "opencl:0"; }

Value Numbers(const Shape& shape) {
  std::vector<float> data(static_cast<size_t>(shape.NumElements()));
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i * 7919 % 1009) / 504 - 1;
  }
  return values::Device(DeviceName())
      .FromHost(Spec(Type::kFloat32, shape), data.data());
}

Status StatusOf(bool ok) {
  return ok ? OkStatus() : FailedPrecondition(values::LastError());
}

// ---- What a call costs
// -------------------------------------------------------

/// Add of two tensors, compiled as a graph of one node.
class OneAdd {
 public:
  static Result<std::shared_ptr<OneAdd>> Create() {
    TIM_ASSIGN_OR_RETURN(const Devices devices, MeasuredDevices());
    auto made = std::make_shared<OneAdd>();
    runtime::NodeOperand operand;
    operand.desc.type = ir::DataType::kFloat32;
    operand.desc.shape = ir::Shape{kElements};
    const std::vector<runtime::NodeOperand> operands(2, operand);
    const std::vector<ir::TensorDesc> outputs(1);
    const ir::OpRegistry& operators = ops::BuiltinOperators();
    runtime::NodeCall call;
    call.name = "Add";
    call.schema = operators.Find("tim.Add");
    ir::AttributeMap attributes;
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*call.schema, &attributes));
    call.attributes = &attributes;
    call.inputs = operands;
    call.outputs = outputs;
    TIM_ASSIGN_OR_RETURN(ir::Graph graph, runtime::GraphOf(call));
    const auto options = runtime::CompileOptionsFor(devices);
    TIM_ASSIGN_OR_RETURN(const auto inferred,
                         compiler::Infer(std::move(graph), operators, options));
    TIM_ASSIGN_OR_RETURN(
        made->ready_,
        runtime::CompileAndPrepare(
            inferred, options,
            {.devices = devices,
             .store = runtime::ProgramCache::Create({}),
             .operators = {&operators, [](const ir::OpRegistry*) {}}}));
    return made;
  }

  Status Run() {
    const void* const in[] = {memory_[0].values, memory_[1].values};
    void* const out[] = {memory_[2].values};
    return ready_.context->Run(in, out, nullptr);
  }

 private:
  struct alignas(64) Memory {
    float values[kElements] = {};
  };
  Memory memory_[3];
  runtime::ReadyGraph ready_;
};

// ---- What is predicted
// -------------------------------------------------------

/// An operator, and operands of these shapes.
struct Case {
  std::string name;
  Node node;
  std::vector<Shape> inputs;

  std::vector<Spec> specs() const {
    std::vector<Spec> specs;
    for (const Shape& shape : inputs) specs.emplace_back(Type::kFloat32, shape);
    return specs;
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& op, const Attributes& attributes,
                       std::vector<Shape> inputs) {
    std::string name = op;
    for (const Shape& shape : inputs) name += " " + shape.ToString();
    cases.push_back({std::move(name), Node(op, attributes), std::move(inputs)});
  };
  for (const int64_t count : {1 << 10, 1 << 16, 1 << 20, 1 << 22}) {
    const Shape flat = {count};
    const Shape rows = {256, count / 256};
    add("tim.Relu", {}, {flat});
    add("tim.Tanh", {}, {flat});
    add("tim.Add", {}, {flat, flat});
    add("tim.Softmax", {{"axis", 0}, {"beta", 1.0}}, {rows});
    add("tim.ReduceSum",
        {{"axis", std::vector<int64_t>{0}}, {"keep_dims", false}}, {rows});
    add("tim.Transpose", {{"perm", std::vector<int64_t>{1, 0}}}, {rows});
    add("tim.Concat", {{"axis", 1}, {"input_cnt", 2}}, {rows, rows});
  }
  for (const int64_t size : {32, 128, 512, 1024}) {
    add("tim.Matmul", {}, {{size, size}, {size, size}});
    add("tim.Matmul", {}, {{size, 1}, {size, size}});
  }
  for (const int64_t side : {7, 28, 56, 112}) {
    const Shape image = {side, side, 32, 1};
    add("tim.Conv2d", {{"padding", "same"}}, {image, {3, 3, 32, 64}});
    add("tim.Conv2d", {}, {image, {1, 1, 32, 64}});
    add("tim.Conv2d", {{"padding", "same"}, {"multiplier", 1}},
        {image, {3, 3, 32, 1}});
    add("tim.Pool2d",
        {{"type", "max"},
         {"ksize", std::vector<int64_t>{2, 2}},
         {"stride", std::vector<int64_t>{2, 2}}},
        {image});
  }
  return cases;
}

// Places among the others, from the least; equal ones share theirs.
std::vector<double> RanksOf(const std::vector<double>& numbers) {
  std::vector<double> ranks;
  for (const double number : numbers) {
    const auto below = std::count_if(numbers.begin(), numbers.end(),
                                     [&](double x) { return x < number; });
    const auto equal = std::count(numbers.begin(), numbers.end(), number);
    ranks.push_back(static_cast<double>(below) +
                    static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

// Spearman's: 1 where both have the same order.
double RankCorrelation(const std::vector<double>& a,
                       const std::vector<double>& b) {
  const std::vector<double> x = RanksOf(a);
  const std::vector<double> y = RanksOf(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

Status Call(const Node& node, const std::vector<Value>& inputs) {
  const Value y = node.Forward(inputs);
  return StatusOf(y.ok() && y.Wait());
}

Result<nlohmann::json> Measure(Effort effort) {
  const values::Device device(DeviceName());
  TIM_RETURN_IF_ERROR(StatusOf(device.ok()));
  TIM_ASSIGN_OR_RETURN(const auto one, OneAdd::Create());
  const Value a = Numbers({kElements});
  std::vector<Timed> functions = {{kHit,
                                   [a, add = Node("tim.Add")] {
                                     return Call(add, {a, a});
                                   }},
                                  {kRun, [one] { return one->Run(); }}};
  const std::vector<Case> cases = Cases();
  std::vector<double> predicted;
  for (const Case& each : cases) {
    predicted.push_back(each.node.PredictMicroseconds(each.specs(), device));
    TIM_RETURN_IF_ERROR(StatusOf(predicted.back() >= 0));
    std::vector<Value> inputs;
    for (const Shape& shape : each.inputs) inputs.push_back(Numbers(shape));
    functions.push_back(
        {each.name, [node = each.node, inputs] { return Call(node, inputs); }});
  }
  for (const Timed& timed : functions) TIM_RETURN_IF_ERROR(timed.run());
  TIM_ASSIGN_OR_RETURN(auto seconds, MedianSeconds(functions, effort));
  nlohmann::json operators = nlohmann::json::array();
  std::vector<double> measured;
  for (size_t i = 0; i < cases.size(); ++i) {
    measured.push_back(1e6 * seconds[cases[i].name]);
    operators.push_back({{"name", cases[i].name},
                         {"predicted_us", predicted[i]},
                         {"measured_us", measured.back()}});
  }
  return nlohmann::json{
      {"device", device.name()},
      {"call_us", 1e6 * seconds[kHit]},
      {"run_us", 1e6 * seconds[kRun]},
      {"ratio", seconds[kHit] / seconds[kRun]},
      {"rank_correlation", RankCorrelation(predicted, measured)},
      {"operators", std::move(operators)}};
}

Status Execute(const ProgramOptions& options) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json figures, Measure(options.effort));
  std::printf("%s\n", figures.dump(2).c_str());
  return WriteJson(figures, options.json_path);
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app(
      "an eager Add of 1,024 floats beside a run of its plan, and the "
      "predicted "
      "and measured times of operators");
  return tim::bench::RunProgram(app, argc, argv, tim::bench::Execute);
}
