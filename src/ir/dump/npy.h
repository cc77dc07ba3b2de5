// Tensors as NumPy's .npy files, version 1.0.
#ifndef TIM_IR_DUMP_NPY_H_
#define TIM_IR_DUMP_NPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/tensor_desc.h"

namespace tim::ir {

/// The type of the elements in a file.  Codes stay codes, 4-bit ones become
/// bytes; bfloat16, which NumPy has not, becomes float32, which holds its
/// values exactly.
DataType NumpyType(DataType type);

/// "<f4", "|u1": what a file says of elements of a NumpyType().
std::string NumpyTypeText(DataType type);

/// The elements of a tensor without block padding and what lies between strided
/// ones; bits stay as they are.  Arguments and errors as of NumpyArrayOf().
Result<std::vector<std::byte>> DenseBytes(const TensorDesc& desc,
                                          std::span<const std::byte> bytes);

/// A tensor as NumPy has it: dense, in C order ('fortran_order': False), with
/// the extents reversed.  A tensor of [W, H, C, N] is an array of (N, C, H, W),
/// whose bytes are those of the dense tensor.
struct NumpyArray {
  DataType type = DataType::kUnknown;  ///< NumpyType() of a tensor's.
  std::vector<int64_t> shape;          ///< Slowest-varying first.
  std::vector<std::byte> data;
};

/// \param bytes of a tensor in the layout of `desc`, ByteSize(desc) of them.
/// Block padding and what lies between strided elements is left out.
/// kInvalidArgument where the shape is not static, the type unknown or `bytes`
/// too short; kUnimplemented for 4-bit elements that are not dense.
Result<NumpyArray> NumpyArrayOf(const TensorDesc& desc,
                                std::span<const std::byte> bytes);

/// Header before the data in a file, a multiple of 64 bytes.
std::string NpyHeader(const NumpyArray& array);

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_NPY_H_
