// Operators of one class name, kernel name and function name, with different
// kernels: in translation units and in shared libraries, on two threads.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "tests/support/twins/twins.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::Each;
using TensorPtr = std::shared_ptr<vx::Tensor>;
/// Binds a new operator of the graph to input and output.
using Adder =
    std::function<void(vx::Graph*, const TensorPtr&, const TensorPtr&)>;

struct Kind {
  float factor;
  Adder add;
};

Adder OfUnit(std::shared_ptr<vx::Operation> (*make)(vx::Graph*)) {
  return [make](vx::Graph* graph, const TensorPtr& x, const TensorPtr& y) {
    make(graph)->BindInput(x).BindOutput(y);
  };
}

Adder OfLibrary(const std::string& name) {
  const char* folder = std::getenv("TIMCL_TEST_PLUGINS");
  const std::string path =
      std::string(folder != nullptr ? folder : "tests/plugins") + "/" + name;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  using Function = void (*)(vx::Graph*, const TensorPtr*, const TensorPtr*);
  const auto add = reinterpret_cast<Function>(dlsym(library, "AddTwin"));
  if (add == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return [add](vx::Graph* graph, const TensorPtr& x, const TensorPtr& y) {
    add(graph, &x, &y);
  };
}

// Ten operators of each kind on one input, each with an output of its own.
void RunTenOfEach(const std::shared_ptr<vx::Context>& context,
                  const std::vector<Kind>& kinds, float value) {
  constexpr int kInstances = 10;
  const auto graph = context->CreateGraph();
  const auto x = graph->CreateTensor(Floats({5}, vx::INPUT));
  std::vector<TensorPtr> outputs;
  for (int i = 0; i < kInstances; ++i) {
    for (const Kind& kind : kinds) {
      outputs.push_back(graph->CreateTensor(Floats({5}, vx::OUTPUT)));
      kind.add(graph.get(), x, outputs.back());
    }
  }
  Write(x, std::vector<float>(5, value));
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_THAT(Read(outputs[i]), Each(kinds[i % kinds.size()].factor * value));
  }
}

void RunOnTwoThreads(const std::vector<Kind>& kinds) {
  constexpr int kRounds = 50;
  const auto context = ContextOn("opencl");
  const auto work = [&](float sign) {
    for (int round = 1; round <= kRounds; ++round) {
      RunTenOfEach(context, kinds, sign * static_cast<float>(round));
    }
  };
  std::thread other(work, -1.0f);
  work(1.0f);
  other.join();
}

TEST(CustomOpTwins, OfTwoTranslationUnitsKeepTheirKernels) {
  RunOnTwoThreads({{2, OfUnit(AddTwinOfTwo)}, {3, OfUnit(AddTwinOfThree)}});
}

TEST(CustomOpTwins, OfTwoSharedLibrariesKeepTheirKernels) {
  const Kind five = {5, OfLibrary("libtwin_of_five.so")};
  const Kind seven = {7, OfLibrary("libtwin_of_seven.so")};
  ASSERT_TRUE(five.add && seven.add);
  RunOnTwoThreads({five, seven, {2, OfUnit(AddTwinOfTwo)}});
}

}  // namespace
}  // namespace tim::testing
