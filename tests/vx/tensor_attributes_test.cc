// What the host may do with a tensor, by attribute.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::TestWithParam;
using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorAttribute;
using vx::TensorSpec;

TensorSpec Quantized(TensorAttribute attribute) {
  return TensorSpec(DataType::UINT8, {3}, attribute,
                    Quantization(QuantType::ASYMMETRIC, 0.5f, 7));
}

class HostTensors : public TestWithParam<TensorAttribute> {};

TEST_P(HostTensors, AreWrittenAndReadAtAnyTime) {
  const auto graph = HostGraph();
  const auto tensor = graph->CreateTensor(Quantized(GetParam()));
  Write<uint8_t>(tensor, {1, 2, 3});
  EXPECT_EQ(Read<uint8_t>(tensor), (std::vector<uint8_t>{1, 2, 3}));
  const uint8_t other[] = {4, 5, 6};
  const auto given = graph->CreateTensor(Quantized(GetParam()), other);
  EXPECT_EQ(Read<uint8_t>(given), (std::vector<uint8_t>{4, 5, 6}));
}

TEST_P(HostTensors, NullIsRefused) {
  const auto graph = HostGraph();
  const auto tensor = graph->CreateTensor(Quantized(GetParam()));
  EXPECT_FALSE(tensor->CopyDataToTensor(nullptr));
  EXPECT_NE(vx::LastError().find("tensor t0 (uint8 [3]"), std::string::npos);
  EXPECT_NE(vx::LastError().find("the data is null"), std::string::npos);
  EXPECT_FALSE(tensor->CopyDataFromTensor(nullptr));
  EXPECT_NE(vx::LastError().find("destination is null"), std::string::npos);
  EXPECT_EQ(graph->ErrorMessage(), vx::LastError());
}

TEST_P(HostTensors, MemoryOfTheHostIsForInputsAndOutputs) {
  const auto tensor = HostGraph()->CreateTensor(Quantized(GetParam()));
  const bool handle = GetParam() == TensorAttribute::INPUT ||
                      GetParam() == TensorAttribute::OUTPUT;
  EXPECT_EQ(tensor->map() != nullptr, handle);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->map()) % 64, 0u);
  tensor->unmap();
  EXPECT_EQ(tensor->FlushCacheForHandle(),
            GetParam() == TensorAttribute::INPUT);
  EXPECT_EQ(tensor->InvalidateCacheForHandle(),
            GetParam() == TensorAttribute::OUTPUT);
  uint8_t memory[3];
  EXPECT_EQ(tensor->SwapHandle(memory, false, nullptr), handle);
  if (!handle) {
    EXPECT_NE(vx::LastError().find("only INPUT and OUTPUT"), std::string::npos);
  }
  EXPECT_EQ(tensor->IsConstTensor(), GetParam() == TensorAttribute::CONSTANT);
  EXPECT_FALSE(tensor->IsPlaceHolder());
}

INSTANTIATE_TEST_SUITE_P(Attributes, HostTensors,
                         ::testing::Values(TensorAttribute::INPUT,
                                           TensorAttribute::OUTPUT,
                                           TensorAttribute::CONSTANT,
                                           TensorAttribute::VARIABLE));

TEST(Tensors, WithoutDataHoldTheRealValueZero) {
  const auto graph = HostGraph();
  for (const auto attribute : {TensorAttribute::INPUT, TensorAttribute::OUTPUT,
                               TensorAttribute::VARIABLE}) {
    const auto codes = graph->CreateTensor(Quantized(attribute));
    const auto floats = graph->CreateTensor(Floats({2}, attribute));
    // Of an OUTPUT that nothing has written, to whoever is about to write it.
    for (const auto& tensor : {codes, floats}) tensor->map();
    EXPECT_EQ(Read<uint8_t>(codes), std::vector<uint8_t>(3, 7));
    EXPECT_EQ(Read(floats), std::vector<float>(2, 0));
  }
  const Quantization per_channel(QuantType::ASYMMETRIC_PER_CHANNEL, 1, {1, 1},
                                 {3, -4});
  EXPECT_EQ(Read<int8_t>(graph->CreateTensor(TensorSpec(
                DataType::INT8, {2, 2}, TensorAttribute::INPUT, per_channel))),
            (std::vector<int8_t>{3, 3, -4, -4}));
  // A zero point outside of the type's range.
  const Quantization far(QuantType::ASYMMETRIC, 1, 300);
  EXPECT_EQ(Read<uint8_t>(graph->CreateTensor(
                TensorSpec(DataType::UINT8, {1}, TensorAttribute::INPUT, far))),
            std::vector<uint8_t>{255});
}

