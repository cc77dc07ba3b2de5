// Tensors on memory behind a file descriptor, on every device.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/support/vx/vx_graph.h"
#include "tim/transform/layout_inference.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using vx::TensorAttribute;
using Values = std::vector<float>;

// Memory of `bytes` bytes with a descriptor, as another device's would be, and
// what this process sees of it by itself.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes = 4096) : bytes_(bytes) {
    fd_ = memfd_create("tim-cl test", MFD_CLOEXEC);
    EXPECT_GE(fd_, 0);
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes)), 0);
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    EXPECT_NE(memory_, MAP_FAILED);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    munmap(memory_, bytes_);
    Close();
  }

  int fd() const { return fd_; }
  vx::DmaBufferDesc desc() const { return {fd_}; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  void Store(const Values& values) {
    std::copy(values.begin(), values.end(), static_cast<float*>(memory_));
  }
  Values Load(size_t count) const {
    const auto* values = static_cast<const float*>(memory_);
    return Values(values, values + count);
  }

 private:
  size_t bytes_ = 0;
  int fd_ = -1;
  void* memory_ = nullptr;
};

// Relu from one buffer into another.
struct SharedRelu {
  SharedRelu(const std::shared_ptr<vx::Graph>& on, const SharedMemory& from,
             const SharedMemory& to)
      : graph(on),
        input(
            on->CreateTensor(Floats({3}, TensorAttribute::INPUT), from.desc())),
        output(
            on->CreateTensor(Floats({3}, TensorAttribute::OUTPUT), to.desc())) {
    auto relu = graph->CreateOperation<vx::ops::Relu>();
    (*relu).BindInput(input).BindOutput(output);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
};

class DmaBuffers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    if (context_ == nullptr) GTEST_SKIP() << "no device " << GetParam();
  }
  std::shared_ptr<vx::Context> context_;
};

TEST_P(DmaBuffers, RunsReadAndWriteThem) {
  SharedMemory from, to;
  SharedRelu g(context_->CreateGraph(), from, to);
  EXPECT_EQ(g.input->GetId(), 0u);
  EXPECT_EQ(g.output->GetId(), 1u);
  for (const float value : {1.0f, 2.0f}) {
    from.Store({value, -value, value});
    EXPECT_TRUE(g.input->FlushCacheForHandle()) << vx::LastError();
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_TRUE(g.output->InvalidateCacheForHandle()) << vx::LastError();
    EXPECT_EQ(to.Load(3), (Values{value, 0, value}));
  }
  EXPECT_EQ(to.Load(4)[3], 0) << "beyond the tensor";
}

TEST_P(DmaBuffers, OutliveTheirDescriptor) {
  SharedMemory from, to;
  SharedRelu g(context_->CreateGraph(), from, to);
  from.Close();
  to.Close();
  from.Store({1, -1, 1});
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(to.Load(3), (Values{1, 0, 1}));
}

TEST_P(DmaBuffers, OneBufferMayBeInputAndOutput) {
  SharedMemory memory;
  const auto graph = context_->CreateGraph();
  const auto in =
      graph->CreateTensor(Floats({4}, TensorAttribute::INPUT), memory.desc());
  const auto out =
      graph->CreateTensor(Floats({4}, TensorAttribute::OUTPUT), memory.desc());
  auto reverse =
      graph->CreateOperation<vx::ops::Reverse>(std::vector<int32_t>{0});
  (*reverse).BindInput(in).BindOutput(out);
  memory.Store({1, 2, 3, 4});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(memory.Load(4), (Values{4, 3, 2, 1}));
}

