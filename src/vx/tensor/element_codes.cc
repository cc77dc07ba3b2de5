#include "vx/tensor/element_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked_math.h"
#include "kernels/elements.h"
#include "kernels/requantize.h"

namespace tim::vx {
namespace {

// The type that has one byte per element where `desc` has half a byte.
ir::TensorDesc Spread(ir::TensorDesc desc) {
  if (desc.type == ir::DataType::kInt4) desc.type = ir::DataType::kInt8;
  if (desc.type == ir::DataType::kUint4) desc.type = ir::DataType::kUint8;
  return desc;
}

int64_t CodeOf(float real, float scale, int32_t zero_point,
               const ir::DataTypeInfo& info) {
  const int64_t units = kernels::FloatToInt64(std::rint(real / scale));
  const auto code = CheckedAdd(units, zero_point);
  if (!code) return units < 0 ? info.min : info.max;
  return std::clamp(*code, info.min, info.max);
}

}  // namespace

Status SetZeroPoints(const ir::TensorDesc& desc, void* memory) {
  const auto& zeros = desc.quantization.zero_points;
  if (!desc.quantized() ||
      std::all_of(zeros.begin(), zeros.end(), [](int z) { return z == 0; })) {
    return OkStatus();
  }
  kernels::ElementWriter writer({&desc, memory});
  const kernels::ChannelIndex channel(desc);
  const int64_t count = desc.shape.NumElements().value_or(0);
  for (int64_t i = 0; i < count; ++i) {
    writer.StoreCode(i, desc.quantization.ZeroPoint(channel(i)));
  }
  return OkStatus();
}

Result<std::vector<std::byte>> ZeroBytes(const ir::TensorDesc& desc) {
  TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(desc));
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  TIM_RETURN_IF_ERROR(SetZeroPoints(desc, bytes.data()));
  return bytes;
}

void ToReal(const ir::TensorDesc& desc, const void* bytes,
            std::span<float> real) {
  const kernels::ElementReader reader({&desc, bytes});
  for (size_t i = 0; i < real.size(); ++i) {
    real[i] = reader.Real(static_cast<int64_t>(i));
  }
}

void ToCodes(const ir::TensorDesc& desc, std::span<const float> real,
             void* codes) {
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const ir::TensorDesc spread = Spread(desc);
  kernels::ElementWriter writer({&spread, codes});
  const kernels::ChannelIndex channel(spread);
  for (size_t n = 0; n < real.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    if (ir::IsInteger(desc.type)) {
      const ir::Quantization& quantization = spread.quantization;
      writer.StoreCode(i, CodeOf(real[n], quantization.Scale(channel(i)),
                                 quantization.ZeroPoint(channel(i)), info));
    } else if (desc.type == ir::DataType::kBool8) {
      writer.StoreCode(i, real[n] != 0);
    } else {
      writer.StoreReal(i, real[n]);
    }
  }
}

void Unpack(const ir::TensorDesc& desc, const void* bytes, int64_t count,
            void* codes) {
  const ir::TensorDesc spread = Spread(desc);
  if (spread.type == desc.type) {
    const int bits = ir::Info(desc.type).bits;
    std::memcpy(codes, bytes, static_cast<size_t>(count * (bits / 8)));
    return;
  }
  const kernels::ElementReader reader({&desc, bytes});
  kernels::ElementWriter writer({&spread, codes});
  for (int64_t i = 0; i < count; ++i) writer.StoreCode(i, reader.Code(i));
}

}  // namespace tim::vx
