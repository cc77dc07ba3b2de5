// Tensors and what describes them.
#ifndef TIM_VX_TENSOR_H_
#define TIM_VX_TENSOR_H_

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/types.h"

namespace tim {
namespace vx {

/// Extents, fastest-varying dimension first: an NCHW tensor is {W, H, C, N}.
/// Memory is dense, element 0 first.  At most 8 dimensions.
using ShapeType = std::vector<uint32_t>;

/// How the codes of an integer tensor stand for real values; ignored on float
/// tensors.
///   NONE                    the code itself
///   ASYMMETRIC              (code - zero_point) * scale
///   *_PER_CHANNEL           (code - zero_points[c]) * scales[c], where c is
///                           the index along ChannelDim()
///   DYNAMIC_FIXED_POINT     code * 2^-fl
/// Per channel there is one scale, or one per channel; where there are fewer
/// zero points than scales the last one counts for the rest, none means 0.
class TIM_VX_API Quantization {
 public:
  Quantization() = default;
  Quantization(QuantType type, float scale, int32_t zero_point)
      : type_(type), scales_({scale}), zero_points_({zero_point}) {}
  Quantization(QuantType type, int32_t channel_dim, std::vector<float> scales,
               std::vector<int32_t> zero_points)
      : type_(type),
        channel_dim_(channel_dim),
        scales_(std::move(scales)),
        zero_points_(std::move(zero_points)) {}
  Quantization(QuantType type, int8_t fl) : type_(type), fl_(fl) {}

  QuantType& Type() { return type_; }
  const QuantType& Type() const { return type_; }
  Quantization& SetType(QuantType type) {
    type_ = type;
    return *this;
  }

  /// Dimension, fastest-varying first, that per-channel parameters run along.
  int32_t& ChannelDim() { return channel_dim_; }
  const int32_t& ChannelDim() const { return channel_dim_; }
  Quantization& SetChannelDim(int32_t channel_dim) {
    channel_dim_ = channel_dim;
    return *this;
  }

  std::vector<float>& Scales() { return scales_; }
  const std::vector<float>& Scales() const { return scales_; }
  Quantization& SetScales(std::vector<float> scales) {
    scales_ = std::move(scales);
    return *this;
  }

  std::vector<int32_t>& ZeroPoints() { return zero_points_; }
  const std::vector<int32_t>& ZeroPoints() const { return zero_points_; }
  Quantization& SetZeroPoints(std::vector<int32_t> zero_points) {
    zero_points_ = std::move(zero_points);
    return *this;
  }

  /// Number of fractional bits; may be negative.
  const std::int8_t& Fl() const { return fl_; }
  Quantization& SetFl(int8_t fl) {
    fl_ = fl;
    return *this;
  }

  /// Equal types and equal parameters of that type.
  bool operator==(const Quantization& other) const;

 protected:
  QuantType type_ = QuantType::NONE;
  int32_t channel_dim_ = -1;
  std::vector<float> scales_;
  std::vector<int32_t> zero_points_;
  int8_t fl_ = 0;
};

/// Everything about a tensor but its data.
struct TIM_VX_API TensorSpec {
  TensorSpec() = default;
  TensorSpec(DataType datatype, const ShapeType& shape, TensorAttribute attr)
      : datatype_(datatype), shape_(shape), attr_(attr) {}
  TensorSpec(DataType datatype, const ShapeType& shape, TensorAttribute attr,
             const Quantization& quantization)
      : datatype_(datatype),
        shape_(shape),
        attr_(attr),
        quantization_(quantization) {}

  bool operator==(const TensorSpec& other) const;

  TensorSpec& SetDataType(DataType datatype) {
    datatype_ = datatype;
    return *this;
  }
  TensorSpec& SetShape(const ShapeType& shape) {
    shape_ = shape;
    return *this;
  }
  TensorSpec& SetAttribute(TensorAttribute attr) {
    attr_ = attr;
    return *this;
  }
  TensorSpec& SetQuantization(const Quantization& quantization) {
    quantization_ = quantization;
    return *this;
  }

  /// What messages and dumps call the tensor besides its number: "t3 'mask'".
  /// It need not be unique, and is no part of a comparison.
  TensorSpec& SetName(const std::string& name) {
    name_ = name;
    return *this;
  }
  const std::string& GetName() const { return name_; }

  /// Same type and quantization, TRANSIENT, shape not known, without a name.
  TensorSpec AsTransientSpec() const;

  /// Product of the extents, 1 for an empty shape, -1 where it exceeds 63 bits.
  int64_t GetElementNum() const;
  /// Bytes of one element; 1 for the packed types INT4 and UINT4 and for
  /// UNKNOWN.
  int64_t GetElementByteSize() const;
  /// Bytes that Tensor::CopyDataToTensor() reads: INT4 and UINT4 take half a
  /// byte, each row of dimension 0 a whole number of bytes.  -1 as above.
  int64_t GetByteSize() const;

  DataType& GetDataType() { return datatype_; }
  ShapeType& GetShapeType() { return shape_; }
  TensorAttribute& GetTensorAttribute() { return attr_; }
  Quantization& GetQuantization() { return quantization_; }

  DataType datatype_ = DataType::UNKNOWN;
  /// In a TRANSIENT spec: kept where the producer makes as many elements (a
  /// warning where the extents other than 1 are others, or in another order),
  /// else the producer decides.
  ShapeType shape_;
  TensorAttribute attr_ = TRANSIENT;
  Quantization quantization_;
  std::string name_;
};

/// Memory of another device, by its file descriptor: a DMA buffer, or whatever
/// else can be mapped, for example what memfd_create() made.
struct DmaBufferDesc {
  int64_t fd;
};

/// A value of a graph, created by Graph::CreateTensor().  One thread at a
/// time, together with its graph; it may outlive the graph.
///
/// Functions that fail return false or null and set LastError().
class TIM_VX_API Tensor {
 public:
  virtual ~Tensor() = default;

