// Frozen custom operations as tables.
#ifndef TIM_BINARY_USER_OPERATOR_TABLES_H_
#define TIM_BINARY_USER_OPERATOR_TABLES_H_

#include <flatbuffers/flatbuffers.h>

#include <functional>
#include <memory>

#include "base/status.h"
#include "binary/encoding.h"
#include "binary/graph_generated.h"
#include "binary/read_budget.h"
#include "binary/user_operator.h"
#include "ir/constant.h"

namespace tim::binary {

flatbuffers::Offset<fbs::UserOperator> WriteUserOperator(
    flatbuffers::FlatBufferBuilder& builder, DataPieces& data,
    const UserOperator& frozen);

/// `data` gives a piece of the file's data by index.  The steps are users'
/// launches and copies, whose arguments are operands that they have; what else
/// a Lowering must keep the compiler checks.
Result<UserOperator> ReadUserOperator(
    const fbs::UserOperator& table, ReadBudget& budget,
    const std::function<
        Result<std::shared_ptr<const ir::ConstantData>>(int index)>& data);

}  // namespace tim::binary

#endif  // TIM_BINARY_USER_OPERATOR_TABLES_H_
