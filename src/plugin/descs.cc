// Numbers of the border are those of src/ir; arrays are checked on their way
// in.
#include "plugin/descs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <variant>

#include "device/host/host_buffer.h"
#include "ir/constant.h"
#include "plugin/tables.h"

namespace tim::plugin {
namespace {

template <typename Enum>
constexpr bool Is(int number, Enum value) {
  return number == static_cast<int>(value);
}

static_assert(Is(TIM_TYPE_UNKNOWN, ir::DataType::kUnknown));
static_assert(Is(TIM_TYPE_INT4, ir::DataType::kInt4));
static_assert(Is(TIM_TYPE_UINT4, ir::DataType::kUint4));
static_assert(Is(TIM_TYPE_INT8, ir::DataType::kInt8));
static_assert(Is(TIM_TYPE_UINT8, ir::DataType::kUint8));
static_assert(Is(TIM_TYPE_INT16, ir::DataType::kInt16));
static_assert(Is(TIM_TYPE_UINT16, ir::DataType::kUint16));
static_assert(Is(TIM_TYPE_INT32, ir::DataType::kInt32));
static_assert(Is(TIM_TYPE_UINT32, ir::DataType::kUint32));
static_assert(Is(TIM_TYPE_INT64, ir::DataType::kInt64));
static_assert(Is(TIM_TYPE_UINT64, ir::DataType::kUint64));
static_assert(Is(TIM_TYPE_BOOL8, ir::DataType::kBool8));
static_assert(Is(TIM_TYPE_FLOAT16, ir::DataType::kFloat16));
static_assert(Is(TIM_TYPE_BFLOAT16, ir::DataType::kBFloat16));
static_assert(Is(TIM_TYPE_FLOAT32, ir::DataType::kFloat32));
static_assert(Is(TIM_TYPE_FLOAT64, ir::DataType::kFloat64));
static_assert(Is(TIM_LAYOUT_ANY, ir::LayoutKind::kAny));
static_assert(Is(TIM_LAYOUT_DENSE, ir::LayoutKind::kDense));
static_assert(Is(TIM_LAYOUT_BLOCKED, ir::LayoutKind::kBlocked));
static_assert(Is(TIM_LAYOUT_STRIDED, ir::LayoutKind::kStrided));
static_assert(Is(TIM_QUANTIZATION_NONE, ir::QuantizationKind::kNone));
static_assert(Is(TIM_QUANTIZATION_PER_TENSOR,
                 ir::QuantizationKind::kPerTensor));
static_assert(Is(TIM_QUANTIZATION_PER_CHANNEL,
                 ir::QuantizationKind::kPerChannel));
static_assert(Is(TIM_QUANTIZATION_FIXED_POINT,
                 ir::QuantizationKind::kFixedPoint));
static_assert(Is(TIM_MEMORY_DEVICE, ir::MemoryKind::kDevice));
static_assert(Is(TIM_MEMORY_HOST, ir::MemoryKind::kHost));
static_assert(Is(TIM_ATTRIBUTE_BOOL, ir::AttributeType::kBool));
static_assert(Is(TIM_ATTRIBUTE_INT, ir::AttributeType::kInt));
static_assert(Is(TIM_ATTRIBUTE_FLOAT, ir::AttributeType::kFloat));
static_assert(Is(TIM_ATTRIBUTE_STRING, ir::AttributeType::kString));
static_assert(Is(TIM_ATTRIBUTE_INTS, ir::AttributeType::kInts));
static_assert(Is(TIM_ATTRIBUTE_FLOATS, ir::AttributeType::kFloats));
static_assert(Is(TIM_ATTRIBUTE_STRINGS, ir::AttributeType::kStrings));
static_assert(Is(TIM_ATTRIBUTE_TENSOR, ir::AttributeType::kTensor));
static_assert(Is(TIM_ATTRIBUTE_GRAPH, ir::AttributeType::kGraph));
static_assert(Is(TIM_CLASS_CPU, ir::DeviceClass::kCpu));
static_assert(Is(TIM_CLASS_GPU, ir::DeviceClass::kGpu));
static_assert(Is(TIM_CLASS_ACCELERATOR, ir::DeviceClass::kAccelerator));

// Per channel of the largest tensor that a kernel may have.
constexpr uint32_t kMostScales = 1u << 24;
constexpr uint64_t kMostElements = 1u << 24;
constexpr int64_t kMostAlignment = 1 << 20;

Status CheckArray(const char* what, const void* array, uint64_t count,
                  uint64_t most) {
  if (count > most)
    return InvalidArgument(count, " ", what, "; at most ", most);
  if (count > 0 && array == nullptr) {
    return InvalidArgument(count, " ", what, " in no array");
  }
  return OkStatus();
}

Result<ir::Shape> ShapeOf(const TimTensorDesc& desc) {
  if (desc.rank == -1) return ir::Shape();
  if (desc.rank < -1 || desc.rank > ir::kMaxRank) {
    return InvalidArgument("a tensor of rank ", desc.rank, "; at most ",
                           ir::kMaxRank);
  }
  TIM_RETURN_IF_ERROR(CheckArray(
      "extents", desc.dims, static_cast<uint64_t>(desc.rank), ir::kMaxRank));
  ir::Shape shape(std::vector<int64_t>(desc.dims, desc.dims + desc.rank));
  for (int axis = 0; axis < desc.rank; ++axis) {
    if (shape[axis] < -1) {
      return InvalidArgument("an extent of ", shape[axis]);
    }
    if (desc.bounds != nullptr && shape[axis] == -1 && desc.bounds[axis] >= 0) {
      shape.SetBound(axis, desc.bounds[axis]);
    }
  }
  return shape;
}

Result<ir::Quantization> QuantizationOf(const TimTensorDesc& desc) {
  if (desc.quantization < TIM_QUANTIZATION_NONE ||
      desc.quantization > TIM_QUANTIZATION_FIXED_POINT) {
    return InvalidArgument("quantization of kind ", desc.quantization);
  }
  TIM_RETURN_IF_ERROR(
      CheckArray("scales", desc.scales, desc.scale_count, kMostScales));
  TIM_RETURN_IF_ERROR(CheckArray("zero points", desc.zero_points,
                                 desc.zero_point_count, kMostScales));
  ir::Quantization quantization;
  quantization.kind = static_cast<ir::QuantizationKind>(desc.quantization);
  quantization.axis = quantization.per_channel() ? desc.quantization_axis : -1;
  quantization.scales.assign(desc.scales, desc.scales + desc.scale_count);
  quantization.zero_points.assign(desc.zero_points,
                                  desc.zero_points + desc.zero_point_count);
  quantization.fl = desc.fixed_point;
  return quantization;
}

bool IsText(const char (&text)[128]) {
  return std::memchr(text, 0, sizeof(text)) != nullptr;
}

Status CheckFigure(const char* name, double value) {
  if (std::isfinite(value) && value >= 0) return OkStatus();
  return InvalidArgument(name, " is no number from 0 on");
}

template <size_t kBytes>
void CopyText(const std::string& text, char (&out)[kBytes]) {
  const size_t length = std::min(text.size(), kBytes - 1);
  std::memcpy(out, text.data(), length);
  out[length] = 0;
}

}  // namespace

DescView::DescView(ir::TensorDesc desc, bool is_scalar)
    : desc_(std::move(desc)) {
  const ir::Shape& shape = desc_.shape;
  view_.struct_size = TIM_SIZE_THROUGH(TimTensorDesc, memory);
  view_.type = static_cast<int32_t>(desc_.type);
  view_.rank = shape.ranked() ? shape.rank() : -1;
  view_.is_scalar = is_scalar ? 1 : 0;
  view_.dims = shape.dims().data();
  if (shape.ranked() && !shape.IsStatic()) {
    for (int i = 0; i < shape.rank(); ++i) bounds_.push_back(shape.Bound(i));
    view_.bounds = bounds_.data();
  }
  view_.layout = static_cast<int32_t>(desc_.layout.kind);
  view_.layout_axis = desc_.layout.axis;
  view_.layout_block = desc_.layout.block;
  if (desc_.layout.strided()) view_.strides = desc_.layout.strides.data();
  const ir::Quantization& quantization = desc_.quantization;
  view_.quantization = static_cast<int32_t>(quantization.kind);
  view_.quantization_axis = quantization.axis;
  view_.scales = quantization.scales.data();
  view_.zero_points = quantization.zero_points.data();
  view_.scale_count = static_cast<uint32_t>(quantization.scales.size());
  view_.zero_point_count =
      static_cast<uint32_t>(quantization.zero_points.size());
  view_.fixed_point = quantization.fl;
  view_.memory = TIM_MEMORY_DEVICE;
}

Result<ir::Layout> LayoutOf(const TimTensorDesc& given) {
  const TimTensorDesc desc = CopyKnown(&given);
  switch (desc.layout) {
    case TIM_LAYOUT_ANY:
      return ir::Layout::Any();
    case TIM_LAYOUT_DENSE:
      return ir::Layout::Dense();
    case TIM_LAYOUT_BLOCKED:
      if (desc.layout_axis < 0 || desc.layout_axis >= ir::kMaxRank ||
          desc.layout_block < 1) {
        return InvalidArgument("a layout with blocks of ", desc.layout_block,
                               " along axis ", desc.layout_axis);
      }
      return ir::Layout::Blocked(desc.layout_axis, desc.layout_block);
    default:
      return InvalidArgument("layout ", desc.layout,
                             "; expected dense (1) or blocked (2)");
  }
}

Result<ir::TensorDesc> DescOf(const TimTensorDesc& given) {
  const TimTensorDesc desc = CopyKnown(&given);
  if (desc.type < 0 || desc.type >= ir::kDataTypeCount) {
    return InvalidArgument("elements of type ", desc.type);
  }
  ir::TensorDesc out;
  out.type = static_cast<ir::DataType>(desc.type);
  TIM_ASSIGN_OR_RETURN(out.shape, ShapeOf(desc));
  TIM_ASSIGN_OR_RETURN(out.quantization, QuantizationOf(desc));
  if (desc.layout != TIM_LAYOUT_ANY) {
    TIM_ASSIGN_OR_RETURN(out.layout, LayoutOf(desc));
  }
  return out;
}

AttributeView::AttributeView(const ir::Attribute& value,
                             const TimGraph* graph) {
  view_.struct_size = TIM_SIZE_THROUGH(TimAttribute, graph);
  view_.type = static_cast<int32_t>(ir::TypeOf(value));
  view_.graph = graph;
  if (const auto* flag = std::get_if<bool>(&value)) {
    view_.int_value = *flag ? 1 : 0;
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    view_.int_value = *number;
  } else if (const auto* real = std::get_if<double>(&value)) {
    view_.float_value = *real;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    view_.string_value = text->c_str();
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    view_.ints = ints->data();
    view_.count = ints->size();
  } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    view_.floats = reals->data();
    view_.count = reals->size();
  } else if (const auto* texts =
                 std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& one : *texts) strings_.push_back(one.c_str());
    view_.strings = strings_.data();
    view_.count = strings_.size();
  } else if (const auto* tensor =
                 std::get_if<std::shared_ptr<const ir::ConstantData>>(&value);
             tensor != nullptr && *tensor != nullptr) {
    view_.tensor = {(*tensor)->bytes.data(), (*tensor)->bytes.size()};
  }
}

