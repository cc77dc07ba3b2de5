// OUTPUT tensors that hold no result yet: whatever reads them fails and says
// why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/vx/inferred_graph.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<float>;

constexpr char kNoRun[] = "no Run() has written it";
constexpr char kFailedRun[] = "the graph's last Run() has failed";

// All that reads, from the one tensor.
void ExpectUnreadable(const TensorPtr& tensor, const std::string& reason) {
  Values values(4, -7);
  EXPECT_FALSE(tensor->CopyDataFromTensor(values.data()));
  EXPECT_THAT(vx::LastError(), HasSubstr(reason));
  EXPECT_THAT(values, ElementsAre(-7, -7, -7, -7));
  const std::string file = ::testing::TempDir() + "unwritten.txt";
  unlink(file.c_str());
  EXPECT_FALSE(tensor->SaveTensorToTextByFp32(file));
  EXPECT_NE(access(file.c_str(), F_OK), 0);
  EXPECT_EQ(tensor->ConvertTensorToData(nullptr), nullptr);
  EXPECT_EQ(tensor->ConvertTensorToFloat32Data(), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr(reason));
  if (tensor->GetSpec().attr_ != vx::OUTPUT) return;
  EXPECT_EQ(tensor->map(true), nullptr);
  EXPECT_FALSE(tensor->InvalidateCacheForHandle());
  EXPECT_THAT(vx::LastError(), HasSubstr(reason));
}

void ExpectReadable(const TensorPtr& tensor, const Values& content) {
  EXPECT_EQ(Read(tensor), content);
  EXPECT_TRUE(tensor->InvalidateCacheForHandle()) << vx::LastError();
  EXPECT_NE(tensor->map(true), nullptr) << vx::LastError();
  float* const real = tensor->ConvertTensorToFloat32Data();
  ASSERT_NE(real, nullptr) << vx::LastError();
  std::free(real);
}

TEST(UnwrittenOutput, IsReadableAfterARun) {
  const ReluGraph g;
  ExpectUnreadable(g.output, kNoRun);
  EXPECT_THAT(g.graph->ErrorMessage(), HasSubstr(kNoRun));
  EXPECT_THAT(vx::LastError(), HasSubstr("tensor t1"));
  ASSERT_TRUE(g.graph->Compile());
  ExpectUnreadable(g.output, kNoRun);
  ASSERT_TRUE(g.graph->Run());
  ExpectReadable(g.output, {0, 0, 0, 0});
}

TEST(UnwrittenOutput, IsReadableWhereTheClientWrote) {
  const auto graph = HostGraph();
  const Values given = {1, 2, 3, 4};
  ExpectReadable(graph->CreateTensor(Floats({4}, vx::OUTPUT), given.data()),
                 given);
  const auto copied = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  Write(copied, given);
  ExpectReadable(copied, given);
  // What is mapped may be written.
  const auto mapped = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  auto* const memory = static_cast<float*>(mapped->map());
  ASSERT_NE(memory, nullptr);
  std::copy(given.begin(), given.end(), memory);
  mapped->unmap();
  ExpectReadable(mapped, given);
}

