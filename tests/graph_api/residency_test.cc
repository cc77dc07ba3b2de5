// Ports on the device and on the host in one partition, and transfers.
#include "tim/graph/residency.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "base/half.h"
#include "device/host/host_device.h"
#include "device/opencl/driver/cl_api.h"
#include "tests/graph_api/client_objects.h"
#include "tests/support/devices/fake_device.h"
#include "tim/graph/graph_ocl.hpp"

namespace tim {
namespace graph {
namespace {

using lt = logical_tensor;
using dt = lt::data_type;
using layout = lt::layout_type;
using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

tim_graph_status_t StatusOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    return e.status;
  }
  return tim_graph_success;
}

/// Small integers, which every type has.
Floats Numbers(size_t count) {
  Floats numbers(count);
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(static_cast<int>(i * 5 % 11) - 5);
  }
  return numbers;
}

/// A convolution of one image of 3 channels, 4 by 5, by 2 kernels of 1 by 1.
class Convolution : public ::testing::Test {
 protected:
  static constexpr int64_t kIn = 3, kOut = 2, kPixels = 20;

  void SetUp() override {
    setenv("TIMCL_GRAPH_GPU", "all", 1);
    if (engine::get_count(engine::kind::gpu) == 0) {
      GTEST_SKIP() << "no OpenCL device";
    }
    gpu_ = engine(engine::kind::gpu, 0);
    cpu_ = engine(engine::kind::cpu, 0);
    if (ocl_interop::get_memory_kind(tensor(x_, gpu_)) !=
        ocl_interop::memory_kind::usm) {
      GTEST_SKIP() << "no shared memory, which the host reads here";
    }
    const Floats x = Numbers(kIn * kPixels);
    const Floats w = Numbers(kIn * kOut);
    values_ = x;
    weights_ = w;
    for (int64_t o = 0; o < kOut; ++o) {
      for (int64_t p = 0; p < kPixels; ++p) {
        float sum = 0;
        for (int64_t c = 0; c < kIn; ++c) {
          sum += w[o * kIn + c] * x[c * kPixels + p];
        }
        expected_.push_back(sum);
      }
    }
  }

  static partition Of(engine::kind kind) {
    op conv(0, op::kind::Convolution,
            {lt(0, dt::f32, {1, kIn, 4, 5}, layout::strided),
             lt(1, dt::f32, {kOut, kIn, 1, 1}, layout::strided)},
            {lt(2, dt::f32, {1, kOut, 4, 5}, layout::strided)});
    conv.set_attr(op::attr::strides, lt::dims{1, 1})
        .set_attr(op::attr::pads_begin, lt::dims{0, 0})
        .set_attr(op::attr::pads_end, lt::dims{0, 0})
        .set_attr(op::attr::dilations, lt::dims{1, 1})
        .set_attr<std::string>(op::attr::data_format, "NCX")
        .set_attr<std::string>(op::attr::weights_format, "OIX");
    graph g(kind);
    g.add_op(conv);
    g.finalize();
    return g.get_partitions().at(0);
  }

  /// Channels last, as float16.
  void Fill(void* memory) const {
    auto* const to = static_cast<uint16_t*>(memory);
    for (int64_t p = 0; p < kPixels; ++p) {
      for (int64_t c = 0; c < kIn; ++c) {
        to[p * kIn + c] = FloatToHalf(values_[c * kPixels + p]);
      }
    }
  }

  const lt x_ =
      lt(0, dt::f16, {1, kIn, 4, 5}, {kIn * kPixels, 1, 5 * kIn, kIn});
  const lt w_ = lt(1, dt::f32, {kOut, kIn, 1, 1}, layout::strided);
  const lt y_ = lt(2, dt::f32, {1, kOut, 4, 5}, layout::strided);
  engine gpu_, cpu_;
  Floats values_, weights_, expected_;
};

// The input is on the device as f16 NHWC, the output on the host as f32 NCHW,
// of a graph that is f32 NCHW.
TEST_F(Convolution, ReadsTheDeviceAndWritesTheHost) {
  compile_options options;
  options.ports = {{0, residency::device},
                   {1, residency::host},
                   {2, residency::host},
                   {77, residency::device}};
  const compiled_partition compiled =
      Of(engine::kind::gpu).compile({x_, w_}, {y_}, gpu_, options);
  EXPECT_EQ(compiled.get_residency(0), residency::device);
  EXPECT_EQ(compiled.get_residency(1), residency::host);
  EXPECT_EQ(compiled.get_residency(2), residency::host);
  EXPECT_EQ(compiled.get_residency(77), residency::automatic);
  EXPECT_EQ(compiled.query_logical_tensor(0).get_data_type(), dt::f16);
  const tensor x(x_, gpu_);
  Fill(x.get_data_handle());
  Floats y(expected_.size());
  stream strm(gpu_);
  // Tensors of an engine of host memory, or of this one with a pointer of the
  // host.
  for (const engine& host : {cpu_, gpu_}) {
    y.assign(y.size(), -1);
    compiled.execute(strm, {x, tensor(w_, host, weights_.data())},
                     {tensor(y_, host, y.data())});
    strm.wait();
    EXPECT_EQ(y, expected_);
  }
}

