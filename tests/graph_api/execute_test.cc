// Executing compiled partitions: ports, layouts, types, threads, streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/half.h"
#include "base/trace.h"
#include "tests/graph_api/partition_support.h"
#include "tests/support/status_macros.h"
#include "tests/support/trace_events.h"

namespace tim::graph {
namespace {

using testing::Described;
using testing::ExecuteOn;
using testing::HostEngine;
using testing::MakeOp;
using testing::OpenClEngine;
using testing::Tensors;
using testing::TestPartition;
using testing::WithProperty;
using testing::WithStrides;
using tim::testing::FailsWith;
using Floats = std::vector<float>;

constexpr unsigned kInOrder = tim_graph_stream_default_flags;

std::shared_ptr<const CompiledPartition> Compiled(
    const TestPartition& partition,
    const std::shared_ptr<tim_graph_engine>& engine) {
  const CompileResult result = partition.CompileFor(engine);
  EXPECT_OK(result.status);
  return result.compiled;
}

TestPartition Relu(const LogicalTensor& x, const LogicalTensor& y) {
  return {{MakeOp(0, "ReLU", {x}, {y})}, {x}, {y}};
}

TEST(Execute, MatchesTensorsById) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const LogicalTensor a = Described(0, {2});
  const LogicalTensor b = Described(1, {2});
  const LogicalTensor c = Described(2, {2});
  const auto add =
      Compiled({{MakeOp(0, "Add", {a, b}, {c})}, {a, b}, {c}}, engine);
  const Floats x = {1, 2};
  const Floats y = {10, 20};
  Floats z(2);
  Tensors in(engine);
  in.Add(Described(77, {1}), nullptr);
  in.Add(b, y.data());
  in.Add(a, x.data());
  Tensors out(engine);
  out.Add(c, z.data());
  EXPECT_OK(add->Execute(stream, in.list(), out.list()));
  EXPECT_EQ(z, (Floats{11, 22}));
}

TEST(Execute, RefusesWhatDoesNotFit) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const LogicalTensor x = Described(0, {2});
  const LogicalTensor y = Described(1, {2});
  const auto relu = Compiled(Relu(x, y), engine);
  const Floats values = {1, 2};
  Floats made(2, -7);
  const auto run = [&](const LogicalTensor& in, const void* from,
                       const LogicalTensor& out, const void* to) {
    Tensors inputs(engine);
    Tensors outputs(engine);
    inputs.Add(in, from);
    outputs.Add(out, to);
    return relu->Execute(stream, inputs.list(), outputs.list());
  };
  EXPECT_TRUE(FailsWith(run(x, nullptr, y, made.data()), "input 0 is null"));
  EXPECT_TRUE(FailsWith(run(x, values.data(), y, nullptr), "output 1 is null"));
  EXPECT_TRUE(FailsWith(run(Described(5, {2}), values.data(), y, made.data()),
                        "no tensor was given for input 0"));
  EXPECT_TRUE(FailsWith(run(Described(0, {3}), values.data(), y, made.data()),
                        "was compiled as f32 {2}"));
  EXPECT_TRUE(FailsWith(run(WithStrides(x, {2}), values.data(), y, made.data()),
                        "strides {2}"));
  EXPECT_EQ(made, Floats(2, -7));
  // Another engine of the same device.
  Stream other(HostEngine(), kInOrder);
  EXPECT_TRUE(FailsWith(ExecuteOn(*relu, other, {values.data()}, {made.data()}),
                        "another engine"));
  EXPECT_OK(run(x, values.data(), y, made.data()));
  EXPECT_EQ(made, values);
}

/// A padded, a transposed and a plain view of 2 x 3 numbers.
TEST(Execute, StridedPortsEqualDenseOnes) {
  for (const auto& engine : {HostEngine(), OpenClEngine()}) {
    if (engine == nullptr) continue;
    Stream stream(engine, kInOrder);
    const LogicalTensor x = WithStrides(Described(0, {2, 3}), {1, 2});
    const LogicalTensor y = WithStrides(Described(1, {2, 3}), {5, 1});
    const auto relu = Compiled(Relu(x, y), engine);
    const Floats columns = {1, -4, -2, 5, 3, -6};
    Floats padded(10, -9);
    EXPECT_OK(ExecuteOn(*relu, stream, {columns.data()}, {padded.data()}));
    EXPECT_EQ(padded, (Floats{1, 0, 3, -9, -9, 0, 5, 0, -9, -9}));
  }
}