TEST_P(DmaBuffers, SwapsMoveThemToOtherTensors) {
  SharedMemory from, to;
  SharedRelu g(context_->CreateGraph(), from, to);
  from.Store({1, -1, 1});
  to.Store({5, -5, 5});
  ASSERT_TRUE(g.input->SwapHandle(g.output)) << vx::LastError();
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(from.Load(3), (Values{5, 0, 5}));
  // Memory of the client in its place, and back again.
  alignas(64) float mine[16] = {7, -7, 7};
  void* old = nullptr;
  ASSERT_TRUE(g.input->SwapHandle(mine, false, &old)) << vx::LastError();
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(from.Load(3), (Values{7, 0, 7}));
  ASSERT_TRUE(g.input->SwapHandle(old, false, nullptr)) << vx::LastError();
  EXPECT_EQ(g.input->map(), old);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(from.Load(3), (Values{5, 0, 5}));
}

TEST_P(DmaBuffers, AFileThatWasCutFailsTheRun) {
  SharedMemory from, to;
  SharedRelu g(context_->CreateGraph(), from, to);
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  ASSERT_EQ(ftruncate(from.fd(), 4), 0);
  EXPECT_FALSE(g.graph->Run());
  EXPECT_THAT(vx::LastError(), HasSubstr("cut to 4 bytes, 12 are needed"));
  EXPECT_EQ(g.graph->ErrorMessage(), vx::LastError());
  EXPECT_FALSE(g.input->CopyDataFromTensor(Values(3).data()));
  EXPECT_THAT(vx::LastError(), HasSubstr("tensor t0"));
  EXPECT_EQ(g.input->map(), nullptr);
  // It may grow again.
  ASSERT_EQ(ftruncate(from.fd(), 4096), 0);
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
}

INSTANTIATE_TEST_SUITE_P(Devices, DmaBuffers,
                         ::testing::Values("host", "opencl"));

TEST(DmaBuffer, CopiesAndMapsAreTheBuffer) {
  SharedMemory from, to;
  SharedRelu g(HostGraph(), from, to);
  Write<float>(g.input, {1, -2, 3});
  EXPECT_EQ(from.Load(3), (Values{1, -2, 3}));
  from.Store({4, -5, 6});
  EXPECT_EQ(Read(g.input), (Values{4, -5, 6}));
  auto* mapped = static_cast<float*>(g.input->map());
  ASSERT_NE(mapped, nullptr);
  mapped[1] = 8;
  g.input->unmap();
  EXPECT_EQ(from.Load(3), (Values{4, 8, 6}));
  ASSERT_TRUE(g.graph->Run()) << vx::LastError();
  EXPECT_EQ(static_cast<float*>(g.output->map(true))[1], 8);
  EXPECT_TRUE(g.output->CopyDataFromTensor(g.output->map())) << "to itself";
  EXPECT_FALSE(g.output->FlushCacheForHandle());
  EXPECT_FALSE(g.input->InvalidateCacheForHandle());
}

