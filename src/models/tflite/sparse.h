// Sparse tensors of .tflite files.
#ifndef TIM_MODELS_TFLITE_SPARSE_H_
#define TIM_MODELS_TFLITE_SPARSE_H_

#include <cstddef>
#include <span>

#include "base/status.h"
#include "models/build/value.h"
#include "models/tflite/schema_generated.h"

namespace tim::models::tflite {

/// All elements of a sparse tensor, of which `stored` are those that the file
/// has; the others are the bytes 0.  Fails where the tables do not fit `dims`,
/// and where much less than one element in 64 is stored.
Result<HostArray> Densified(const fbs::Sparsity& sparsity,
                            std::span<const std::byte> stored,
                            vx::DataType type, const Dims& dims);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_SPARSE_H_