Result<ir::Attribute> AttributeOf(const TimAttribute& given) {
  const TimAttribute value = CopyKnown(&given);
  switch (value.type) {
    case TIM_ATTRIBUTE_BOOL:
      return ir::Attribute(value.int_value != 0);
    case TIM_ATTRIBUTE_INT:
      return ir::Attribute(value.int_value);
    case TIM_ATTRIBUTE_FLOAT:
      return ir::Attribute(value.float_value);
    case TIM_ATTRIBUTE_STRING:
      if (value.string_value == nullptr) return InvalidArgument("no text");
      return ir::Attribute(std::string(value.string_value));
    case TIM_ATTRIBUTE_INTS:
      TIM_RETURN_IF_ERROR(
          CheckArray("integers", value.ints, value.count, kMostElements));
      return ir::Attribute(
          std::vector<int64_t>(value.ints, value.ints + value.count));
    case TIM_ATTRIBUTE_FLOATS:
      TIM_RETURN_IF_ERROR(
          CheckArray("numbers", value.floats, value.count, kMostElements));
      return ir::Attribute(
          std::vector<double>(value.floats, value.floats + value.count));
    case TIM_ATTRIBUTE_STRINGS: {
      TIM_RETURN_IF_ERROR(
          CheckArray("texts", value.strings, value.count, kMostElements));
      std::vector<std::string> texts;
      for (uint64_t i = 0; i < value.count; ++i) {
        if (value.strings[i] == nullptr) return InvalidArgument("no text ", i);
        texts.emplace_back(value.strings[i]);
      }
      return ir::Attribute(std::move(texts));
    }
    case TIM_ATTRIBUTE_TENSOR:
      TIM_RETURN_IF_ERROR(CheckArray("bytes", value.tensor.data,
                                     value.tensor.bytes, uint64_t{1} << 40));
      return ir::Attribute(
          ir::MakeConstant(value.tensor.data, value.tensor.bytes));
    default:
      return InvalidArgument("an attribute of type ", value.type);
  }
}

