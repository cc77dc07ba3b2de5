// Takes tensors of DLPack as values, and gives values as such.
#include "tim/values/dlpack.h"

#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/guarded.h"
#include "ir/tensor_desc.h"
#include "values/failure.h"
#include "values/opencl_memory.h"
#include "values/value_state.h"

namespace tim::values {
namespace internal {
namespace {

// Layout of DLPack on machines of 64 bits.
static_assert(sizeof(void*) != 8 || sizeof(dlpack::Tensor) == 48);
static_assert(sizeof(void*) != 8 || sizeof(dlpack::ManagedTensor) == 64);
static_assert(offsetof(dlpack::Tensor, byte_offset) ==
              sizeof(dlpack::Tensor) - 8);

struct ElementType {
  Type type;
  dlpack::TypeCode code;
  uint8_t bits;
};

constexpr ElementType kElementTypes[] = {
    {Type::kInt8, dlpack::kInt, 8},
    {Type::kUint8, dlpack::kUint, 8},
    {Type::kInt16, dlpack::kInt, 16},
    {Type::kUint16, dlpack::kUint, 16},
    {Type::kInt32, dlpack::kInt, 32},
    {Type::kUint32, dlpack::kUint, 32},
    {Type::kInt64, dlpack::kInt, 64},
    {Type::kUint64, dlpack::kUint, 64},
    {Type::kBool8, dlpack::kBool, 8},
    {Type::kFloat16, dlpack::kFloat, 16},
    {Type::kBFloat16, dlpack::kBfloat, 16},
    {Type::kFloat32, dlpack::kFloat, 32},
    {Type::kFloat64, dlpack::kFloat, 64},
};

constexpr const char* kCodeNames[] = {"int",    "uint",    "float", "opaque",
                                      "bfloat", "complex", "bool"};
constexpr const char* kTaken =
    "int8 to int64, uint8 to uint64, bool of 8 bits, float16, bfloat16, "
    "float32 and float64 are taken";
constexpr int32_t kMaxAxes = 8;

std::string TextOf(const dlpack::DataType& type) {
  const std::string code = type.code < std::size(kCodeNames)
                               ? kCodeNames[type.code]
                               : StrCat("code ", int{type.code});
  return StrCat(code, " of ", int{type.bits}, " bits");
}

Result<Type> TypeFrom(const dlpack::DataType& given) {
  if (given.lanes != 1) {
    return InvalidArgument("elements have ", given.lanes,
                           " lanes, and 1 is taken; make an axis of them");
  }
  for (const ElementType& known : kElementTypes) {
    if (known.code == given.code && known.bits == given.bits) return known.type;
  }
  return InvalidArgument("elements are ", TextOf(given), "; ", kTaken);
}

// A tensor that was checked; axis 0 is the fastest-varying one.
struct Described {
  TensorSpec spec;
  int64_t bytes = 0;
  int64_t element = 0;                ///< In bytes.
  std::vector<int64_t> extents = {};  ///< At least one.
  std::vector<int64_t> strides = {};  ///< In elements.
  bool dense = true;
};

// Distances between elements fit into 63 bits, as those of memory do.
Status CheckReach(const Described& tensor) {
  int64_t reach = tensor.element;
  for (size_t axis = 0; axis < tensor.extents.size(); ++axis) {
    const int64_t stride = tensor.strides[axis];
    const auto elements = stride == std::numeric_limits<int64_t>::min()
                              ? std::nullopt
                              : CheckedMul(tensor.extents[axis] - 1,
                                           stride < 0 ? -stride : stride);
    const auto bytes =
        elements ? CheckedMul(*elements, tensor.element) : std::nullopt;
    const auto sum = bytes ? CheckedAdd(reach, *bytes) : std::nullopt;
    if (!sum) {
      return InvalidArgument("stride ", stride, " of an axis of ",
                             tensor.extents[axis],
                             " elements leads out of all memory");
    }
    reach = *sum;
  }
  return OkStatus();
}

Status FillStrides(const dlpack::Tensor& tensor, Described* made) {
  int64_t dense = 1;
  for (size_t axis = 0; axis < made->extents.size(); ++axis) {
    const size_t theirs = made->extents.size() - 1 - axis;
    const int64_t extent = made->extents[axis];
    const bool given = tensor.strides != nullptr && tensor.ndim > 0;
    made->strides.push_back(given ? tensor.strides[theirs] : dense);
    // Nothing is at a distance along an axis of one element.
    if (extent > 1 && made->strides.back() != dense) made->dense = false;
    dense *= extent;
  }
  return CheckReach(*made);
}

Result<Described> Describe(const dlpack::Tensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxAxes) {
    return InvalidArgument("it has ", tensor.ndim, " axes; up to ", kMaxAxes,
                           " are taken");
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    return InvalidArgument("its shape is null");
  }
  Described made;
  TIM_ASSIGN_OR_RETURN(const Type type, TypeFrom(tensor.dtype));
  for (int32_t axis = tensor.ndim - 1; axis >= 0; --axis) {
    const int64_t extent = tensor.shape[axis];
    if (extent <= 0) {
      return InvalidArgument("extent ", extent, " of axis ", axis,
                             " (slowest first); values have elements, and no "
                             "extent is 0");
    }
    made.extents.push_back(extent);
  }
  TIM_ASSIGN_OR_RETURN(made.spec,
                       ToTensorSpec(Spec(type, Shape(made.extents))));
  TIM_ASSIGN_OR_RETURN(made.bytes, BytesOf(made.spec.desc));
  made.element = tensor.dtype.bits / 8;
  if (made.extents.empty()) made.extents = {1};
  TIM_RETURN_IF_ERROR(FillStrides(tensor, &made));
  if (tensor.data == nullptr) return InvalidArgument("its data is null");
  return made;
}

// Elements one behind the other, axis 0 fastest.
void CopyElements(const std::byte* from, const Described& tensor,
                  std::byte* to) {
  const auto element = static_cast<size_t>(tensor.element);
  const int64_t row = tensor.extents[0];
  const size_t rank = tensor.extents.size();
  std::vector<int64_t> index(rank, 0);
  for (;;) {
    const std::byte* source = from;
    for (size_t axis = 1; axis < rank; ++axis) {
      source += index[axis] * tensor.strides[axis] * tensor.element;
    }
    if (tensor.strides[0] == 1) {
      std::memcpy(to, source, static_cast<size_t>(row) * element);
      to += static_cast<size_t>(row) * element;
    } else {
      for (int64_t i = 0; i < row; ++i, to += element) {
        std::memcpy(to, source + i * tensor.strides[0] * tensor.element,
                    element);
      }
    }
    size_t axis = 1;
    while (axis < rank && ++index[axis] == tensor.extents[axis]) {
      index[axis++] = 0;
    }
    if (axis >= rank) return;
  }
}

Result<std::shared_ptr<ValueState>> OfHost(const dlpack::Tensor& tensor,
                                           const Described& known,
                                           std::shared_ptr<Lent> lent) {
  const auto* data =
      static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  const auto address = reinterpret_cast<uintptr_t>(data);
  runtime::WorkStream& host = DeviceState::Host()->stream();
  std::shared_ptr<runtime::SharedMemory> memory;
  if (known.dense && address % static_cast<uintptr_t>(known.element) == 0) {
    TIM_ASSIGN_OR_RETURN(memory,
                         host.FromHost(data, known.bytes, std::move(lent)));
  } else {
    TIM_ASSIGN_OR_RETURN(memory, host.Allocate(known.bytes));
    CopyElements(data, known, static_cast<std::byte*>(memory->host_address()));
  }
  return ValueState::Placed(known.spec,
                            {std::move(memory), ir::Layout::Dense()});
}

Result<std::shared_ptr<ValueState>> OfOpenCl(const dlpack::Tensor& tensor,
                                             const Described& known,
                                             std::shared_ptr<Lent> lent) {
  if (!known.dense) {
    return InvalidArgument(
        "it is strided memory of OpenCL; copy it to a dense tensor there");
  }
  if (tensor.byte_offset >
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgument("byte_offset ", tensor.byte_offset,
                           " is behind the end of every cl_mem");
  }
  const auto device =
      DeviceState::Find(StrCat("opencl:", tensor.device.device_id));
  TIM_RETURN_IF_ERROR(device->status());
  return ValueOn(*device, known.spec, tensor.data,
                 static_cast<int64_t>(tensor.byte_offset), {}, std::move(lent));
}

Result<std::shared_ptr<ValueState>> Place(const dlpack::Tensor& tensor,
                                          const Described& known,
                                          std::shared_ptr<Lent> lent) {
  switch (tensor.device.device_type) {
    case dlpack::kCpu:
      return OfHost(tensor, known, std::move(lent));
    case dlpack::kOpenCl:
      return OfOpenCl(tensor, known, std::move(lent));
    default:
      return InvalidArgument("it is on a device of type ",
                             tensor.device.device_type,
                             "; host memory (1) and memory of OpenCL (4) are "
                             "taken: copy it to one of them");
  }
}

Result<Value> Take(dlpack::ManagedTensor* tensor) {
  if (tensor == nullptr) return InvalidArgument("it is null");
  TIM_ASSIGN_OR_RETURN(const Described known, Describe(tensor->dl_tensor));
  const auto lent = std::make_shared<Lent>([tensor] {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
  TIM_ASSIGN_OR_RETURN(auto made, Place(tensor->dl_tensor, known, lent));
  lent->Take();
  return MakeValue(std::move(made));
}

// A tensor that was given away, with what it points to.
struct Given {
  dlpack::ManagedTensor managed = {};
  std::vector<int64_t> shape = {};
  std::vector<int64_t> strides = {};
  std::shared_ptr<const void> keeper = nullptr;
};

void Delete(dlpack::ManagedTensor* tensor) {
  if (tensor == nullptr) return;
  const std::unique_ptr<Given> given(static_cast<Given*>(tensor->manager_ctx));
}

Result<dlpack::DataType> TypeTo(const TensorSpec& spec) {
  if (spec.desc.quantized()) {
    return InvalidArgument(
        "it is quantized, ", spec.desc.ToString(),
        ", which DLPack cannot say; tim.DataConvert makes real values, "
        "ToPlain() gives the codes");
  }
  for (const ElementType& known : kElementTypes) {
    if (static_cast<ir::DataType>(known.type) == spec.desc.type) {
      return dlpack::DataType{known.code, known.bits, 1};
    }
  }
  return InvalidArgument("elements of ", ir::ToString(spec.desc.type),
                         " have no type in DLPack; tim.Cast makes others");
}

// The number of "opencl:1".
Result<int32_t> NumberOf(const DeviceState& device) {
  constexpr std::string_view kPrefix = "opencl:";
  const std::string_view spec = device.spec();
  int32_t number = 0;
  if (spec.starts_with(kPrefix)) {
    const char* const begin = spec.data() + kPrefix.size();
    const char* const end = spec.data() + spec.size();
    const auto parsed = std::from_chars(begin, end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  }
  return InvalidArgument("it is on device ", spec,
                         ", which DLPack has no number for; "
                         "Device::ToHost() brings it to the host");
}

Status FillMemory(const ValueState& state, int64_t bytes, Given* given) {
  dlpack::Tensor& tensor = given->managed.dl_tensor;
  const auto device = state.device();
  if (device == nullptr || device->is_host()) {
    TIM_ASSIGN_OR_RETURN(auto memory, state.Bytes());
    tensor.device = {dlpack::kCpu, 0};
    // Values do not change; the structure has no word for that.
    tensor.data = const_cast<std::byte*>(memory.get());
    given->keeper = std::move(memory);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const int32_t number, NumberOf(*device));
  TIM_ASSIGN_OR_RETURN(const auto place, state.DenseHome());
  TIM_ASSIGN_OR_RETURN(const MemoryPart part, PartOf(place, bytes));
  TIM_RETURN_IF_ERROR(place.memory->completion().Wait());
  tensor.device = {dlpack::kOpenCl, number};
  tensor.data = part.memory;
  tensor.byte_offset = static_cast<uint64_t>(part.offset);
  given->keeper = place.memory;
  return OkStatus();
}

Result<dlpack::ManagedTensor*> Give(const ValueState& state) {
  TIM_RETURN_IF_ERROR(state.Force());
  const TensorSpec spec = state.spec();
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(spec.desc));
  auto given = std::make_unique<Given>();
  dlpack::Tensor& tensor = given->managed.dl_tensor;
  TIM_ASSIGN_OR_RETURN(tensor.dtype, TypeTo(spec));
  if (!spec.is_scalar) {
    const auto& dims = spec.desc.shape.dims();
    given->shape.assign(dims.rbegin(), dims.rend());
  }
  given->strides.resize(given->shape.size());
  int64_t stride = 1;
  for (size_t axis = given->shape.size(); axis-- > 0;) {
    given->strides[axis] = stride;
    stride *= given->shape[axis];
  }
  tensor.ndim = static_cast<int32_t>(given->shape.size());
  tensor.shape = given->shape.data();
  tensor.strides = given->strides.data();
  TIM_RETURN_IF_ERROR(FillMemory(state, bytes, given.get()));
  given->managed.deleter = Delete;
  given->managed.manager_ctx = given.get();
  return &given.release()->managed;
}

}  // namespace
}  // namespace internal

Value FromDlpack(dlpack::ManagedTensor* tensor) {
  auto made = GuardedCall([&] { return internal::Take(tensor); });
  if (made.ok()) return *std::move(made);
  return internal::FailedValue(made.status().WithContext("the DLPack tensor"));
}

dlpack::ManagedTensor* ToDlpack(const Value& value) {
  const auto state = internal::StateOf(value);
  auto made = GuardedCall([&] { return internal::Give(*state); });
  if (made.ok()) return *made;
  internal::Fail(made.status().WithContext("the value as a DLPack tensor"));
  return nullptr;
}

}  // namespace tim::values
