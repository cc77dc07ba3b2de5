// CreateSharedConstant(): constants that are read where the client has them.
#include "tim/vx/shared_constant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tim/transform/layout_inference.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TensorSpec Floats(const ShapeType& shape, TensorAttribute attribute) {
  return TensorSpec(DataType::FLOAT32, shape, attribute);
}

class SharedConstantTest : public testing::Test {
 protected:
  /// `values` and the graph's constant on their memory.
  std::shared_ptr<Tensor> Share(std::vector<float> values) {
    const auto count = static_cast<uint32_t>(values.size());
    auto kept = std::make_shared<const std::vector<float>>(std::move(values));
    memory_ = kept;
    return CreateSharedConstant(
        graph_, Floats({count}, CONSTANT),
        std::shared_ptr<const void>(kept, kept->data()));
  }
  /// The result of `constant` + {1, 2, 3, 4}.
  std::vector<float> Sum(const std::shared_ptr<Tensor>& constant) {
    input_ = graph_->CreateTensor(Floats({4}, INPUT));
    output_ = graph_->CreateTensor(Floats({4}, OUTPUT));
    graph_->CreateOperation<ops::Add>()
        ->BindInputs({input_, constant})
        .BindOutput(output_);
    return Run();
  }
  std::vector<float> Run() {
    const std::vector<float> input = {1, 2, 3, 4};
    EXPECT_TRUE(input_->CopyDataToTensor(input.data()));
    EXPECT_TRUE(graph_->Compile() && graph_->Run()) << LastError();
    std::vector<float> output(4);
    EXPECT_TRUE(output_->CopyDataFromTensor(output.data()));
    return output;
  }

  std::shared_ptr<Context> context_ = Context::Create();
  std::shared_ptr<Graph> graph_ = context_->CreateGraph();
  std::weak_ptr<const std::vector<float>> memory_;
  std::shared_ptr<Tensor> input_;
  std::shared_ptr<Tensor> output_;
};

TEST_F(SharedConstantTest, IsReadWhereItLies) {
  const auto constant = Share({10, 20, 30, 40});
  const auto data = static_cast<TensorImpl&>(*constant).constant()->Data();
  ASSERT_TRUE(data.ok());
  EXPECT_EQ((*data)->bytes.data(),
            reinterpret_cast<const std::byte*>(memory_.lock()->data()));
  EXPECT_THAT(Sum(constant), ElementsAre(11, 22, 33, 44));
  std::vector<float> read(4);
  ASSERT_TRUE(constant->CopyDataFromTensor(read.data()));
  EXPECT_THAT(read, ElementsAre(10, 20, 30, 40));
}

// More than a block of packed constants: devices read it in place.
TEST_F(SharedConstantTest, MayBeLarge) {
  const uint32_t count = 1 << 19;
  const auto constant = Share(std::vector<float>(count, 2));
  const auto input = graph_->CreateTensor(Floats({count}, INPUT));
  const auto output = graph_->CreateTensor(Floats({count}, OUTPUT));
  graph_->CreateOperation<ops::Multiply>()
      ->BindInputs({input, constant})
      .BindOutput(output);
  const std::vector<float> ones(count, 1);
  ASSERT_TRUE(input->CopyDataToTensor(ones.data()));
  ASSERT_TRUE(graph_->Compile() && graph_->Run()) << LastError();
  std::vector<float> results(count);
  ASSERT_TRUE(output->CopyDataFromTensor(results.data()));
  EXPECT_THAT(results, Each(2));
}

TEST_F(SharedConstantTest, KeepsItsOwnerAsLongAsAGraphHasIt) {
  Sum(Share({1, 1, 1, 1}));
  EXPECT_FALSE(memory_.expired());
  input_ = output_ = nullptr;
  graph_ = nullptr;
  EXPECT_TRUE(memory_.expired());
}

TEST_F(SharedConstantTest, HasMemoryOfItsOwnOnceItIsWritten) {
  const auto constant = Share({0, 0, 0, 0});
  EXPECT_THAT(Sum(constant), ElementsAre(1, 2, 3, 4));
  const std::vector<float> other = {5, 5, 5, 5};
  ASSERT_TRUE(constant->CopyDataToTensor(other.data()));
  EXPECT_THAT(Run(), ElementsAre(6, 7, 8, 9));
}

TEST_F(SharedConstantTest, IsPartOfABinaryGraph) {
  Sum(Share({10, 20, 30, 40}));
  size_t size = 0;
  ASSERT_TRUE(graph_->CompileToBinary(nullptr, &size)) << LastError();
  std::vector<char> binary(size);
  ASSERT_TRUE(graph_->CompileToBinary(binary.data(), &size)) << LastError();
  graph_ = context_->CreateGraph();
  input_ = graph_->CreateTensor(Floats({4}, INPUT));
  output_ = graph_->CreateTensor(Floats({4}, OUTPUT));
  graph_->CreateOperation<ops::NBG>(binary.data(), size_t{1}, size_t{1})
      ->BindInput(input_)
      .BindOutput(output_);
  EXPECT_THAT(Run(), ElementsAre(11, 22, 33, 44));
}

TEST_F(SharedConstantTest, GoesThroughLayoutInference) {
  Sum(Share({10, 20, 30, 40}));
  auto native = transform::LayoutInference(graph_, context_);
  input_ = native.second[input_];
  output_ = native.second[output_];
  graph_ = native.first;
  EXPECT_THAT(Run(), ElementsAre(11, 22, 33, 44));
  EXPECT_FALSE(memory_.expired());
}

TEST_F(SharedConstantTest, MayLieAtAnyElement) {
  const auto kept = std::make_shared<const std::vector<float>>(
      std::vector<float>{0, 1, 2, 3, 4});
  const auto constant =
      CreateSharedConstant(graph_, Floats({4}, CONSTANT),
                           std::shared_ptr<const void>(kept, &(*kept)[1]));
  EXPECT_THAT(Sum(constant), ElementsAre(2, 4, 6, 8));
}

TEST_F(SharedConstantTest, RefusesWhatIsNoConstant) {
  const auto kept = std::make_shared<std::vector<float>>(8);
  const auto* bytes = reinterpret_cast<const char*>(kept->data());
  const auto fails = [&](const std::shared_ptr<Tensor>& tensor,
                         const char* reason) {
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->GetId(), 0xFFFFFFFFu);
    EXPECT_THAT(LastError(), HasSubstr(reason));
  };
  const auto at = [&](size_t offset) {
    return std::shared_ptr<const void>(kept, bytes + offset);
  };
  fails(CreateSharedConstant(graph_, Floats({4}, INPUT), at(0)),
        "CONSTANT tensors only");
  fails(CreateSharedConstant(graph_, Floats({}, CONSTANT), at(0)), "shape");
  fails(CreateSharedConstant(graph_, Floats({4}, CONSTANT), nullptr),
        "no data");
  fails(CreateSharedConstant(graph_, Floats({4}, CONSTANT), at(2)),
        "multiple of 4 bytes");
  fails(CreateSharedConstant(nullptr, Floats({4}, CONSTANT), at(0)),
        "a graph of this library");
}

}  // namespace
}  // namespace tim::vx