// Execute of a cpu engine is complete on return, wherever its ports are.
TEST_F(Convolution, OfACpuEngineReadsTheDevice) {
  if (StatusOf([&] { ocl_interop::get_device(cpu_); }) != tim_graph_success) {
    GTEST_SKIP() << "the cpu engine is of no OpenCL device";
  }
  compile_options options;
  options.ports = {{0, residency::device}};
  const compiled_partition compiled =
      Of(engine::kind::cpu).compile({x_, w_}, {y_}, cpu_, options);
  EXPECT_EQ(compiled.get_residency(0), residency::device);
  EXPECT_EQ(compiled.get_residency(1), residency::host);
  const tensor x(x_, gpu_);
  Fill(x.get_data_handle());
  Floats y(expected_.size());
  stream strm(cpu_);
  compiled.execute(strm, {x, tensor(w_, cpu_, weights_.data())},
                   {tensor(y_, cpu_, y.data())});
  EXPECT_EQ(y, expected_);
}

TEST_F(Convolution, OfAutomaticPortsIsWhereItsEngineIs) {
  const lt x(0, dt::f32, {1, kIn, 4, 5}, layout::strided);
  const compiled_partition on_gpu =
      Of(engine::kind::gpu).compile({x, w_}, {y_}, gpu_, compile_options());
  const compiled_partition on_cpu =
      Of(engine::kind::cpu).compile({x, w_}, {y_}, cpu_, compile_options());
  for (const size_t id : {0, 1, 2}) {
    EXPECT_EQ(on_gpu.get_residency(id), residency::device);
    EXPECT_EQ(on_cpu.get_residency(id), residency::host);
  }
}

TEST_F(Convolution, IsRefusedElsewhere) {
  const partition part = Of(engine::kind::gpu);
  const auto compile = [&](const lt& x, const compile_options& options) {
    return StatusOf([&] { part.compile({x, w_}, {y_}, gpu_, options); });
  };
  compile_options options;
  // Another type without a place is a mistake.
  EXPECT_EQ(compile(x_, options), tim_graph_invalid_data_type);
  options.ports = {{0, residency::device}};
  EXPECT_EQ(compile(lt(0, dt::s32, {1, kIn, 4, 5}, layout::strided), options),
            tim_graph_invalid_data_type);
  options.ports = {{0, static_cast<residency>(9)}};
  EXPECT_EQ(compile(x_, options), tim_graph_invalid_arguments);

  // Without a device there is none to be on.
  const engine host = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  options.ports = {{0, residency::device}};
  EXPECT_EQ(StatusOf([&] {
              Of(engine::kind::cpu).compile({x_, w_}, {y_}, host, options);
            }),
            tim_graph_invalid_arguments);

  // A tensor is where its port was compiled for.
  options.ports = {{2, residency::host}, {0, residency::device}};
  const compiled_partition compiled =
      part.compile({x_, w_}, {y_}, gpu_, options);
  stream strm(gpu_);
  Floats y(expected_.size());
  Halves x(kIn * kPixels);
  const auto execute = [&](const tensor& in, const tensor& out) {
    return StatusOf([&] {
      compiled.execute(strm, {in, tensor(w_, gpu_)}, {out});
    });
  };
  const tensor to(y_, cpu_, y.data());
  EXPECT_EQ(execute(tensor(x_, cpu_, x.data()), to),
            tim_graph_invalid_arguments);
  EXPECT_EQ(execute(tensor(x_, gpu_),
                    ocl_interop::make_tensor(y_, gpu_,
                                             ocl_interop::memory_kind::buffer)),
            tim_graph_invalid_arguments);
  EXPECT_EQ(execute(tensor(x_, gpu_), to), tim_graph_success);
  strm.wait();
}

