#include "custom_ops/hswish.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace tim {
namespace custom_ops {
namespace {

// One item = one element, in images and in buffers.
const char kSource[] = R"(
#pragma OPENCL FP_CONTRACT OFF

float hswish(float code, float inputScale, float inputTail, float outputScale,
             float outputZP) {
  const float x = code * inputScale + inputTail;
  const float y = x * clamp(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
  return y * outputScale + outputZP;
}

float from_bf16(uint bits) { return as_float(bits << 16); }

// To nearest, ties to even; a NaN stays one.
ushort to_bf16(float value) {
  const uint bits = as_uint(value);
  if (isnan(value)) return (ushort)((bits >> 16) | 0x40);
  return (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

#define HSWISH_IMAGE(types, read, decode, encode, write)                   \
  __kernel void hswish_##types(                                            \
      __read_only image2d_array_t input,                                   \
      __write_only image2d_array_t output, float inputScale,               \
      float inputTail, float outputScale, float outputZP) {                \
    const int4 at = (int4)(get_global_id(0), get_global_id(1),             \
                           get_global_id(2), 0);                           \
    const float y = hswish(decode(read(input, at).x), inputScale,          \
                           inputTail, outputScale, outputZP);              \
    write(output, at, encode(y));                                          \
  }

#define HSWISH_BUFFER(types, T, load, store)                               \
  __kernel void hswish_##types##_buffer(                                   \
      __global const T* input, __global T* output, float inputScale,       \
      float inputTail, float outputScale, float outputZP) {                \
    const size_t i = get_global_id(0);                                     \
    store(hswish(load(i, input), inputScale, inputTail, outputScale,       \
                 outputZP), i, output);                                    \
  }

#define TEXEL(value) ((float4)((value), 0, 0, 0))
#define UINT_TEXEL(value) ((uint4)((value), 0, 0, 0))
#define BF16_TEXEL(value) UINT_TEXEL(to_bf16(value))
#define U8_TEXEL(value) UINT_TEXEL(convert_uchar_sat_rte(value))

HSWISH_IMAGE(F32toF32, read_imagef, , TEXEL, write_imagef)
HSWISH_IMAGE(F16toF16, read_imagef, , TEXEL, write_imagef)
HSWISH_IMAGE(BF16toBF16, read_imageui, from_bf16, BF16_TEXEL, write_imageui)
HSWISH_IMAGE(U8toU8, read_imageui, convert_float, U8_TEXEL, write_imageui)

#define LOAD_F32(i, p) ((p)[i])
#define STORE_F32(value, i, p) ((p)[i] = (value))
#define LOAD_BF16(i, p) from_bf16((p)[i])
#define STORE_BF16(value, i, p) ((p)[i] = to_bf16(value))
#define LOAD_U8(i, p) convert_float((p)[i])
#define STORE_U8(value, i, p) ((p)[i] = convert_uchar_sat_rte(value))

HSWISH_BUFFER(F32toF32, float, LOAD_F32, STORE_F32)
HSWISH_BUFFER(F16toF16, half, vload_half, vstore_half_rte)
HSWISH_BUFFER(BF16toBF16, ushort, LOAD_BF16, STORE_BF16)
HSWISH_BUFFER(U8toU8, uchar, LOAD_U8, STORE_U8)
)";

struct Function {
  vx::DataType type;
  const char* image;
  const char* buffer;
};

const Function kFunctions[] = {
    {vx::DataType::FLOAT32, "hswish_F32toF32", "hswish_F32toF32_buffer"},
    {vx::DataType::FLOAT16, "hswish_F16toF16", "hswish_F16toF16_buffer"},
    {vx::DataType::UINT16, "hswish_BF16toBF16", "hswish_BF16toBF16_buffer"},
    {vx::DataType::UINT8, "hswish_U8toU8", "hswish_U8toU8_buffer"},
};

// The kernels' functions, for the host.
float FromBf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t ToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint8_t ToUint8(float value) {
  // Also of a NaN, as convert_uchar_sat_rte() does.
  if (!(value > 0)) return 0;
  return static_cast<uint8_t>(std::rint(std::min(value, 255.0f)));
}

float HardSwish(float code, const HSwish::ParamTuple& scalars) {
  const float x = code * std::get<0>(scalars) + std::get<1>(scalars);
  const float gate = std::min(std::max(x + 3.0f, 0.0f), 6.0f);
  return x * gate * (1.0f / 6.0f) * std::get<2>(scalars) + std::get<3>(scalars);
}

template <typename T, typename Decode, typename Encode>
void Apply(const vx::ops::HostInput& input, const vx::ops::HostOutput& output,
           const HSwish::ParamTuple& scalars, Decode decode, Encode encode) {
  const T* x = input.Data<T>();
  T* y = output.Data<T>();
  const int64_t count = output.spec.GetElementNum();
  for (int64_t i = 0; i < count; ++i) {
    y[i] = encode(HardSwish(decode(x[i]), scalars));
  }
}

}  // namespace

HSwish::HSwish(vx::Graph* graph, float inputScale, float inputTail,
               float outputScale, float outputZP, Storage storage)
    : CustomOpBase(graph, 1, 1, -1, "HSwish",
                   {{"inputScale", inputScale},
                    {"inputTail", inputTail},
                    {"outputScale", outputScale},
                    {"outputZP", outputZP}}),
      params_(inputScale, inputTail, outputScale, outputZP),
      storage_(storage) {
  vx::ops::param_transform(params_, param_list_);
  kernel_resource_ = kSource;
}

std::shared_ptr<vx::Operation> HSwish::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<HSwish>(
      std::get<0>(params_), std::get<1>(params_), std::get<2>(params_),
      std::get<3>(params_), storage_);
}

void HSwish::SetupShapeInfor() { outputs_size_[0] = inputs_size_[0]; }

void HSwish::SetupParams(std::vector<vx::DataType> input_types, std::string&) {
  for (const Function& function : kFunctions) {
    if (function.type != input_types[0]) continue;
    func_name_ = storage_ == Storage::kImage ? function.image : function.buffer;
    return;
  }
  throw std::invalid_argument(
      "HSwish takes FLOAT32, FLOAT16, UINT8 or UINT16 (bfloat16)");
}

void HSwish::SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                          std::vector<size_t>&) {
  // Width, height, layers; a buffer is one row.
  gobal_size.assign(3, 1);
  const vx::ShapeType& shape = inputs_size_[0];
  dim = storage_ == Storage::kImage ? 3 : 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    gobal_size[i < dim ? i : dim - 1] *= shape[i];
  }
}

void HSwish::HostEval(const std::vector<vx::ops::HostInput>& inputs,
                      const std::vector<vx::ops::HostOutput>& outputs) {
  const auto as_float = [](auto value) { return static_cast<float>(value); };
  switch (inputs[0].spec.datatype_) {
    case vx::DataType::FLOAT16:
      return Apply<vx::Half>(inputs[0], outputs[0], params_, as_float,
                             [](float value) { return vx::Half(value); });
    case vx::DataType::UINT16:
      return Apply<uint16_t>(inputs[0], outputs[0], params_, FromBf16, ToBf16);
    case vx::DataType::UINT8:
      return Apply<uint8_t>(inputs[0], outputs[0], params_, as_float, ToUint8);
    default:  // SetupParams() has refused all but FLOAT32
      return Apply<float>(inputs[0], outputs[0], params_, as_float, as_float);
  }
}

}  // namespace custom_ops
}  // namespace tim
