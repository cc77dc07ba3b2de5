// tim::lite: binary graphs on memory of the caller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/aligned_memory.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"

namespace tim::testing {
namespace {

using lite::Execution;
using lite::Handle;
using ::testing::HasSubstr;
using Values = std::vector<float>;

// difference = a - b, positive = relu(a - b); four floats each.
std::vector<char> Difference() {
  const auto graph = HostGraph();
  const auto a = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto b = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto difference = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  const auto positive = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Sub>())
      .BindInputs({a, b})
      .BindOutput(difference);
  (*graph->CreateOperation<vx::ops::Relu>())
      .BindInput(difference)
      .BindOutput(positive);
  return ToBinary(*graph);
}

// Memory for four floats at a page's start, or `shift` bytes behind it.
class Block {
 public:
  explicit Block(size_t shift = 0)
      : memory_(AllocateAligned(4096, 4096)),
        bytes_(reinterpret_cast<uint8_t*>(memory_.get()) + shift) {
    Set({0, 0, 0, 0});
  }
  uint8_t* bytes() { return bytes_; }
  void Set(const Values& values) { std::memcpy(bytes_, values.data(), 16); }
  Values Get() const {
    Values values(4);
    std::memcpy(values.data(), bytes_, 16);
    return values;
  }

 private:
  AlignedMemory memory_;
  uint8_t* bytes_;
};

struct Bound {
  explicit Bound(const std::vector<char>& binary, size_t shift = 0)
      : run(Execution::Create(binary.data(), binary.size())),
        a(shift),
        b(shift),
        difference(shift),
        positive(shift) {
    if (run == nullptr) return;
    in = {run->CreateInputHandle(0, a.bytes(), 16),
          run->CreateInputHandle(1, b.bytes(), 16)};
    out = {run->CreateOutputHandle(0, difference.bytes(), 16),
           run->CreateOutputHandle(1, positive.bytes(), 16)};
    run->BindInputs(in).BindOutputs(out);
  }