TEST(Execute, SubTensorInAndOut) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  // Columns 1 and 2 of a matrix of 4 columns.
  const LogicalTensor x = WithStrides(Described(0, {2, 2}), {4, 1});
  const LogicalTensor y = WithStrides(Described(1, {2, 2}), {4, 1});
  const auto relu = Compiled(Relu(x, y), engine);
  const Floats from = {9, -1, 2, 9, 9, 3, -4, 9};
  Floats to(8, 7);
  EXPECT_OK(ExecuteOn(*relu, stream, {from.data() + 1}, {to.data() + 1}));
  EXPECT_EQ(to, (Floats{7, 0, 2, 7, 7, 3, 0, 7}));
}

TEST(Execute, WithoutElements) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const auto relu =
      Compiled(Relu(Described(0, {4, 0}), Described(1, {4, 0})), engine);
  EXPECT_OK(ExecuteOn(*relu, stream, {nullptr}, {nullptr}));
  const LogicalTensor x = Described(0, {2, 0});
  const LogicalTensor y = Described(1, {2, 1});
  const auto sum =
      Compiled({{MakeOp(0, "ReduceSum", {x}, {y})}, {x}, {y}}, engine);
  Floats made(2, -1);
  EXPECT_OK(ExecuteOn(*sum, stream, {nullptr}, {made.data()}));
  EXPECT_EQ(made, (Floats{0, 0}));
}

TEST(Execute, NarrowTypesAreRoundedBetweenOps) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const LogicalTensor a = Described(0, {1}, tim_graph_bf16);
  const LogicalTensor b = Described(1, {1});
  const LogicalTensor c = Described(2, {1}, tim_graph_bf16);
  const LogicalTensor d = Described(3, {1});
  const auto sum =
      Compiled({{MakeOp(0, "Add", {a, b}, {c}), MakeOp(1, "Add", {c, b}, {d})},
                {a, b},
                {d}},
               engine);
  const uint16_t x = 0x3f80;  // 1
  const float y = 0x1p-9f;
  float z = 0;
  EXPECT_OK(ExecuteOn(*sum, stream, {&x, &y}, {&z}));
  // 1 + 2^-9 is a tie that rounds to 1 in bfloat16.
  EXPECT_EQ(z, 1 + 0x1p-9f);
}

TEST(Execute, HostScalarsAreReadInTheCall) {
  const auto engine = HostEngine();
  for (const unsigned flags :
       {kInOrder, kInOrder | unsigned{tim_graph_stream_asynchronous}}) {
    Stream stream(engine, flags);
    const LogicalTensor x = Described(0, {3});
    const LogicalTensor s =
        WithProperty(Described(1, {}), tim_graph_tensor_property_host_scalar);
    const LogicalTensor y = Described(2, {3});
    const auto add =
        Compiled({{MakeOp(0, "Add", {x, s}, {y})}, {x, s}, {y}}, engine);
    const Floats values = {1, 2, 3};
    Floats made(3);
    Tensors out(engine);
    out.Add(y, made.data());
    {
      Tensors in(engine);
      in.Add(x, values.data());
      in.AddScalar(s, 0.5f);
      EXPECT_OK(add->Execute(stream, in.list(), out.list()));
    }
    EXPECT_OK(stream.Wait());
    EXPECT_EQ(made, (Floats{1.5f, 2.5f, 3.5f}));
  }
}

TEST(Execute, OutputsThatAreInputs) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const LogicalTensor x = Described(0, {2});
  const LogicalTensor y = Described(1, {2});
  const LogicalTensor z = Described(2, {2});
  const auto same = Compiled(
      {{MakeOp(0, "TypeCast", {x}, {y}), MakeOp(1, "TypeCast", {x}, {z})},
       {x},
       {y, z}},
      engine);
  const Floats values = {-1, 2};
  Floats a(2);
  Floats b(2);
  EXPECT_OK(ExecuteOn(*same, stream, {values.data()}, {a.data(), b.data()}));
  EXPECT_EQ(a, values);
  EXPECT_EQ(b, values);
}

TEST(Execute, InPlace) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const auto relu =
      Compiled(Relu(Described(0, {3}), Described(1, {3})), engine);
  Floats values = {-1, 2, -3};
  EXPECT_OK(ExecuteOn(*relu, stream, {values.data()}, {values.data()}));
  EXPECT_EQ(values, (Floats{0, 2, 0}));
}