// One pointer of shared memory is a tensor of either engine.
TEST_F(Convolution, SharedPortsTakePointersOfBoth) {
  const lt x(0, dt::f32, {1, kIn, 4, 5}, layout::strided);
  const tensor shared(x, gpu_);
  std::copy(values_.begin(), values_.end(),
            static_cast<float*>(shared.get_data_handle()));
  compile_options options;
  options.ports = {{0, residency::shared}, {2, residency::host}};
  for (const engine& eng : {gpu_, cpu_}) {
    compiled_partition compiled;
    try {
      compiled = Of(eng.get_kind()).compile({x, w_}, {y_}, eng, options);
    } catch (const error& e) {
      // A cpu engine's device may have no unified memory.
      EXPECT_EQ(e.status, tim_graph_unimplemented) << e.what();
      continue;
    }
    EXPECT_EQ(compiled.get_residency(0), residency::shared);
    Floats y(expected_.size());
    const tensor w(w_, eng);
    std::copy(weights_.begin(), weights_.end(),
              static_cast<float*>(w.get_data_handle()));
    stream strm(eng);
    compiled.execute(strm, {shared, w}, {tensor(y_, cpu_, y.data())});
    strm.wait();
    EXPECT_EQ(y, expected_);
  }
  // Memory of the host alone is not shared.
  const compiled_partition compiled =
      Of(engine::kind::gpu).compile({x, w_}, {y_}, gpu_, options);
  stream strm(gpu_);
  Floats y(expected_.size());
  EXPECT_EQ(StatusOf([&] {
              compiled.execute(
                  strm, {tensor(x, cpu_, values_.data()), tensor(w_, gpu_)},
                  {tensor(y_, cpu_, y.data())});
            }),
            tim_graph_invalid_arguments);
}

TEST_F(Convolution, HostScalarsStayOnTheHost) {
  const lt scalar(1, dt::f32, 0, layout::strided,
                  lt::property_type::host_scalar);
  const lt x(0, dt::f32, lt::dims{4}, layout::strided);
  const lt y(2, dt::f32, lt::dims{4}, layout::strided);
  graph g(engine::kind::gpu);
  g.add_op(op(0, op::kind::Divide, {x, scalar}, {y}));
  g.finalize();
  const partition part = g.get_partitions().at(0);
  compile_options options;
  options.ports = {{1, residency::device}};
  EXPECT_EQ(StatusOf([&] {
              part.compile({x, scalar}, {y}, gpu_, options);
            }),
            tim_graph_invalid_arguments);
  options.ports = {{1, residency::host}};
  EXPECT_EQ(part.compile({x, scalar}, {y}, gpu_, options).get_residency(1),
            residency::host);
}

// There and back, with another type and another order of the axes.
TEST_F(Convolution, TransfersConvert) {
  const lt host(5, dt::f32, {1, kIn, 4, 5}, layout::strided);
  const lt back(6, dt::f32, {1, kIn, 4, 5}, {kIn * kPixels, 1, kIn, 4 * kIn});
  const transfer there(host, cpu_, x_, gpu_);
  const transfer home(x_, gpu_, back, cpu_);
  const tensor from(host, cpu_, values_.data());
  const tensor on_device(x_, gpu_);
  Floats made(kIn * kPixels, 0);
  const tensor to(back, cpu_, made.data());
  stream on_gpu(gpu_);
  stream on_cpu(cpu_);
  // Streams of either engine do.
  for (stream* strm : {&on_gpu, &on_cpu}) {
    made.assign(made.size(), 0);
    there.execute(*strm, from, on_device);
    home.execute(*strm, on_device, to);
    for (int64_t c = 0; c < kIn; ++c) {
      for (int64_t y = 0; y < 4; ++y) {
        for (int64_t x = 0; x < 5; ++x) {
          EXPECT_EQ(made[c + y * kIn + x * 4 * kIn],
                    values_[(c * 4 + y) * 5 + x]);
        }
      }
    }
  }
}

TEST_F(Convolution, TransfersCrossContexts) {
  const cl_device_id id = ocl_interop::get_device(gpu_);
  const cl::Context context(cl::Device(id, true));
  const engine other = ocl_interop::make_engine(id, context());
  const lt a(0, dt::f32, lt::dims{6}, layout::strided);
  const lt b(1, dt::f16, lt::dims{6}, layout::strided);
  const transfer across(a, gpu_, b, other);
  const tensor from(a, gpu_);
  const tensor to(b, other);
  for (int i = 0; i < 6; ++i) {
    static_cast<float*>(from.get_data_handle())[i] = static_cast<float>(i);
  }
  stream strm(gpu_);
  across.execute(strm, from, to);
  strm.wait();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(HalfToFloat(static_cast<uint16_t*>(to.get_data_handle())[i]), i);
  }
}

