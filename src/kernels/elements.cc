#include "kernels/elements.h"

#include <cstring>
#include <limits>

#include "base/half.h"

namespace tim::kernels {
namespace {

using ir::DataType;

// Byte and nibble of element i of a packed 4-bit tensor.
struct Nibble {
  int64_t byte;
  int shift;
  bool ends_row;  // In a byte that it has alone.
};
Nibble NibbleOf(const ir::TensorDesc& desc, int64_t i) {
  const int64_t row = desc.shape.rank() > 0 ? desc.shape[0] : 1;
  const int64_t column = i % row;
  return {i / row * ((row + 1) / 2) + column / 2,
          static_cast<int>(column % 2) * 4,
          column % 2 == 0 && column + 1 == row};
}

template <typename T>
T Load(const void* data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const T*>(data) + i, sizeof(T));
  return value;
}

template <typename T>
void Store(void* data, int64_t i, T value) {
  std::memcpy(static_cast<T*>(data) + i, &value, sizeof(T));
}

int64_t LoadInteger(const ir::TensorDesc& desc, const void* data, int64_t i) {
  switch (desc.type) {
    case DataType::kInt8:
      return Load<int8_t>(data, i);
    case DataType::kUint8:
      return Load<uint8_t>(data, i);
    case DataType::kBool8:
      return Load<uint8_t>(data, i) != 0;
    case DataType::kInt16:
      return Load<int16_t>(data, i);
    case DataType::kUint16:
      return Load<uint16_t>(data, i);
    case DataType::kInt32:
      return Load<int32_t>(data, i);
    case DataType::kUint32:
      return Load<uint32_t>(data, i);
    case DataType::kInt64:
    case DataType::kUint64:
      return Load<int64_t>(data, i);
    case DataType::kInt4:
    case DataType::kUint4: {
      const Nibble at = NibbleOf(desc, i);
      const int code = (Load<uint8_t>(data, at.byte) >> at.shift) & 15;
      return desc.type == DataType::kInt4 && code > 7 ? code - 16 : code;
    }
    default:
      return 0;
  }
}

void StoreInteger(const ir::TensorDesc& desc, void* data, int64_t i,
                  int64_t code) {
  switch (ir::Info(desc.type).bits) {
    case 4: {
      const Nibble at = NibbleOf(desc, i);
      const int other =
          at.ends_row ? 0 : Load<uint8_t>(data, at.byte) & (0xf0 >> at.shift);
      Store(data, at.byte,
            static_cast<uint8_t>(other | (code & 15) << at.shift));
      return;
    }
    case 8:
      return Store(data, i, static_cast<uint8_t>(code));
    case 16:
      return Store(data, i, static_cast<uint16_t>(code));
    case 32:
      return Store(data, i, static_cast<uint32_t>(code));
    default:
      return Store(data, i, code);
  }
}

float LoadFloat(DataType type, const void* data, int64_t i) {
  switch (type) {
    case DataType::kFloat16:
      return HalfToFloat(Load<uint16_t>(data, i));
    case DataType::kBFloat16:
      return BFloat16ToFloat(Load<uint16_t>(data, i));
    case DataType::kFloat64:
      return static_cast<float>(Load<double>(data, i));
    default:
      return Load<float>(data, i);
  }
}

void StoreFloat(DataType type, void* data, int64_t i, float value) {
  switch (type) {
    case DataType::kFloat16:
      return Store(data, i, FloatToHalf(value));
    case DataType::kBFloat16:
      return Store(data, i, FloatToBFloat16(value));
    case DataType::kFloat64:
      return Store(data, i, static_cast<double>(value));
    default:
      return Store(data, i, value);
  }
}

}  // namespace

RequantizePolicy PolicyOf(const ir::AttributeMap& attributes) {
  return {.wrap = attributes.Int(ir::kOverflowPolicy) == 0,
          .to_zero = attributes.Int(ir::kRoundingPolicy) == 0};
}

ChannelIndex::ChannelIndex(const ir::TensorDesc& desc) {
  const ir::Quantization& quantization = desc.quantization;
  if (!desc.quantized() || !quantization.per_channel()) return;
  if (quantization.axis < 0 || quantization.axis >= desc.shape.rank()) return;
  stride_ = desc.shape.Product(0, quantization.axis);
  channels_ = desc.shape[quantization.axis];
}

ElementReader::ElementReader(const ir::ConstTensor& tensor)
    : desc_(*tensor.desc), data_(tensor.data), channel_(desc_) {}

namespace {

// code - zero, saturated: codes of 64 bits may lie at their limits.
int64_t Centered(int64_t code, int64_t zero) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(code, zero, &difference)) return difference;
  return zero < 0 ? std::numeric_limits<int64_t>::max()
                  : std::numeric_limits<int64_t>::min();
}

}  // namespace

