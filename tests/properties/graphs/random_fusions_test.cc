// Random graphs of what kernels fuse: sums, normalisations, products,
// reductions and functions of elements.  On the device they have the bits of
// their operators one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "tests/properties/properties.h"
#include "tests/support/data/network.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::ValueId;
using Ints = std::vector<int64_t>;

// Values of [count, rows], each of which a later operator may read, or several.
class FusibleGraph {
 public:
  explicit FusibleGraph(uint32_t seed) : rng_(seed), net_(seed) {
    type_ = Pick<DataType>({DataType::kFloat32, DataType::kFloat32,
                            DataType::kFloat32, DataType::kFloat16,
                            DataType::kUint8});
    count_ = Pick<int64_t>({7, 32, 65});
    rows_ = Pick<int64_t>({1, 5, 40});
    for (int i = 0; i < 3; ++i) rows_of_.push_back(Input({count_, rows_}));
    for (int step = 4 + Below(8); step > 0; --step) AddStep();
    for (const ValueId id : rows_of_) {
      if (net_.graph().value(id).uses.empty() || Below(8) == 0) {
        net_.Output(id);
      }
    }
  }

  Network& net() { return net_; }

 private:
  int Below(int limit) { return static_cast<int>(rng_() % limit); }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[Below(static_cast<int>(from.size()))];
  }

  ir::TensorDesc DescOf(const Ints& shape) const {
    return type_ == DataType::kUint8 ? Desc(type_, shape, 0.05f, 120)
                                     : Desc(type_, shape);
  }
  ValueId Input(const Ints& shape) { return net_.Input(DescOf(shape)); }
  ValueId Op(const std::string& name, ir::AttributeMap attributes,
             std::vector<ValueId> inputs) {
    const ir::TensorDesc desc = DescOf({1});
    return net_.Op(name, std::move(attributes), std::move(inputs), desc.type,
                   desc.quantization);
  }

  // One of the last few: chains are longer so.
  ValueId AnyRows() {
    const int size = static_cast<int>(rows_of_.size());
    return rows_of_[size - 1 - Below(std::min(size, 4))];
  }
  // An operand of as many elements, or one that is broadcast.
  ValueId Beside() {
    switch (Below(5)) {
      case 0:
        return Input({count_});
      case 1:
        return net_.Constant(DescOf({count_}));
      case 2:
        return Input({1, rows_});
      default:
        return AnyRows();
    }
  }

  ValueId Norm(ValueId x) {
    const ir::AttributeMap along = {{"axis", int64_t{0}}, {"eps", 1e-4}};
    const auto parameter = [&] { return net_.Constant(F32({count_})); };
    switch (Below(3)) {
      case 0:
        return Op("LayerNormalization", along, {x, parameter(), parameter()});
      case 1:
        return Op("RmsNormalization", along, {x, parameter()});
      default:
        return Op("L2Normalization", {{"axis", int64_t{0}}}, {x});
    }
  }
  ValueId Function(ValueId x) {
    return Op(Pick<std::string>({"Relu", "Swish", "Gelu", "Tanh", "Sigmoid"}),
              {}, {x});
  }
  // Rows again, so that others may read them.
  ValueId Reduced(ValueId x) {
    const int64_t axis = Below(2);
    const ValueId sums =
        Op(Pick<std::string>({"ReduceSum", "ReduceMean", "ReduceMax"}),
           {{"axis", Ints{axis}}, {"keep_dims", true}}, {x});
    return Op("Sub", {}, {AnyRows(), sums});
  }

  void AddStep() {
    const ValueId x = AnyRows();
    switch (Below(6)) {
      case 0:
        return rows_of_.push_back(Norm(Op("Add", {}, {x, Beside()})));
      case 1:
        return rows_of_.push_back(Function(Norm(Op("Add", {}, {Beside(), x}))));
      case 2:
        return rows_of_.push_back(Function(Norm(x)));
      case 3:
        return rows_of_.push_back(Reduced(Op("Multiply", {}, {x, Beside()})));
      case 4:
        return rows_of_.push_back(
            Op(Pick<std::string>({"Add", "Multiply"}), {}, {x, Beside()}));
      default:
        return rows_of_.push_back(Function(x));
    }
  }

  std::mt19937 rng_;
  Network net_;
  DataType type_ = DataType::kFloat32;
  int64_t count_ = 1;
  int64_t rows_ = 1;
  std::vector<ValueId> rows_of_;
};

// Adds how often nodes of the plan are what `names` has.
void CountFused(const ir::Graph& graph, std::map<std::string, int>* names) {
  compiler::CompileOptions options;
  options.devices = {ir::DeviceInfo(), TestDevice()};
  options.devices[0].runs_eval = true;
  const auto plan = compiler::Compile(graph, ops::BuiltinOperators(), options);
  ASSERT_OK(plan);
  for (const ir::Decision& decision : plan->decisions) {
    const auto found = names->find(decision.node);
    if (found != names->end()) ++found->second;
  }
}

void CheckRun(const TestNode& node, std::mt19937& rng) {
  const auto inputs = RandomInputs(node.graph, rng);
  const auto expected = Evaluated(node.graph, inputs);
  ASSERT_OK(expected);
  const auto actual = RunCompiled(node, inputs);
  ASSERT_OK(actual);
  for (size_t i = 0; i < expected->size(); ++i) {
    ASSERT_OK(CompareTensors((*expected)[i], (*actual)[i])) << "output " << i;
  }
}

TEST(RandomFusions, HaveTheBitsOfTheOperators) {
  const uint32_t first = NodesOfThisRun().seed;
  // Programs cost most.
  const int graphs_that_run = RunsLongTests() ? 2000 : 8;
  const int graphs = std::max(graphs_that_run, 100);
  std::mt19937 rng(first);
  std::map<std::string, int> fused = {{"Add+LayerNormalization", 0},
                                      {"Add+RmsNormalization+Swish", 0},
                                      {"L2Normalization+Relu", 0},
                                      {"Multiply+ReduceSum", 0},
                                      {"Multiply+ReduceMean", 0}};
  for (int i = 0; i < graphs; ++i) {
    FusibleGraph graph(static_cast<uint32_t>(rng()));
    TestNode node;
    node.graph = graph.net().graph();
    ASSERT_OK(compiler::InferGraph(&node.graph, ops::BuiltinOperators()));
    SCOPED_TRACE(StrCat("TIMCL_TEST_SEED=", first, ", graph ", i, "\n",
                        node.graph.Dump()));
    CountFused(node.graph, &fused);
    if (i < graphs_that_run) CheckRun(node, graph.net().rng());
    if (HasFatalFailure()) return;
  }
  for (const auto& [name, count] : fused) {
    EXPECT_GT(count, 0) << name << " is in no graph";
  }
}

}  // namespace
}  // namespace tim::testing
