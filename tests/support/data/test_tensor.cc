#include "tests/support/data/test_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <limits>

#include "base/half.h"
#include "kernels/elements.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

float RandomReal(std::mt19937& rng) {
  if (rng() % 16 == 0) return 0.0f;
  return std::normal_distribution<float>(0.0f, 2.0f)(rng);
}

void RandomFloats(const TensorDesc& desc, int64_t count, std::mt19937& rng,
                  std::byte* data) {
  TensorDesc plain = desc;
  plain.quantization = {};
  kernels::ElementWriter writer({&plain, data});
  for (int64_t i = 0; i < count; ++i) writer.StoreReal(i, RandomReal(rng));
}

// Unused nibbles of packed rows stay 0.
void RandomCodes(const TensorDesc& desc, int64_t count, std::mt19937& rng,
                 std::byte* data) {
  const bool is_bool = desc.type == DataType::kBool8;
  kernels::ElementWriter writer({&desc, data});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bits =
        static_cast<int64_t>(rng()) | static_cast<int64_t>(rng()) << 32;
    const ir::DataTypeInfo& info = ir::Info(desc.type);
    const int64_t code =
        is_bool ? bits & 1
        : info.bits == 64
            ? bits
            : info.min + static_cast<int64_t>(
                             static_cast<uint64_t>(bits) %
                             (static_cast<uint64_t>(info.max - info.min) + 1));
    writer.StoreCode(i, code);
  }
}

int64_t Elements(const TensorDesc& desc) {
  return desc.shape.NumElements().value_or(0);
}

// Calls visit(dense index, physical index) for the lanes that hold an element
// and visit(-1, physical index) for tail lanes.
template <typename Visit>
void VisitBlocked(const TensorDesc& desc, const Visit& visit) {
  const int axis = desc.layout.axis;
  const int64_t block = desc.layout.block;
  const int64_t inner = desc.shape.Product(0, axis);
  const int64_t extent = desc.shape[axis];
  const int64_t outer = desc.shape.Product(axis + 1, desc.shape.rank());
  int64_t physical = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t first = 0; first < extent; first += block) {
      for (int64_t i = 0; i < inner; ++i) {
        for (int64_t lane = 0; lane < block; ++lane, ++physical) {
          const int64_t c = first + lane;
          visit(c < extent ? i + inner * (c + extent * o) : -1, physical);
        }
      }
    }
  }
}

Status CheckLayout(const TensorDesc& desc) {
  if (desc.layout.dense()) return OkStatus();
  if (!desc.layout.blocked() || desc.layout.axis < 0 ||
      desc.layout.axis >= desc.shape.rank() ||
      ir::Info(desc.type).bits % 8 != 0) {
    return InvalidArgument("the tests cannot convert ", desc.ToString());
  }
  return OkStatus();
}

bool Near(double expected, double actual, Tolerance tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(expected - actual) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

}  // namespace

TensorDesc Desc(DataType type, std::vector<int64_t> shape) {
  return {.type = type,
          .shape = ir::Shape(std::move(shape)),
          .quantization = {},
          .layout = {}};
}

TensorDesc Desc(DataType type, std::vector<int64_t> shape, float scale,
                int32_t zero_point) {
  TensorDesc desc = Desc(type, std::move(shape));
  desc.quantization = ir::Quantization::PerTensor(scale, zero_point);
  return desc;
}

namespace {

struct ShortName {
  const char* name;
  DataType type;
};
constexpr ShortName kShortNames[] = {
    {"f32", DataType::kFloat32},   {"f16", DataType::kFloat16},
    {"bf16", DataType::kBFloat16}, {"f64", DataType::kFloat64},
    {"b8", DataType::kBool8},      {"i4", DataType::kInt4},
    {"u4", DataType::kUint4},      {"i8", DataType::kInt8},
    {"u8", DataType::kUint8},      {"i16", DataType::kInt16},
    {"u16", DataType::kUint16},    {"i32", DataType::kInt32},
    {"u32", DataType::kUint32},    {"i64", DataType::kInt64},
    {"u64", DataType::kUint64},
};

DataType TypeNamed(const std::string& name) {
  for (const ShortName& entry : kShortNames) {
    if (name == entry.name) return entry.type;
  }
  return DataType::kUnknown;
}

// Real values of some units, whatever the type's width.
float RandomScale(DataType type, std::mt19937& rng) {
  const float steps = std::ldexp(1.0f, std::min(ir::Info(type).bits, 24));
  return std::uniform_real_distribution<float>(4.0f, 24.0f)(rng) / steps;
}

int32_t RandomZeroPoint(DataType type, std::mt19937& rng) {
  const ir::DataTypeInfo& info = ir::Info(type);
  if (info.bits > 16) return static_cast<int32_t>(rng() % 2001) - 1000;
  return static_cast<int32_t>(info.min + rng() % (info.max - info.min + 1));
}

}  // namespace