TEST(Execute, ChecksThatOutputsLieApart) {
  const auto engine = HostEngine();
  Stream stream(engine, kInOrder);
  const auto relu =
      Compiled(Relu(Described(0, {3}), Described(1, {3})), engine);
  Floats values = {-1, 2, -3, 4};
  const auto run = [&](float* to) {
    return ExecuteOn(*relu, stream, {values.data()}, {to}, true);
  };
  EXPECT_TRUE(FailsWith(run(values.data() + 1), "output 1 lies on input 0"));
  EXPECT_EQ(values, (Floats{-1, 2, -3, 4}));
  EXPECT_OK(run(values.data()));
  EXPECT_EQ(values, (Floats{0, 2, 0, 4}));
}

TEST(Execute, EightThreadsAtOnce) {
  const auto engine = HostEngine();
  const auto relu =
      Compiled(Relu(Described(0, {64}), Described(1, {64})), engine);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Stream stream(engine, kInOrder);
      Floats x(64);
      Floats y(64);
      for (int i = 0; i < 100; ++i) {
        std::iota(x.begin(), x.end(), static_cast<float>(t * 100 + i));
        x[0] = -1;
        if (!ExecuteOn(*relu, stream, {x.data()}, {y.data()}).ok()) ++wrong;
        x[0] = 0;
        if (x != y) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Execute, AsynchronousRunsFollowEachOther) {
  for (const auto& engine : {HostEngine(), OpenClEngine()}) {
    if (engine == nullptr) continue;
    const LogicalTensor x = Described(0, {4096});
    const LogicalTensor y = Described(1, {4096});
    const auto twice =
        Compiled({{MakeOp(0, "Add", {x, x}, {y})}, {x}, {y}}, engine);
    Stream stream(engine, kInOrder | tim_graph_stream_asynchronous);
    Floats a(4096, 1);
    Floats b(4096, 0);
    for (int i = 0; i < 5; ++i) {
      EXPECT_OK(ExecuteOn(*twice, stream, {a.data()}, {b.data()}));
      EXPECT_OK(ExecuteOn(*twice, stream, {b.data()}, {a.data()}));
    }
    EXPECT_OK(stream.Wait());
    EXPECT_EQ(a, Floats(4096, 1024));
  }
}

// Spans of runs in the trace, the first to begin first.
std::vector<tim::testing::TraceEvent> TracedRuns(const std::string& path) {
  auto runs = tim::testing::SpansOf(tim::testing::ReadTrace(path), "run");
  std::erase_if(runs,
                [](const auto& run) { return run.name.rfind("Run ", 0) != 0; });
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return runs;
}

TEST(Execute, RunsOfTwoStreamsOverlap) {
  constexpr int64_t kSize = 300;  // long enough for both to be under way
  const LogicalTensor x = Described(0, {kSize, kSize});
  const LogicalTensor w = Described(1, {kSize, kSize});
  const LogicalTensor y = Described(2, {kSize, kSize});
  const auto engine = HostEngine();
  const auto product =
      Compiled({{MakeOp(0, "MatMul", {x, w}, {y})}, {x, w}, {y}}, engine);
  Stream one(engine, kInOrder | tim_graph_stream_asynchronous);
  Stream other(engine, kInOrder | tim_graph_stream_asynchronous);
  const Floats ones(kSize * kSize, 1);
  std::vector<Floats> made(4, Floats(kSize * kSize));
  const auto start = [&](Stream& stream, Floats& into) {
    EXPECT_OK(
        ExecuteOn(*product, stream, {ones.data(), ones.data()}, {into.data()}));
  };
  const std::string path = ::testing::TempDir() + "/two_streams.json";
  ASSERT_OK(StartTrace(path));
  start(one, made[0]);
  start(other, made[1]);
  EXPECT_OK(one.Wait());
  EXPECT_OK(other.Wait());
  // Runs of one stream are one behind the other.
  start(one, made[2]);
  start(one, made[3]);
  EXPECT_OK(one.Wait());
  StopTrace();
  for (const Floats& each : made) {
    EXPECT_EQ(each, Floats(kSize * kSize, kSize));
  }
  const auto runs = TracedRuns(path);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_LT(runs[1].begin, runs[0].end);
  EXPECT_GE(runs[3].begin, runs[2].end);
}

}  // namespace
}  // namespace tim::graph