  /// The spec given at creation; Compile() puts the shapes and types that it
  /// inferred into the specs of TRANSIENT tensors.
  virtual const ShapeType& GetShape() = 0;
  virtual DataType GetDataType() = 0;
  virtual const Quantization& GetQuantization() = 0;
  /// Live: quantization (and the type of a TRANSIENT tensor) may be edited
  /// until Compile(), the name always.  Storage does not change.
  virtual TensorSpec& GetSpec() = 0;

  /// Number within the graph, from 0; 0xFFFFFFFF for the placeholder and for a
  /// tensor that could not be made (LastError() tells why, Compile() refuses
  /// it).
  virtual uint32_t GetId() = 0;

  /// Copies the whole tensor (TensorSpec::GetByteSize() bytes) from `data`,
  /// whatever `size_in_bytes` is.  A size that is neither 0 nor the tensor's is
  /// a warning, once per tensor; with TIMCL_LENIENT=0 nothing is copied, and
  /// the answer is false.  False for TRANSIENT tensors and null.
  /// A CONSTANT may be written after Compile(): the graph compiles again
  /// before its next Run().
  virtual bool CopyDataToTensor(const void* data,
                                uint32_t size_in_bytes = 0) = 0;
  /// Copies the whole tensor to `data`, which may be what map() returns.
  /// False for TRANSIENT tensors and null, and where the tensor has no content:
  /// an OUTPUT tensor that neither a Run() nor the client has written, or
  /// whose graph's last Run() has failed, until a Run() succeeds or the client
  /// writes it; and a CONSTANT that was given no data.  The client writes by
  /// data for CreateTensor(), CopyDataToTensor() and what map() has returned;
  /// memory of its own (CreateIOTensor() with data, SwapHandle(), DMA buffers)
  /// always has content.
  virtual bool CopyDataFromTensor(void* data) = 0;

  /// INPUT and OUTPUT: `new_ptr`, of at least the tensor's bytes, becomes its
  /// memory; `*old_ptr` (may be null) receives the previous one.  The caller
  /// keeps owning `new_ptr` unless `is_new_ptr_malloc_by_ovxlib`: then it must
  /// come from malloc() or from an earlier call's `*old_ptr`, and the graph
  /// frees it at its end.  Memory that the library allocated stays its own.
  /// Nothing uses the previous memory any more: its owner may free it.
  virtual bool SwapHandle(void* new_ptr, bool is_new_ptr_malloc_by_ovxlib,
                          void** old_ptr) = 0;
  /// Exchanges the memory, and with it the content, of two INPUT or OUTPUT
  /// tensors of one graph that have the same number of bytes.
  virtual bool SwapHandle(std::shared_ptr<Tensor> tensor) = 0;
  /// As SwapHandle().
  virtual bool SwapHandleWithCache(std::shared_ptr<Tensor> tensor) = 0;
  /// INPUT: what was written through map() reaches the next Run().
  virtual bool FlushCacheForHandle() = 0;
  /// OUTPUT: results of the last Run() are visible through map().  False where
  /// CopyDataFromTensor() is for want of content.
  virtual bool InvalidateCacheForHandle() = 0;
  /// INPUT and OUTPUT: the tensor's memory in this process, the caller's own
  /// for Graph::CreateIOTensor() with data.  Null otherwise.  With
  /// `invalidate_cpu_cache`, which is for reading, null where
  /// CopyDataFromTensor() fails for want of content; without it the caller may
  /// write, and the tensor has content.
  virtual void* map(bool invalidate_cpu_cache = false) = 0;
  virtual void unmap() = 0;

  virtual bool IsPlaceHolder() = 0;
  virtual bool IsConstTensor() = 0;
  /// Marks a tensor of one element as rank 0 for shape inference.
  virtual void SetScalar(int8_t is_scalar) = 0;
  virtual bool IsScalar() = 0;

  /// One real value per line, "%.16f".  This and the next two fail where
  /// CopyDataFromTensor() does.
  virtual bool SaveTensorToTextByFp32(std::string filename) = 0;
  /// A copy of the codes, INT4 and UINT4 one per byte; the caller frees it
  /// with free().  `tensorData`, where not null, receives the same bytes.
  virtual void* ConvertTensorToData(uint8_t* tensorData) = 0;
  /// Real values, GetSpec().GetElementNum() of them; the caller frees them
  /// with free().  Null for UINT32 and INT64.
  virtual float* ConvertTensorToFloat32Data() = 0;
};

namespace utils {

/// Codes of `fval` in the tensor's type and quantization, dense, INT4 and
/// UINT4 one per byte: rint(x / scale) + zero_point, saturated; ties go to
/// even.  `tensorData` holds GetElementNum() * GetElementByteSize() bytes.
/// False where there are fewer values than elements.
TIM_VX_API bool Float32ToDtype(std::shared_ptr<Tensor> tensor,
                               std::vector<float> fval, uint8_t* tensorData);

/// The real value of the first element of `tensorData`, only.
TIM_VX_API bool DtypeToFloat32(std::shared_ptr<Tensor> tensor,
                               uint8_t* tensorData, float* data);

}  // namespace utils

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_TENSOR_H_
