// Memory that a tensor leaves may be freed, and other memory may be at its
// address afterwards: devices that imported it let go of it.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

#include "device/host/host_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

struct alignas(64) Block {
  std::array<float, 16> values = {};
};

// As a device that looks an address up once, when it imports it: `pages` says
// where the bytes of an address are at that moment, itself where it is silent.
class PinningDevice final : public ForwardingDevice {
 public:
  PinningDevice()
      : ForwardingDevice(device::CreateHostDevice()),
        info_(ForwardingDevice::info()) {
    info_.kind = "pinning";
    info_.unified_memory = true;
  }

  const ir::DeviceInfo& info() const override { return info_; }
  const void* domain() const override { return this; }
  Result<std::unique_ptr<device::Buffer>> Import(void* memory,
                                                 int64_t bytes) override {
    const auto page = pages.find(memory);
    return std::unique_ptr<device::Buffer>(std::make_unique<Pinned>(
        page != pages.end() ? page->second : memory, bytes, &pinned));
  }

  std::map<void*, void*> pages;
  int pinned = 0;

 private:
  class Pinned final : public device::Buffer {
   public:
    Pinned(void* memory, int64_t bytes, int* count)
        : memory_(memory), bytes_(bytes), count_(count) {
      ++*count_;
    }
    ~Pinned() override { --*count_; }
    int64_t bytes() const override { return bytes_; }
    void* host_address() const override { return memory_; }

   private:
    void* memory_;
    int64_t bytes_;
    int* count_;
  };

  ir::DeviceInfo info_;
};

class ReleasedMemory : public ::testing::Test {
 protected:
  void Swap(const std::shared_ptr<vx::Tensor>& tensor, Block* block) {
    ASSERT_TRUE(tensor->SwapHandle(block, false, nullptr)) << vx::LastError();
  }
  void Run() { ASSERT_TRUE(g_.graph->Run()) << vx::LastError(); }

  std::shared_ptr<PinningDevice> device_ = std::make_shared<PinningDevice>();
  std::shared_ptr<vx::Context> context_ =
      vx::CreateContext({device::CreateHostDevice(), device_});
  ReluGraph g_{{2}, context_->CreateGraph()};
};

TEST_F(ReleasedMemory, IsNoLongerImported) {
  Write<float>(g_.input, {1, -1});
  Run();
  EXPECT_EQ(Read(g_.output), (Values{1, 0}));
  EXPECT_EQ(device_->pinned, 2);
  Block in;
  Block out;
  Swap(g_.input, &in);
  EXPECT_EQ(device_->pinned, 1);
  Swap(g_.output, &out);
  EXPECT_EQ(device_->pinned, 0);
  in.values = {5, -5};
  Run();
  EXPECT_EQ(out.values[0], 5);
  EXPECT_EQ(device_->pinned, 2);
}

TEST_F(ReleasedMemory, IsImportedAnewAtTheSameAddress) {
  Block address;
  Block first{{1, 2}};
  Block second{{3, 4}};
  Block other;
  device_->pages[&address] = &first;
  Swap(g_.input, &address);
  Run();
  EXPECT_EQ(Read(g_.output), (Values{1, 2}));
  Swap(g_.input, &other);
  device_->pages[&address] = &second;
  Swap(g_.input, &address);
  Run();
  EXPECT_EQ(Read(g_.output), (Values{3, 4}));
}

// The caller says that there is new memory, though at the address of the last.
TEST_F(ReleasedMemory, IsImportedAnewWhereItIsSwappedForItself) {
  Block address;
  Block first{{1, 2}};
  Block second{{3, 4}};
  device_->pages[&address] = &first;
  Swap(g_.input, &address);
  Run();
  device_->pages[&address] = &second;
  Swap(g_.input, &address);
  Run();
  EXPECT_EQ(Read(g_.output), (Values{3, 4}));
}

TEST_F(ReleasedMemory, OfTwoTensorsThatChangePlacesStaysInUse) {
  Write<float>(g_.input, {1, -1});
  Run();
  for (const float value : {2.0f, 3.0f}) {
    ASSERT_TRUE(g_.input->SwapHandle(g_.output)) << vx::LastError();
    Write<float>(g_.input, {value, -value});
    Run();
    EXPECT_EQ(Read(g_.output), (Values{value, 0}));
  }
}

TEST_F(ReleasedMemory, MayBeSwappedOutAfterItsGraph) {
  Run();
  g_.graph.reset();
  Block block;
  Swap(g_.input, &block);
  EXPECT_EQ(device_->pinned, 0);
}

}  // namespace
}  // namespace tim::testing