Status CheckProps(const TimDeviceProps& props) {
  if (!IsText(props.name) || !IsText(props.vendor) || !IsText(props.driver) ||
      !IsText(props.compatibility)) {
    return InvalidArgument("a text without an end");
  }
  if (props.device_class < TIM_CLASS_CPU ||
      props.device_class > TIM_CLASS_ACCELERATOR) {
    return InvalidArgument("device_class is ", props.device_class);
  }
  if (props.alignment < 1 || props.alignment > kMostAlignment ||
      (props.alignment & (props.alignment - 1)) != 0) {
    return InvalidArgument("alignment is ", props.alignment,
                           "; expected a power of two up to ", kMostAlignment);
  }
  if (props.memory_bytes < 1 || props.max_allocation_bytes < 1) {
    return InvalidArgument("memory_bytes is ", props.memory_bytes,
                           " and max_allocation_bytes ",
                           props.max_allocation_bytes, "; expected 1 or more");
  }
  if (props.compute_units < 0 || props.max_streams < 0 ||
      props.float_vector_width < 0 || props.max_work_group_size < 0 ||
      props.local_memory_bytes < 0) {
    return InvalidArgument("a count is negative");
  }
  TIM_RETURN_IF_ERROR(CheckFigure("gflops", props.gflops));
  TIM_RETURN_IF_ERROR(
      CheckFigure("gbytes_per_second", props.gbytes_per_second));
  TIM_RETURN_IF_ERROR(CheckFigure("launch_us", props.launch_us));
  TIM_RETURN_IF_ERROR(
      CheckFigure("link_gbytes_per_second", props.link_gbytes_per_second));
  return CheckFigure("link_latency_us", props.link_latency_us);
}

