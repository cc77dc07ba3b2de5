// What programs that were compiled against the headers depend on: sizes and
// virtual functions of the public classes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tim/transform/permute_vector.h"
#include "tim/vx/builtin_op.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/composed_op.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops/custom_base.h"
#include "tim/vx/platform/native.h"
#include "tim/vx/tensor.h"

namespace tim::testing {
namespace {

// Its own function stands behind those of Base.
template <typename Base>
struct Behind : Base {
  virtual void Last();
};

// Of the Itanium C++ ABI: a pointer to a virtual function is its place + 1.
template <typename Class>
size_t VirtualFunctions() {
  const auto last = &Behind<Class>::Last;
  size_t place = 0;
  std::memcpy(&place, &last, sizeof(place));
  return (place - 1) / sizeof(void*);
}

struct Layout {
  const char* name;
  size_t size;
  size_t functions;  // a destructor counts twice
  size_t expected_size;
  size_t expected_functions;
};

#define TIM_LAYOUT(type, size, functions) \
  { #type, sizeof(type), VirtualFunctions < type>(), size, functions }
#define TIM_PLAIN_LAYOUT(type, size) \
  { #type, sizeof(type), 0, size, 0 }

TEST(PublicClasses, AreLaidOutAsInThisMajorVersion) {
#if !defined(__GXX_ABI_VERSION) || !defined(__LP64__) || \
    !defined(__GLIBCXX__) || !_GLIBCXX_USE_CXX11_ABI ||  \
    defined(_GLIBCXX_DEBUG) || !defined(__x86_64__)
  GTEST_SKIP() << "the numbers are those of libstdc++ on x86-64";
#else
  const Layout layouts[] = {
      TIM_LAYOUT(vx::Context, 8, 8),
      TIM_LAYOUT(vx::Graph, 32, 22),
      TIM_LAYOUT(vx::Tensor, 8, 23),
      TIM_LAYOUT(vx::Operation, 16, 5),
      TIM_LAYOUT(vx::BuiltinOp, 16, 5),
      TIM_LAYOUT(vx::ComposedOp, 16, 6),
      TIM_LAYOUT(vx::ops::CustomOpBase, 128, 12),
      TIM_LAYOUT(transform::IPermuteVector, 8, 11),
      TIM_LAYOUT(transform::PermuteVector<4>, 24, 11),
      TIM_LAYOUT(vx::platform::IDevice, 16, 9),
      TIM_LAYOUT(vx::platform::IExecutor, 72, 10),
      TIM_LAYOUT(vx::platform::IExecutable, 120, 13),
      TIM_LAYOUT(vx::platform::ITensorHandle, 24, 6),
      TIM_LAYOUT(vx::platform::NativeDevice, 40, 9),
      TIM_LAYOUT(vx::platform::NativeExecutor, 96, 10),
      TIM_LAYOUT(vx::platform::NativeExecutable, 128, 13),
      TIM_LAYOUT(vx::platform::ExecutableSet, 144, 13),
      TIM_LAYOUT(vx::platform::NativeTensorHandle, 176, 6),
      TIM_PLAIN_LAYOUT(vx::Quantization, 64),
      TIM_PLAIN_LAYOUT(vx::TensorSpec, 136),
      TIM_PLAIN_LAYOUT(vx::DmaBufferDesc, 8),
      TIM_PLAIN_LAYOUT(vx::CompileOption, 8),
      TIM_PLAIN_LAYOUT(vx::NamedAttribute, 136),
      TIM_PLAIN_LAYOUT(vx::ops::Param, 16),
      TIM_PLAIN_LAYOUT(vx::ops::KernelArg, 8),
      TIM_PLAIN_LAYOUT(vx::ops::HostInput, 144),
      TIM_PLAIN_LAYOUT(vx::ops::HostOutput, 144),
      TIM_PLAIN_LAYOUT(vx::ops::PermutedOperands, 48),
  };
  for (const Layout& layout : layouts) {
    EXPECT_EQ(layout.size, layout.expected_size)
        << layout.name << ": a new size needs a new major version";
    EXPECT_EQ(layout.functions, layout.expected_functions)
        << layout.name << ": a virtual function needs a new major version";
  }
#endif
}

}  // namespace
}  // namespace tim::testing