TensorDesc DescOf(const std::string& name, std::vector<int64_t> shape,
                  std::mt19937& rng, int axis) {
  TensorDesc desc = Desc(TypeNamed(name), std::move(shape));
  if (desc.type != DataType::kUnknown) return desc;
  desc.type = TypeNamed(name.substr(0, name.size() - 1));
  ir::Quantization& quantization = desc.quantization;
  switch (name.back()) {
    case 'a':
      quantization = ir::Quantization::PerTensor(
          RandomScale(desc.type, rng), RandomZeroPoint(desc.type, rng));
      break;
    case 'd':
      quantization.kind = ir::QuantizationKind::kFixedPoint;
      quantization.fl =
          ir::Info(desc.type).bits - 3 - static_cast<int>(rng() % 3);
      break;
    default:
      quantization.kind = ir::QuantizationKind::kPerChannel;
      quantization.axis = axis;
      for (int64_t i = 0; i < desc.shape[axis]; ++i) {
        quantization.scales.push_back(RandomScale(desc.type, rng));
        quantization.zero_points.push_back(RandomZeroPoint(desc.type, rng));
      }
  }
  return desc;
}

std::vector<int64_t> RandomShape(int rank, std::mt19937& rng, int64_t limit) {
  constexpr int64_t kExtents[] = {1, 2, 3, 5, 16, 31, 32, 33};
  std::vector<int64_t> shape(rank, 1);
  std::vector<int> order(rank);
  for (int i = 0; i < rank; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), rng);
  for (const int axis : order) {
    const int64_t extent = kExtents[rng() % std::size(kExtents)];
    if (extent > limit) continue;
    shape[axis] = extent;
    limit /= extent;
  }
  return shape;
}

TensorDesc DescFixed(DataType type, std::vector<int64_t> shape, int fl) {
  TensorDesc desc = Desc(type, std::move(shape));
  desc.quantization.kind = ir::QuantizationKind::kFixedPoint;
  desc.quantization.fl = fl;
  return desc;
}

std::vector<double> RealValues(const TensorData& tensor) {
  const TensorDesc& desc = tensor.desc;
  const kernels::ElementReader reader({&desc, tensor.bytes.data()});
  const kernels::ChannelIndex channel(desc);
  std::vector<double> out(Elements(desc));
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    if (desc.type == DataType::kFloat64) {
      std::memcpy(&out[i], tensor.bytes.data() + i * 8, 8);
    } else if (ir::IsFloat(desc.type)) {
      out[i] = reader.Real(i);
    } else if (desc.quantized()) {
      const int64_t c = channel(i);
      out[i] =
          static_cast<double>(reader.Code(i) - desc.quantization.ZeroPoint(c)) *
          static_cast<double>(desc.quantization.Scale(c));
    } else {
      out[i] = static_cast<double>(reader.Code(i));
    }
  }
  return out;
}

std::vector<int64_t> Codes(const TensorData& tensor) {
  const kernels::ElementReader reader({&tensor.desc, tensor.bytes.data()});
  std::vector<int64_t> out(Elements(tensor.desc));
  for (size_t i = 0; i < out.size(); ++i) out[i] = reader.Code(i);
  return out;
}

TensorData RandomTensor(const TensorDesc& desc, std::mt19937& rng) {
  TensorData out{desc, {}};
  out.desc.layout = ir::Layout::Dense();
  const Result<int64_t> bytes = ir::ByteSize(out.desc);
  if (!bytes.ok()) return out;
  out.bytes.resize(*bytes);
  if (ir::IsFloat(desc.type)) {
    RandomFloats(out.desc, Elements(desc), rng, out.bytes.data());
  } else {
    RandomCodes(out.desc, Elements(desc), rng, out.bytes.data());
  }
  return out;
}

Status CompareTensors(const TensorData& expected, const TensorData& actual,
                      Tolerance tolerance) {
  if (expected.bytes.size() != actual.bytes.size()) {
    return InvalidArgument(actual.bytes.size(), " bytes, expected ",
                           expected.bytes.size());
  }
  const bool is_float = ir::IsFloat(expected.desc.type);
  const std::vector<double> want = RealValues(expected);
  const std::vector<double> have = RealValues(actual);
  const std::vector<int64_t> want_codes =
      is_float ? std::vector<int64_t>() : Codes(expected);
  const std::vector<int64_t> have_codes =
      is_float ? std::vector<int64_t>() : Codes(actual);
  for (size_t i = 0; i < want.size(); ++i) {
    if (is_float ? Near(want[i], have[i], tolerance)
                 : want_codes[i] == have_codes[i]) {
      continue;
    }
    return InvalidArgument(
        "element ", i, " of ", expected.desc.ToString(), " is ", have[i],
        is_float ? std::string() : StrCat(" (code ", have_codes[i], ")"),
        ", expected ", want[i],
        is_float ? std::string() : StrCat(" (code ", want_codes[i], ")"));
  }
  return OkStatus();
}

