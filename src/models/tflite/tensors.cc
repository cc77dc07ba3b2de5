// Tensors of a .tflite file: type, quantization and constant elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/tflite/reader.h"
#include "models/tflite/sparse.h"

namespace tim::models::tflite {
namespace {

constexpr int kMostAxes = 8;

struct TypeName {
  fbs::TensorType type;
  vx::DataType graph_type;  ///< UNKNOWN: no graph has it.
  const char* name;
};

constexpr TypeName kTypes[] = {
    {fbs::TensorType::FLOAT32, vx::DataType::FLOAT32, "FLOAT32"},
    {fbs::TensorType::FLOAT16, vx::DataType::FLOAT16, "FLOAT16"},
    {fbs::TensorType::INT32, vx::DataType::INT32, "INT32"},
    {fbs::TensorType::UINT8, vx::DataType::UINT8, "UINT8"},
    {fbs::TensorType::INT64, vx::DataType::INT64, "INT64"},
    {fbs::TensorType::STRING, vx::DataType::UNKNOWN, "STRING"},
    {fbs::TensorType::BOOL, vx::DataType::BOOL8, "BOOL"},
    {fbs::TensorType::INT16, vx::DataType::INT16, "INT16"},
    {fbs::TensorType::COMPLEX64, vx::DataType::UNKNOWN, "COMPLEX64"},
    {fbs::TensorType::INT8, vx::DataType::INT8, "INT8"},
    {fbs::TensorType::FLOAT64, vx::DataType::UNKNOWN, "FLOAT64"},
    {fbs::TensorType::COMPLEX128, vx::DataType::UNKNOWN, "COMPLEX128"},
    {fbs::TensorType::UINT64, vx::DataType::UNKNOWN, "UINT64"},
    {fbs::TensorType::RESOURCE, vx::DataType::UNKNOWN, "RESOURCE"},
    {fbs::TensorType::VARIANT, vx::DataType::UNKNOWN, "VARIANT"},
    {fbs::TensorType::UINT32, vx::DataType::UINT32, "UINT32"},
    {fbs::TensorType::UINT16, vx::DataType::UINT16, "UINT16"},
    {fbs::TensorType::INT4, vx::DataType::INT4, "INT4"},
    {fbs::TensorType::BFLOAT16, vx::DataType::UNKNOWN, "BFLOAT16"},
};

Result<vx::DataType> TypeOf(fbs::TensorType type) {
  for (const TypeName& entry : kTypes) {
    if (entry.type != type) continue;
    if (entry.graph_type != vx::DataType::UNKNOWN) return entry.graph_type;
    return Unimplemented("type ", entry.name,
                         "; FLOAT32, FLOAT16, BOOL and integers of up to 64 "
                         "bits are taken");
  }
  return InvalidArgument("type ", static_cast<int>(type),
                         ", which the format does not have");
}

bool IsQuantizable(vx::DataType type) {
  switch (type) {
    case vx::DataType::INT4:
    case vx::DataType::INT8:
    case vx::DataType::UINT8:
    case vx::DataType::INT16:
    case vx::DataType::UINT16:
    case vx::DataType::INT32:
    case vx::DataType::INT64:
      return true;
    default:
      return false;
  }
}

Result<vx::Quantization> QuantizationOf(
    const fbs::QuantizationParameters* parameters, const Value& value) {
  if (parameters == nullptr || !IsQuantizable(value.type)) {
    return vx::Quantization();
  }
  if (parameters->details_type() != 0) {
    return Unimplemented("quantization of kind ", parameters->details_type(),
                         "; scales and zero points are taken");
  }
  const auto scales = Items(parameters->scale());
  const auto zeros = Items(parameters->zero_point());
  if (scales.empty()) return vx::Quantization();
  std::vector<int32_t> zero_points;
  for (const int64_t zero : zeros) {
    if (zero < std::numeric_limits<int32_t>::min() ||
        zero > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("zero point ", zero);
    }
    zero_points.push_back(static_cast<int32_t>(zero));
  }
  for (const float scale : scales) {
    if (!std::isfinite(scale) || scale < 0) {
      return InvalidArgument("scale ", scale);
    }
  }
  if (scales.size() == 1 && zeros.size() <= 1) {
    // Files have scales of 0 where nothing is quantized.
    if (scales[0] == 0) return vx::Quantization();
    return vx::Quantization(vx::QuantType::ASYMMETRIC, scales[0],
                            zero_points.empty() ? 0 : zero_points[0]);
  }
  const int axis = parameters->axis();
  if (axis < 0 || axis >= value.rank()) {
    return InvalidArgument("quantized dimension ", axis, " of rank ",
                           value.rank());
  }
  if (static_cast<int64_t>(scales.size()) != value.dims[axis] ||
      (!zeros.empty() && zeros.size() != 1 && zeros.size() != scales.size())) {
    return InvalidArgument(scales.size(), " scales and ", zeros.size(),
                           " zero points along dimension ", axis, " of extent ",
                           value.dims[axis]);
  }
  const bool is_symmetric = std::all_of(zero_points.begin(), zero_points.end(),
                                        [](int32_t zero) { return zero == 0; });
  if (is_symmetric) zero_points.assign(scales.size(), 0);
  return vx::Quantization(is_symmetric ? vx::QuantType::SYMMETRIC_PER_CHANNEL
                                       : vx::QuantType::ASYMMETRIC_PER_CHANNEL,
                          GraphAxis(axis, value.rank()),
                          {scales.begin(), scales.end()}, zero_points);
}

// Two elements per byte, the first one in the low bits.
HostArray Unpacked(std::span<const std::byte> packed, const Dims& dims,
                   int64_t count) {
  std::vector<int8_t> codes(static_cast<size_t>(count));
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto pair = static_cast<uint8_t>(packed[i / 2]);
    const uint8_t nibble = i % 2 == 0 ? pair & 15 : pair >> 4;
    codes[i] = static_cast<int8_t>(nibble < 8 ? nibble : nibble - 16);
  }
  return ArrayOf(codes, dims);
}

}  // namespace