TEST(UnwrittenOutput, IsReadableOnMemoryOfTheClient) {
  const auto graph = HostGraph();
  alignas(64) std::array<float, 4> own = {1, 2, 3, 4};
  ExpectReadable(graph->CreateIOTensor(Floats({4}, vx::OUTPUT), own.data()),
                 {1, 2, 3, 4});
  ExpectUnreadable(graph->CreateIOTensor(Floats({4}, vx::OUTPUT)), kNoRun);
  const auto swapped = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  ASSERT_TRUE(swapped->SwapHandle(own.data(), false, nullptr));
  ExpectReadable(swapped, {1, 2, 3, 4});
  const int fd = memfd_create("output", 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  ExpectReadable(
      graph->CreateTensor(Floats({4}, vx::OUTPUT), vx::DmaBufferDesc{fd}),
      {0, 0, 0, 0});
  close(fd);
}

// Content goes with the memory; an INPUT is always readable.
TEST(UnwrittenOutput, ContentIsSwapped) {
  const ReluGraph g;
  Write<float>(g.input, {-1, 2, -3, 4});
  ASSERT_TRUE(g.input->SwapHandle(g.output));
  ExpectReadable(g.output, {-1, 2, -3, 4});
  EXPECT_THAT(Read(g.input), ElementsAre(0, 0, 0, 0));
  ASSERT_TRUE(g.input->SwapHandle(g.output));
  ExpectUnreadable(g.output, kNoRun);
}

TEST(UnwrittenOutput, StaysSoWhereNoOperationWritesIt) {
  const ReluGraph g;
  const auto idle = g.graph->CreateTensor(Floats({4}, vx::OUTPUT));
  ASSERT_TRUE(g.graph->Run());
  ExpectReadable(g.output, {0, 0, 0, 0});
  ExpectUnreadable(idle, "an operation writes it");
}

TEST(UnwrittenOutput, OfUnknownShape) {
  const auto graph = HostGraph();
  const auto input = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto output = graph->CreateTensor(Floats({}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>())
      .BindInput(input)
      .BindOutput(output);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  ExpectUnreadable(output, kNoRun);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  ExpectReadable(output, {0, 0, 0, 0});
}

TEST(UnwrittenOutput, HasNoContentAfterAFailedRun) {
  const ReluGraph g;
  alignas(64) std::array<float, 4> own = {1, 2, 3, 4};
  const auto clients =
      g.graph->CreateIOTensor(Floats({4}, vx::OUTPUT), own.data());
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  ExpectReadable(g.output, {0, 0, 0, 0});
  g.graph->CreateOperation<vx::ops::Concat>(5u, 2)->BindInputs(
      {g.input, g.input});
  ASSERT_FALSE(g.graph->Run());
  ExpectUnreadable(g.output, kFailedRun);
  ExpectReadable(clients, {1, 2, 3, 4});
  Write<float>(g.output, {5, 6, 7, 8});
  ExpectReadable(g.output, {5, 6, 7, 8});
}

TEST(UnwrittenOutput, ComesBackWithARunThatSucceeds) {
  const auto fake = std::make_shared<FakeDevice>();
  const auto context = vx::CreateContext({device::CreateHostDevice(), fake});
  const ReluGraph g({4}, context->CreateGraph());
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  fake->LoseAtStep(1);
  ASSERT_FALSE(g.graph->Run());
  ExpectUnreadable(g.output, kFailedRun);
  fake->ResetLost();
  const ReluGraph other({4}, context->CreateGraph());
  fake->FailAllocationsAfter(0);
  ASSERT_FALSE(other.graph->Run());
  ExpectUnreadable(other.output, kFailedRun);
  fake->FailAllocationsAfter(1 << 30);
  ASSERT_TRUE(other.graph->Run()) << vx::LastError();
  ExpectReadable(other.output, {0, 0, 0, 0});
}

TEST(UnwrittenOutput, OfExecutables) {
  const ReluGraph g;
  const auto executor = DeviceWithCores(1)->CreateExecutor();
  const auto executable = executor->Compile(g.graph);
  ASSERT_NE(executable, nullptr) << vx::LastError();
  const auto input = executable->AllocateTensor(g.input->GetSpec());
  const auto output = executable->AllocateTensor(g.output->GetSpec());
  executable->SetInput(input);
  executable->SetOutput(output);
  Values values(4);
  EXPECT_FALSE(output->CopyDataFromTensor(values.data()));
  EXPECT_THAT(vx::LastError(), HasSubstr(kNoRun));
  ExpectUnreadable(output->GetTensor(), kNoRun);
  ASSERT_TRUE(executable->Trigger()) << vx::LastError();
  EXPECT_TRUE(output->CopyDataFromTensor(values.data())) << vx::LastError();
}

// What LayoutInference() copies has content where its source has.
TEST(UnwrittenOutput, OfInferredGraphs) {
  const ReluGraph g;
  {
    const InferredGraph inferred(g.graph);
    ExpectUnreadable(inferred[g.output], kNoRun);
  }
  ASSERT_TRUE(g.graph->Run());
  const InferredGraph inferred(g.graph);
  ExpectReadable(inferred[g.output], {0, 0, 0, 0});
}

TEST(ConstantWithoutData, IsUnreadable) {
  const auto constant = HostGraph()->CreateTensor(Floats({4}, vx::CONSTANT));
  ExpectUnreadable(constant, "was created without data");
  Write<float>(constant, {1, 2, 3, 4});
  EXPECT_THAT(Read(constant), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace tim::testing