ir::DeviceInfo InfoOf(const TimDeviceProps& props, const std::string& kind,
                      bool imports) {
  ir::DeviceInfo info;
  info.kind = kind;
  info.name = props.name;
  info.vendor = props.vendor;
  info.driver = StrCat(props.driver, props.compatibility[0] != 0 ? " " : "",
                       props.compatibility);
  info.device_class = static_cast<ir::DeviceClass>(props.device_class);
  info.compute_units = std::max(1, props.compute_units);
  info.address_bits = props.address_bits > 0 ? props.address_bits : 64;
  info.max_work_group_size = std::max<int64_t>(1, props.max_work_group_size);
  info.local_memory_bytes = props.local_memory_bytes;
  info.global_memory_bytes = props.memory_bytes;
  info.max_allocation_bytes = props.max_allocation_bytes;
  // Plans place tensors at multiples of 64, which suits smaller ones.
  info.alignment = std::max(props.alignment, device::kHostAlignment);
  const auto has = [&](uint32_t bit) { return (props.flags & bit) != 0; };
  info.unified_memory = imports && has(TIM_DEVICE_UNIFIED_MEMORY);
  info.has_fp16 = has(TIM_DEVICE_HAS_FP16);
  info.has_fp64 = has(TIM_DEVICE_HAS_FP64);
  info.has_subgroups = has(TIM_DEVICE_HAS_SUBGROUPS);
  info.has_integer_dot = has(TIM_DEVICE_HAS_INT8_DOT);
  info.has_images = has(TIM_DEVICE_HAS_IMAGES);
  info.remote = has(TIM_DEVICE_REMOTE);
  info.float_vector_width = std::max(1, props.float_vector_width);
  if (props.gflops > 0) info.gflops = props.gflops;
  if (props.gbytes_per_second > 0) {
    info.gbytes_per_second = props.gbytes_per_second;
  }
  if (props.launch_us > 0) info.launch_us = props.launch_us;
  info.link_gbytes_per_second = props.link_gbytes_per_second;
  info.link_latency_us = props.link_latency_us;
  return info;
}

TimDeviceProps PropsOf(const ir::DeviceInfo& info) {
  TimDeviceProps props{};
  props.struct_size = TIM_SIZE_THROUGH(TimDeviceProps, domain);
  const std::pair<bool, uint32_t> flags[] = {
      {true, TIM_DEVICE_THREAD_SAFE},
      {info.unified_memory, TIM_DEVICE_UNIFIED_MEMORY},
      {info.has_fp16, TIM_DEVICE_HAS_FP16},
      {info.has_fp64, TIM_DEVICE_HAS_FP64},
      {info.has_integer_dot, TIM_DEVICE_HAS_INT8_DOT},
      {info.remote, TIM_DEVICE_REMOTE},
      {info.has_subgroups, TIM_DEVICE_HAS_SUBGROUPS},
      {info.has_images, TIM_DEVICE_HAS_IMAGES}};
  for (const auto& [on, bit] : flags) {
    if (on) props.flags |= bit;
  }
  props.score = 1;
  props.device_class = static_cast<int32_t>(info.device_class);
  CopyText(info.name, props.name);
  CopyText(info.vendor, props.vendor);
  CopyText(info.driver, props.driver);
  props.compute_units = info.compute_units;
  props.float_vector_width = info.float_vector_width;
  props.address_bits = info.address_bits;
  props.memory_bytes = info.global_memory_bytes;
  props.max_allocation_bytes = info.max_allocation_bytes;
  props.alignment = info.alignment;
  props.max_work_group_size = info.max_work_group_size;
  props.local_memory_bytes = info.local_memory_bytes;
  props.gflops = info.gflops;
  props.gbytes_per_second = info.gbytes_per_second;
  props.launch_us = info.launch_us;
  props.link_gbytes_per_second = info.link_gbytes_per_second;
  props.link_latency_us = info.link_latency_us;
  return props;
}

}  // namespace tim::plugin