  std::shared_ptr<Execution> run;
  Block a, b, difference, positive;
  std::vector<std::shared_ptr<Handle>> in, out;
};

void ExpectRuns(Bound& bound) {
  ASSERT_NE(bound.run, nullptr) << vx::LastError();
  bound.a.Set({1, 2, 3, 4});
  bound.b.Set({4, 3, 2, 1});
  for (const auto& handle : bound.in) EXPECT_TRUE(handle->Flush());
  ASSERT_TRUE(bound.run->Trigger()) << vx::LastError();
  for (const auto& handle : bound.out) EXPECT_TRUE(handle->Invalidate());
  EXPECT_EQ(bound.difference.Get(), (Values{-3, -1, 1, 3}));
  EXPECT_EQ(bound.positive.Get(), (Values{0, 0, 1, 3}));
}

TEST(LiteExecution, RunsOnTheCallersMemory) {
  const std::vector<char> binary = Difference();
  Bound bound(binary);
  ExpectRuns(bound);
  bound.a.Set({0, 0, 0, 9});
  ASSERT_TRUE(bound.run->Trigger());
  EXPECT_EQ(bound.positive.Get(), (Values{0, 0, 0, 8}));
}

TEST(LiteExecution, UnalignedMemoryWorks) {
  std::vector<char> binary = Difference();
  Bound memory(binary, 4);
  ExpectRuns(memory);
  // The binary itself, too.
  binary.insert(binary.begin(), 'x');
  const std::vector<char> shifted = binary;
  auto run = Execution::Create(shifted.data() + 1, shifted.size() - 1);
  EXPECT_NE(run, nullptr) << vx::LastError();
}

TEST(LiteExecution, AnOutputMayLieOnAnInput) {
  const std::vector<char> binary = Difference();
  Bound bound(binary);
  ASSERT_NE(bound.run, nullptr);
  bound.run->UnBindOutput(bound.out[0]);
  const auto on_input = bound.run->CreateOutputHandle(0, bound.a.bytes(), 16);
  bound.run->BindOutputs({on_input});
  bound.a.Set({5, 5, 5, 5});
  bound.b.Set({1, 2, 3, 4});
  ASSERT_TRUE(bound.run->Trigger()) << vx::LastError();
  EXPECT_EQ(bound.a.Get(), (Values{4, 3, 2, 1}));
}

TEST(LiteExecution, BoundPlacesStaySoUntilUnbound) {
  const std::vector<char> binary = Difference();
  Bound bound(binary);
  ASSERT_NE(bound.run, nullptr);
  Block other;
  other.Set({100, 100, 100, 100});
  const auto handle = bound.run->CreateInputHandle(0, other.bytes(), 16);
  bound.run->BindInputs({handle});
  EXPECT_THAT(vx::LastError(), HasSubstr("input 0 is bound already"));
  bound.run->BindInputs({bound.in[0]});
  EXPECT_THAT(vx::LastError(), HasSubstr("input 0 is bound already"));
  ExpectRuns(bound);
  bound.run->UnBindInput(bound.in[0]).BindInputs({handle});
  ASSERT_TRUE(bound.run->Trigger()) << vx::LastError();
  EXPECT_EQ(bound.difference.Get(), (Values{96, 97, 98, 99}));
  bound.run->UnBindInput(bound.in[0]);
  EXPECT_THAT(vx::LastError(), HasSubstr("input 0 is not bound"));
  bound.run->UnBindInput(handle).BindInputs({bound.in[0]});
  ExpectRuns(bound);
}

TEST(LiteExecution, EverythingMustBeBound) {
  const std::vector<char> binary = Difference();
  Bound bound(binary);
  ASSERT_NE(bound.run, nullptr);
  bound.run->UnBindInput(bound.in[1]);
  EXPECT_FALSE(bound.run->Trigger());
  EXPECT_THAT(vx::LastError(), HasSubstr("input 1 is not bound"));
  bound.run->BindInputs({bound.in[1]}).UnBindOutput(bound.out[0]);
  EXPECT_FALSE(bound.run->Trigger());
  EXPECT_THAT(vx::LastError(), HasSubstr("output 0 is not bound"));
  bound.run->BindOutputs({bound.out[0]});
  ExpectRuns(bound);
}

TEST(LiteExecution, BadHandlesAreRefused) {
  const std::vector<char> binary = Difference();
  Bound bound(binary), other(binary);
  ASSERT_NE(bound.run, nullptr);
  Block block;
  EXPECT_EQ(bound.run->CreateInputHandle(2, block.bytes(), 16), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("no input 2: the binary graph has 2"));
  EXPECT_EQ(bound.run->CreateOutputHandle(~0u, block.bytes(), 16), nullptr);
  EXPECT_EQ(bound.run->CreateInputHandle(0, nullptr, 16), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("is null"));
  for (const size_t size : {0, 15, 17}) {
    EXPECT_EQ(bound.run->CreateOutputHandle(0, block.bytes(), size), nullptr);
    EXPECT_THAT(vx::LastError(), HasSubstr("takes 16 bytes"));
  }
  bound.run->BindInputs({nullptr});
  EXPECT_THAT(vx::LastError(), HasSubstr("the handle is null"));
  bound.run->BindInputs({bound.out[0]});
  EXPECT_THAT(vx::LastError(), HasSubstr("no input of this execution"));
  bound.run->BindOutputs({other.out[0]});
  EXPECT_THAT(vx::LastError(), HasSubstr("no output of this execution"));
  ExpectRuns(bound);
}

TEST(LiteExecution, HandlesMayOutliveIt) {
  const std::vector<char> binary = Difference();
  std::vector<std::shared_ptr<Handle>> handles;
  {
    Bound bound(binary);
    handles = bound.in;
  }
  EXPECT_TRUE(handles[0]->Flush());
}

void ExpectStatesAsWritten(const std::shared_ptr<vx::Graph>& graph) {
  const auto state = graph->CreateTensor(Floats({4}, vx::VARIABLE));
  const auto x = graph->CreateTensor(Floats({4}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({4}, vx::OUTPUT));
  graph->CreateTensor(Floats({4}, vx::INPUT));  // of no use
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({state, x})
      .BindOutput(state);
  (*graph->CreateOperation<vx::ops::DataConvert>())
      .BindInput(state)
      .BindOutput(y);
  Write<float>(state, {1, 2, 3, 4});
  const std::vector<char> binary = ToBinary(*graph);
  const auto run = Execution::Create(binary.data(), binary.size());
  ASSERT_NE(run, nullptr) << vx::LastError();
  Block in, out;
  run->BindInputs({run->CreateInputHandle(0, in.bytes(), 16)});
  run->BindOutputs({run->CreateOutputHandle(0, out.bytes(), 16)});
  in.Set({1, 1, 1, 1});
  ASSERT_TRUE(run->Trigger()) << vx::LastError();
  EXPECT_EQ(out.Get(), (Values{1, 2, 3, 4}));
  ASSERT_TRUE(run->Trigger());
  EXPECT_EQ(out.Get(), (Values{2, 3, 4, 5}));
}

// Compiled anew where there are other devices than the host.
TEST(LiteExecution, StatesBeginAsWritten) {
  ExpectStatesAsWritten(HostGraph());
}

TEST(LiteExecution, StatesOfStoredPlansBeginAsWritten) {
  ExpectStatesAsWritten(vx::Context::Create()->CreateGraph());
}

TEST(LiteExecution, WhatIsNoBinaryGivesNull) {
  const std::vector<char> good = Difference();
  const auto refused = [](const void* bytes, size_t size,
                          const std::string& text) {
    EXPECT_EQ(Execution::Create(bytes, size), nullptr) << text;
    EXPECT_THAT(vx::LastError(), HasSubstr(text));
  };
  refused(nullptr, 0, "its address is null or its size 0");
  refused(nullptr, 100, "its address is null");
  refused(good.data(), 0, "size 0");
  refused("x", 1, "no binary graph of this library");
  refused("VPMN", 4, "VeriSilicon");
  refused(good.data(), 8, "it is cut short: it has 8 bytes");
  refused(good.data(), good.size() - 1, "it is cut short");
  std::vector<char> bad = good;
  bad.back() ^= 1;
  refused(bad.data(), bad.size(), "checksum is wrong");
  bad = good;
  bad[8] = 9;
  refused(bad.data(), bad.size(), "format version 9");
}

}  // namespace
}  // namespace tim::testing
