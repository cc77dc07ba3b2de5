// Programs of an engine as a blob: written, taken by another engine, refused
// where they do not fit.
#include "graph_api/engine_programs.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/host/host_device.h"
#include "device/opencl/opencl_interop.h"
#include "runtime/cache/program_cache.h"
#include "runtime/executable.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::graph {
namespace {

using Blob = std::vector<uint8_t>;

// Has nothing and counts what is built.
class Builds final : public device::BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view) override {
    return std::nullopt;
  }
  void Store(std::string_view, std::string_view) override { ++stored; }
  void CountBuild() override { ++built; }

  int built = 0;
  int stored = 0;
};

TEST(EnginePrograms, AreThoseThatWereUsed) {
  EnginePrograms programs("device", std::make_shared<Builds>());
  programs.Use("one", [] { return std::optional<std::string>("first"); });
  programs.Use("one", [] { return std::optional<std::string>("second"); });
  programs.Use("none", [] { return std::optional<std::string>(); });
  const Blob blob = programs.Blob();

  EnginePrograms other("device", std::make_shared<Builds>());
  other.TakeBlob(blob);
  EXPECT_EQ(other.Load("one"), "second");
  EXPECT_EQ(other.Load("none"), std::nullopt);
  EXPECT_EQ(other.Load(""), std::nullopt);
  EXPECT_EQ(other.Blob(), blob);
}

TEST(EnginePrograms, DoNotTakeWhatDoesNotFit) {
  EnginePrograms programs("device", std::make_shared<Builds>());
  programs.Use("one", [] { return std::optional<std::string>("first"); });
  const Blob blob = programs.Blob();
  EnginePrograms other("another device", std::make_shared<Builds>());
  other.TakeBlob(blob);
  EXPECT_EQ(other.Load("one"), std::nullopt);
  for (size_t size = 0; size < blob.size(); ++size) {
    EnginePrograms cut("device", std::make_shared<Builds>());
    cut.TakeBlob({blob.data(), size});
    EXPECT_EQ(cut.Load("one"), std::nullopt) << size;
  }
  // Whatever changes, nothing but what stands there is taken.
  for (size_t i = 0; i < blob.size(); ++i) {
    Blob changed = blob;
    changed[i] ^= 0xff;
    EnginePrograms taken("device", std::make_shared<Builds>());
    taken.TakeBlob(changed);
    const auto one = taken.Load("one");
    EXPECT_LE(one.value_or("").size(), blob.size());
  }
}

TEST(EnginePrograms, AskTheStoreBehind) {
  const auto behind = std::make_shared<Builds>();
  EnginePrograms programs("device", behind);
  EXPECT_TRUE(programs.keeps());
  programs.Store("key", "bytes");
  programs.CountBuild();
  EXPECT_EQ(behind->stored, 1);
  EXPECT_EQ(behind->built, 1);
}

class BlobsOfOpenCl : public testing::OpenClTest {};

// A second engine builds nothing from source.
TEST_F(BlobsOfOpenCl, SpareBuilds) {
  if (device_ == nullptr) return;
  const std::string identity = *device::OpenClIdentity(id_());
  const auto prepare = [&](const Blob& blob, Blob* made) {
    const cl::Context context(id_);
    auto device = *device::CreateOpenClDevice(id_(), context(), {});
    testing::PlanBuilder builder({device::CreateHostDevice(), device}, 16);
    const int in = builder.Input(), out = builder.Output();
    const int from = builder.Temporary(1), to = builder.Temporary(1);
    const int read = builder.Copy(1, in, from);
    const int step = builder.Launch(
        1,
        testing::FloatLaunch(
            "__kernel void halve(__global const float* in, int in_0,\n"
            "                   __global float* out, int out_0, int n) {\n"
            "  const int i = get_global_id(0);\n"
            "  if (i < n) out[out_0 + i] = in[in_0 + i] / 2;\n"
            "}\n",
            "halve", 16, 2),
        {from, to}, {read});
    builder.Copy(1, to, out, {step});
    const auto counts = std::make_shared<Builds>();
    const auto programs = std::make_shared<EnginePrograms>(identity, counts);
    if (!blob.empty()) programs->TakeBlob(blob);
    EXPECT_OK(runtime::Executable::Create(std::move(builder.plan()),
                                          builder.devices(), programs));
    *made = programs->Blob();
    return counts->built;
  };
  Blob first, second;
  EXPECT_GE(prepare({}, &first), 1);
  EXPECT_EQ(prepare(first, &second), 0);
  EXPECT_GE(second.size(), first.size());
}

}  // namespace
}  // namespace tim::graph