// Converters of the host, too: integers saturate, gaps stay as they are.
TEST(Transfers, ConvertIntegersInPlainMemory) {
  const engine eng = make_engine(engine::kind::cpu, 0, engine_options{"host"});
  const lt a(0, dt::f32, lt::dims{4}, layout::strided);
  const lt b(0, dt::s8, lt::dims{4}, lt::dims{2});
  const lt c(1, dt::s32, lt::dims{4}, layout::strided);
  Floats from = {-300, -2.5f, 1.5f, 7};
  std::vector<int8_t> middle(7, 55);
  std::vector<int32_t> to(4, 0);
  stream strm(eng);
  // Ids of the two sides may be equal.
  transfer(a, eng, b, eng)
      .execute(strm, tensor(a, eng, from.data()),
               tensor(b, eng, middle.data()));
  EXPECT_EQ(middle, (std::vector<int8_t>{-128, 55, -2, 55, 2, 55, 7}));
  transfer(b, eng, c, eng)
      .execute(strm, tensor(b, eng, middle.data()), tensor(c, eng, to.data()));
  EXPECT_EQ(to, (std::vector<int32_t>{-128, -2, 2, 7}));
  // Nothing is moved where there are no elements.
  const lt none(5, dt::f32, lt::dims{3, 0}, layout::strided);
  transfer(none, eng, none, eng)
      .execute(strm, tensor(none, eng, nullptr), tensor(none, eng, nullptr));
}

TEST_F(Convolution, TransfersRefuse) {
  const lt a(0, dt::f32, {2, 3}, layout::strided);
  const auto made = [&](const lt& from, const lt& to) {
    return StatusOf([&] { transfer(from, cpu_, to, gpu_); });
  };
  EXPECT_EQ(made(a, lt(1, dt::f32, {3, 2}, layout::strided)),
            tim_graph_invalid_arguments);
  EXPECT_EQ(made(a, lt(1, dt::f32, 2, layout::strided)),
            tim_graph_invalid_arguments);
  EXPECT_EQ(made(a, lt(1, dt::f32, {2, 3}, layout::any)),
            tim_graph_invalid_arguments);
  EXPECT_EQ(
      made(lt(0, dt::f32, 0, layout::strided, lt::property_type::host_scalar),
           a),
      tim_graph_invalid_arguments);
  EXPECT_EQ(StatusOf([&] { transfer(a, engine(), a, gpu_); }),
            tim_graph_invalid_arguments);
  const lt b(1, dt::f32, {2, 3}, layout::strided);
  const transfer one(a, cpu_, b, gpu_);
  const tensor from(a, cpu_);
  const tensor to(b, gpu_);
  stream strm(cpu_);
  EXPECT_EQ(StatusOf([&] { one.execute(strm, to, from); }),
            tim_graph_invalid_arguments);
  stream strange(engine(engine::kind::gpu, 0));
  EXPECT_EQ(StatusOf([&] { one.execute(strange, from, to); }),
            tim_graph_invalid_arguments);
  EXPECT_EQ(StatusOf([&] { one.execute(strm, from, to); }), tim_graph_success);
}

// Runs are in flight while the host fills the inputs of the next ones: a device
// with memory of its own, behind delays.
TEST(Residency, RunsInFlightDoNotMixTheirPorts) {
  using testing::Described;
  constexpr int kRuns = 24;
  constexpr int64_t kFloats = 1000;
  const auto fake = std::make_shared<::tim::testing::FakeDevice>(
      ::tim::testing::FakeOptions{.seed = 7, .max_delay_us = 300});
  EngineParts parts;
  parts.kind = tim_graph_cpu;
  parts.devices = {device::CreateHostDevice(), fake};
  parts.allocator = OwnHostAllocator();
  parts.programs = ProgramsFor(*fake);
  const auto engine = testing::Own(tim_graph_engine::Make(std::move(parts)));
  const LogicalTensor in = Described(0, {kFloats});
  const LogicalTensor out = Described(1, {kFloats});
  const auto twice = testing::Twice(in, out, engine);
  const auto stream =
      testing::MakeStream(engine, tim_graph_stream_asynchronous);
  std::vector<Floats> inputs(kRuns);
  std::vector<Floats> outputs(kRuns, Floats(kFloats, -1));
  for (int i = 0; i < kRuns; ++i) {
    inputs[i].assign(kFloats, static_cast<float>(i));
    ASSERT_EQ(
        testing::Execute(twice, stream,
                         {testing::MakeTensor(in, engine, inputs[i].data())},
                         testing::MakeTensor(out, engine, outputs[i].data())),
        tim_graph_success);
  }
  EXPECT_EQ(tim_graph_stream_wait(stream.get()), tim_graph_success);
  for (int i = 0; i < kRuns; ++i) {
    EXPECT_EQ(outputs[i], Floats(kFloats, 2.0f * static_cast<float>(i)));
  }
}

}  // namespace
}  // namespace graph
}  // namespace tim