TEST(Tensors, TransientOnesAreOutOfReach) {
  const auto graph = HostGraph();
  float data[2] = {1, 2};
  const auto tensor =
      graph->CreateTensor(Floats({2}, TensorAttribute::TRANSIENT), data);
  EXPECT_NE(tensor->GetId(), 0xFFFFFFFFu);
  EXPECT_FALSE(tensor->CopyDataToTensor(data));
  EXPECT_FALSE(tensor->CopyDataFromTensor(data));
  EXPECT_NE(vx::LastError().find("TRANSIENT"), std::string::npos);
  EXPECT_EQ(tensor->map(), nullptr);
  EXPECT_EQ(tensor->ConvertTensorToData(nullptr), nullptr);
  EXPECT_EQ(tensor->ConvertTensorToFloat32Data(), nullptr);
  EXPECT_FALSE(tensor->SaveTensorToTextByFp32(::testing::TempDir() + "/t.txt"));
}

TEST(Tensors, IdsCountFromZero) {
  const auto graph = HostGraph();
  EXPECT_EQ(graph->CreateTensor(Quantized(TensorAttribute::INPUT))->GetId(),
            0u);
  EXPECT_EQ(graph->CreateTensor(Quantized(TensorAttribute::TRANSIENT))->GetId(),
            1u);
  EXPECT_EQ(graph->CreateTensorPlaceHolder()->GetId(), 0xFFFFFFFFu);
}

TEST(Tensors, PlaceHolderHoldsNothing) {
  const auto tensor = HostGraph()->CreateTensorPlaceHolder();
  float data = 0;
  EXPECT_TRUE(tensor->IsPlaceHolder());
  EXPECT_FALSE(tensor->CopyDataToTensor(&data));
  EXPECT_FALSE(tensor->CopyDataFromTensor(&data));
  EXPECT_FALSE(tensor->SwapHandle(&data, false, nullptr));
  EXPECT_FALSE(tensor->SwapHandle(tensor));
  EXPECT_FALSE(tensor->FlushCacheForHandle());
  EXPECT_FALSE(tensor->InvalidateCacheForHandle());
  EXPECT_EQ(tensor->map(), nullptr);
  EXPECT_EQ(tensor->ConvertTensorToData(nullptr), nullptr);
  EXPECT_EQ(tensor->ConvertTensorToFloat32Data(), nullptr);
  EXPECT_NE(vx::LastError().find("placeholder"), std::string::npos);
}

TEST(Tensors, PackedFourBitContent) {
  const auto graph = HostGraph();
  TensorSpec spec(DataType::INT4, {3, 2}, TensorAttribute::CONSTANT,
                  Quantization(QuantType::ASYMMETRIC, 0.5f, 1));
  EXPECT_EQ(spec.GetByteSize(), 4);
  const uint8_t packed[] = {0xF1, 0x07, 0x82, 0x03};  // rows: 1 -1 7, 2 -8 3
  const auto tensor = graph->CreateTensor(spec, packed);
  uint8_t back[4] = {};
  EXPECT_TRUE(tensor->CopyDataFromTensor(back));
  EXPECT_TRUE(std::equal(packed, packed + 4, back));
  int8_t codes[6] = {};
  void* copy = tensor->ConvertTensorToData(reinterpret_cast<uint8_t*>(codes));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(std::vector<int8_t>(codes, codes + 6),
            (std::vector<int8_t>{1, -1, 7, 2, -8, 3}));
  EXPECT_TRUE(std::equal(codes, codes + 6, static_cast<int8_t*>(copy)));
  free(copy);
  float* real = tensor->ConvertTensorToFloat32Data();
  EXPECT_EQ(std::vector<float>(real, real + 6),
            (std::vector<float>{0, -1, 3, 0.5f, -4.5f, 1}));
  free(real);
}

}  // namespace
}  // namespace tim::testing
