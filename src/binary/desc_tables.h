// Descriptions of tensors as tables.
#ifndef TIM_BINARY_DESC_TABLES_H_
#define TIM_BINARY_DESC_TABLES_H_

#include <flatbuffers/flatbuffers.h>

#include "base/status.h"
#include "binary/read_budget.h"
#include "binary/types_generated.h"
#include "ir/tensor_desc.h"

namespace tim::binary {

flatbuffers::Offset<fbs::TensorDesc> WriteDesc(
    flatbuffers::FlatBufferBuilder& builder, const ir::TensorDesc& desc);

/// Type, rank, extents, quantization and layout are of those that exist, and
/// the size of a static shape does not overflow; whether they fit each other is
/// not checked.  Null: an empty desc.
Result<ir::TensorDesc> ReadDesc(const fbs::TensorDesc* table,
                                ReadBudget& budget);

}  // namespace tim::binary

#endif  // TIM_BINARY_DESC_TABLES_H_