Status CheckReal(const TensorData& actual, const std::vector<double>& expected,
                 Tolerance tolerance) {
  const TensorDesc& desc = actual.desc;
  if (Elements(desc) != static_cast<int64_t>(expected.size())) {
    return InvalidArgument(desc.ToString(), " has other elements than the ",
                           expected.size(), " expected");
  }
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const std::vector<double> real = RealValues(actual);
  const kernels::ElementReader reader({&desc, actual.bytes.data()});
  const kernels::ChannelIndex channel(desc);
  // Half a unit in the last place; float64 results come from float.
  if (info.bits == 16 && ir::IsFloat(desc.type)) {
    tolerance.relative += desc.type == DataType::kFloat16 ? 0x1p-11 : 0x1p-8;
    tolerance.absolute += desc.type == DataType::kFloat16 ? 0x1p-25 : 0;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(expected.size()); ++i) {
    if (ir::IsFloat(desc.type)) {
      const double want =
          desc.type == DataType::kFloat16 && std::abs(expected[i]) >= 65520
              ? std::copysign(std::numeric_limits<double>::infinity(),
                              expected[i])
              : expected[i];
      if (Near(want, real[i], tolerance)) continue;
      return InvalidArgument("element ", i, " of ", desc.ToString(), " is ",
                             real[i], ", expected ", expected[i]);
    }
    const int64_t code = reader.Code(i);
    if (desc.type == DataType::kBool8) {
      if (code == (expected[i] != 0)) continue;
    } else {
      const bool quantized = desc.quantized();
      const int64_t c = channel(i);
      const double units =
          expected[i] / (quantized ? desc.quantization.Scale(c) : 1.0f) +
          (quantized ? desc.quantization.ZeroPoint(c) : 0);
      const double clamped = std::clamp(units, static_cast<double>(info.min),
                                        static_cast<double>(info.max));
      const double slack = 0.51 + std::abs(clamped) * 0x1p-22;
      if (std::abs(static_cast<double>(code) - clamped) <= slack) continue;
    }
    return InvalidArgument("element ", i, " of ", desc.ToString(), " has code ",
                           code, ", expected the real value ", expected[i]);
  }
  return OkStatus();
}

Result<std::vector<std::byte>> ToLayout(const TensorData& dense,
                                        const ir::Layout& layout) {
  TensorDesc desc = dense.desc;
  desc.layout = layout;
  TIM_RETURN_IF_ERROR(CheckLayout(desc));
  if (layout.dense()) return dense.bytes;
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
  std::vector<std::byte> out(bytes);
  TensorDesc flat = desc;
  flat.layout = ir::Layout::Dense();
  kernels::ElementWriter writer({&flat, out.data()});
  const int64_t size = ir::Info(desc.type).bits / 8;
  VisitBlocked(desc, [&](int64_t element, int64_t physical) {
    if (element < 0) {
      if (desc.quantized()) {
        writer.StoreCode(physical, desc.quantization.ZeroPoint());
      }
      return;
    }
    std::copy_n(dense.bytes.data() + element * size, size,
                out.data() + physical * size);
  });
  return out;
}

Result<TensorData> FromLayout(const std::vector<std::byte>& bytes,
                              const TensorDesc& desc) {
  TIM_RETURN_IF_ERROR(CheckLayout(desc));
  TensorData out{desc, bytes};
  out.desc.layout = ir::Layout::Dense();
  if (desc.layout.dense()) return out;
  TIM_ASSIGN_OR_RETURN(const int64_t dense_bytes, ir::ByteSize(out.desc));
  out.bytes.resize(dense_bytes);
  const kernels::ElementReader reader({&out.desc, bytes.data()});
  const int64_t size = ir::Info(desc.type).bits / 8;
  int64_t bad = -1;
  VisitBlocked(desc, [&](int64_t element, int64_t physical) {
    if (element >= 0) {
      std::copy_n(bytes.data() + physical * size, size,
                  out.bytes.data() + element * size);
      return;
    }
    const bool zero = desc.quantized() ? reader.Code(physical) ==
                                             desc.quantization.ZeroPoint()
                                       : reader.Real(physical) == 0.0f;
    if (!zero) bad = physical;
  });
  if (bad >= 0) {
    return InvalidArgument("the tail lane at ", bad, " of ", desc.ToString(),
                           " is not the real value 0");
  }
  return out;
}

std::mt19937 SeededRng(uint32_t seed) {
  if (const char* text = std::getenv("TIMCL_TEST_SEED")) {
    seed = static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  }
  std::cout << "seed " << seed << " (TIMCL_TEST_SEED)\n";
  return std::mt19937(seed);
}

ir::TensorDesc RandomDesc(ir::DataType type, const std::vector<int64_t>& dims,
                          std::mt19937& rng) {
  const float scale = std::ldexp(1.0f + 0.001f * (rng() % 1000), -5);
  switch (type) {
    case ir::DataType::kUint8:
      return Desc(type, dims, scale, rng() % 256);
    case ir::DataType::kInt8:
      return rng() % 2 ? Desc(type, dims, scale, static_cast<int>(rng() % 9))
                       : DescFixed(type, dims, 4);
    case ir::DataType::kInt16:
      return rng() % 2
                 ? Desc(type, dims, scale / 256, static_cast<int>(rng() % 9))
                 : DescFixed(type, dims, 11);
    default:
      return Desc(type, dims);
  }
}

}  // namespace tim::testing