float ElementReader::Real(int64_t i) const {
  if (ir::IsFloat(desc_.type)) return LoadFloat(desc_.type, data_, i);
  const int64_t code = LoadInteger(desc_, data_, i);
  if (!desc_.quantized()) return static_cast<float>(code);
  const int64_t c = channel_(i);
  return static_cast<float>(Centered(code, desc_.quantization.ZeroPoint(c))) *
         desc_.quantization.Scale(c);
}

int64_t ElementReader::Code(int64_t i) const {
  return LoadInteger(desc_, data_, i);
}

ElementWriter::ElementWriter(const ir::MutableTensor& tensor,
                             RequantizePolicy policy)
    : desc_(*tensor.desc),
      info_(ir::Info(desc_.type)),
      data_(tensor.data),
      policy_(policy),
      channel_(desc_) {}

void ElementWriter::StoreReal(int64_t i, float real) {
  if (ir::IsFloat(desc_.type)) return StoreFloat(desc_.type, data_, i, real);
  if (desc_.type == DataType::kBool8) return StoreBits(i, real != 0.0f);
  if (!desc_.quantized()) return StoreUnits(i, real);
  const int64_t c = channel_(i);
  const auto zero = static_cast<float>(desc_.quantization.ZeroPoint(c));
  StoreUnits(i, real / desc_.quantization.Scale(c) + zero);
}

void ElementWriter::StoreUnits(int64_t i, float units) {
  if (ir::IsFloat(desc_.type)) return StoreFloat(desc_.type, data_, i, units);
  if (desc_.type == DataType::kBool8) return StoreBits(i, units != 0.0f);
  StoreBits(i, RoundToCode(units, info_.min, info_.max, info_.bits, policy_));
}

void ElementWriter::StoreCode(int64_t i, int64_t code) {
  if (desc_.type == DataType::kBool8) return StoreBits(i, code != 0);
  StoreBits(i, FitCode(code, info_.min, info_.max, info_.bits, policy_.wrap));
}

void ElementWriter::StoreBits(int64_t i, int64_t code) {
  StoreInteger(desc_, data_, i, code);
}

ConvertRule ConvertRuleOf(const ir::TensorDesc& from,
                          const ir::TensorDesc& to) {
  if (ir::SameElements(from, to)) return ConvertRule::kBits;
  if (ir::IsFloat(from.type) || ir::IsFloat(to.type)) return ConvertRule::kReal;
  if (!from.quantized() && !to.quantized()) return ConvertRule::kInteger;
  const bool boolean =
      from.type == DataType::kBool8 || to.type == DataType::kBool8;
  return boolean ? ConvertRule::kReal : ConvertRule::kRequantize;
}

ElementConverter::ElementConverter(const ir::ConstTensor& from,
                                   const ir::MutableTensor& to,
                                   ConvertRule rule, RequantizePolicy policy)
    : from_(*from.desc),
      to_(*to.desc),
      from_data_(from.data),
      to_data_(to.data),
      rule_(rule),
      reader_(from),
      writer_(to, policy),
      from_channel_(from_),
      to_channel_(to_) {}

void ElementConverter::CopyBits(int64_t from_index, int64_t to_index) {
  const int bits = ir::Info(from_.type).bits;
  if (bits < 8) return writer_.StoreCode(to_index, reader_.Code(from_index));
  const int64_t bytes = bits / 8;
  std::memcpy(static_cast<char*>(to_data_) + to_index * bytes,
              static_cast<const char*>(from_data_) + from_index * bytes, bytes);
}

void ElementConverter::Convert(int64_t from_index, int64_t to_index) {
  switch (rule_) {
    case ConvertRule::kBits:
      return CopyBits(from_index, to_index);
    case ConvertRule::kInteger:
      return writer_.StoreCode(to_index, reader_.Code(from_index));
    case ConvertRule::kReal:
      return writer_.StoreReal(to_index, reader_.Real(from_index));
    case ConvertRule::kRequantize:
      break;
  }
  const int64_t in = from_channel_(from_index);
  const int64_t out = to_channel_(to_index);
  const ir::Quantization none;
  const auto& q_in = from_.quantized() ? from_.quantization : none;
  const auto& q_out = to_.quantized() ? to_.quantization : none;
  const auto centered = static_cast<float>(
      Centered(reader_.Code(from_index), q_in.ZeroPoint(in)));
  const float product = centered * Multiplier(q_in.Scale(in), q_out.Scale(out));
  writer_.StoreUnits(to_index,
                     product + static_cast<float>(q_out.ZeroPoint(out)));
}

bool IsPlainInteger(const ir::TensorDesc& desc) {
  return !ir::IsFloat(desc.type) && !desc.quantized();
}

}  // namespace tim::kernels