Result<Value> DeclaredOf(const fbs::Tensor& tensor) {
  Value value;
  if (tensor.name() != nullptr) value.name = tensor.name()->str();
  const auto type = TypeOf(tensor.type());
  if (!type.ok()) {
    return type.status().WithContext(StrCat("tensor '", value.name, "'"));
  }
  value.type = *type;
  for (const int32_t extent : Items(tensor.shape())) {
    if (extent < -1) {
      return InvalidArgument("tensor '", value.name, "' has extent ", extent);
    }
    value.dims.push_back(extent);
  }
  if (value.rank() > kMostAxes) {
    return Unimplemented("tensor '", value.name, "' has rank ", value.rank(),
                         "; up to ", kMostAxes, " are taken");
  }
  auto quantization = QuantizationOf(tensor.quantization(), value);
  if (!quantization.ok()) {
    return quantization.status().WithContext(
        StrCat("tensor '", value.name, "'"));
  }
  value.quantization = *std::move(quantization);
  return value;
}

Status ReadConstant(const File& file, const fbs::Tensor& tensor, Value* value) {
  const std::span<const std::byte> bytes = file.BufferOf(tensor);
  const std::string whose = StrCat("tensor '", value->name, "'");
  if (tensor.external_buffer() != 0) {
    return Unimplemented(whose, " lies in another file");
  }
  const bool is_packed = value->type == vx::DataType::INT4;
  const int64_t count = ByteSizeOf(vx::DataType::INT8, value->dims);
  const int64_t expected =
      count < 0 ? -1
                : (is_packed ? count / 2 + count % 2
                             : ByteSizeOf(value->type, value->dims));
  if (expected < 0) {
    return InvalidArgument(whose, " has a buffer of ", bytes.size(),
                           " bytes, its extents are [",
                           StrJoin(value->dims, ","), "]");
  }
  HostArray array;
  if (tensor.sparsity() != nullptr) {
    if (is_packed) return Unimplemented(whose, " is sparse and INT4");
    auto dense = Densified(*tensor.sparsity(), bytes, value->type, value->dims);
    if (!dense.ok()) return dense.status().WithContext(whose);
    array = *std::move(dense);
  } else if (static_cast<int64_t>(bytes.size()) != expected) {
    return InvalidArgument(whose, " has a buffer of ", bytes.size(),
                           " bytes, its extents [", StrJoin(value->dims, ","),
                           "] are ", expected);
  } else if (is_packed) {
    array = Unpacked(bytes, value->dims, count);
  } else {
    array.type = value->type;
    array.dims = value->dims;
    array.bytes = bytes.size();
    // Files that are made by hand align their buffers to 4 bytes.
    if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0) {
      array.data = std::shared_ptr<const void>(file.keeper(), bytes.data());
    } else {
      auto copy = std::make_shared<std::vector<int64_t>>(bytes.size() / 8 + 1);
      if (!bytes.empty()) {
        std::memcpy(copy->data(), bytes.data(), bytes.size());
      }
      array.data = std::shared_ptr<const void>(copy, copy->data());
    }
  }
  value->type = array.type;
  value->constant = std::make_shared<const HostArray>(std::move(array));
  return OkStatus();
}

}  // namespace tim::models::tflite