TEST(DmaBuffer, ThatMayOnlyBeReadServesInputs) {
  SharedMemory from, to;
  from.Store({1, -2, 3});
  const int fd = open(("/proc/self/fd/" + std::to_string(from.fd())).c_str(),
                      O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const auto graph = HostGraph();
  const vx::DmaBufferDesc read_only = {fd};
  const auto in =
      graph->CreateTensor(Floats({3}, TensorAttribute::INPUT), read_only);
  const auto out =
      graph->CreateTensor(Floats({3}, TensorAttribute::OUTPUT), to.desc());
  close(fd);
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(out);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(to.Load(3), (Values{1, 0, 3}));
  EXPECT_NE(in->map(), nullptr);
  EXPECT_FALSE(in->CopyDataToTensor(Values(3).data()));
  EXPECT_THAT(vx::LastError(), HasSubstr("may only be read"));
  // As an output it would be written.
  ASSERT_TRUE(in->SwapHandle(out));
  EXPECT_FALSE(graph->Run());
  EXPECT_THAT(vx::LastError(), HasSubstr("may only be read"));
}

TEST(DmaBuffer, LayoutInferenceKeepsIt) {
  SharedMemory from, to;
  SharedRelu g(HostGraph(), from, to);
  auto context = HostContext();
  auto inferred = transform::LayoutInference(g.graph, context);
  ASSERT_NE(inferred.first, nullptr) << vx::LastError();
  from.Store({1, -2, 3});
  ASSERT_TRUE(inferred.first->Run()) << vx::LastError();
  EXPECT_EQ(to.Load(3), (Values{1, 0, 3}));
}

TEST(DmaBuffer, OtherAttributesIgnoreTheDescriptor) {
  const auto graph = HostGraph();
  for (const TensorAttribute attribute :
       {TensorAttribute::CONSTANT, TensorAttribute::VARIABLE,
        TensorAttribute::TRANSIENT}) {
    const auto tensor =
        graph->CreateTensor(Floats({3}, attribute), vx::DmaBufferDesc{-1});
    EXPECT_NE(tensor->GetId(), 0xFFFFFFFFu) << vx::LastError();
  }
}

// A tensor that cannot be made, and a graph that says why.
void ExpectRefused(int64_t fd, const std::string& reason,
                   const vx::ShapeType& shape = {3}) {
  SharedMemory to;
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats(shape, TensorAttribute::INPUT),
                                      vx::DmaBufferDesc{fd});
  ASSERT_NE(in, nullptr);
  EXPECT_EQ(in->GetId(), 0xFFFFFFFFu);
  EXPECT_THAT(vx::LastError(), HasSubstr(reason));
  EXPECT_TRUE(graph->InputsTensor().empty());
  EXPECT_EQ(in->map(), nullptr);
  EXPECT_FALSE(in->CopyDataFromTensor(Values(3).data()));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(
      graph->CreateTensor(Floats({3}, TensorAttribute::OUTPUT), to.desc()));
  EXPECT_TRUE(CompileFailsWith(*graph, reason));
}

TEST(DmaBuffer, DescriptorsThatAreNotOpenAreRefused) {
  // Closed, and higher than what the test opens.
  SharedMemory memory;
  const int fd = fcntl(memory.fd(), F_DUPFD_CLOEXEC, 500);
  ASSERT_GE(fd, 500);
  close(fd);
  ExpectRefused(fd, "Bad file descriptor");
  ExpectRefused(-1, "file descriptor -1: Bad file descriptor");
  // More than a descriptor holds: a pointer in the wrong place.
  ExpectRefused((int64_t{1} << 32) + fd, "Bad file descriptor");
  ExpectRefused(std::numeric_limits<int64_t>::min(), "Bad file descriptor");
}

TEST(DmaBuffer, BuffersThatAreTooShortAreRefused) {
  const SharedMemory memory(11);
  ExpectRefused(memory.fd(), "it has 11 bytes, the tensor needs 12");
  const int empty = memfd_create("empty", MFD_CLOEXEC);
  ExpectRefused(empty, "it has 0 bytes, the tensor needs 12");
  close(empty);
}

TEST(DmaBuffer, WhatCannotBeMappedIsRefused) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  ExpectRefused(ends[0], "it has no size: Illegal seek");
  close(ends[0]);
  close(ends[1]);
  const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  ExpectRefused(folder, "the DMA buffer of file descriptor " +
                            std::to_string(folder) + ": it ");
  close(folder);
}

TEST(DmaBuffer, ShapesMustBeKnown) {
  const SharedMemory memory;
  const auto graph = HostGraph();
  const auto out =
      graph->CreateTensor(Floats({}, TensorAttribute::OUTPUT), memory.desc());
  EXPECT_EQ(out->GetId(), 0xFFFFFFFFu);
  EXPECT_THAT(vx::LastError(), HasSubstr("needs a shape"));
}

TEST(DmaBuffer, TensorsAndGraphsMayGoInAnyOrder) {
  SharedMemory from, to;
  auto graph = HostGraph();
  auto g = std::make_unique<SharedRelu>(graph, from, to);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  const auto input = g->input;
  g = nullptr;
  graph = nullptr;
  from.Store({1, 2, 3});
  EXPECT_EQ(Read(input), (Values{1, 2, 3}));
}

}  // namespace
}  // namespace tim::testing
