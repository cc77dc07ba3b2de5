// What is known of devices as tables.
#ifndef TIM_BINARY_PLAN_DEVICE_TABLES_H_
#define TIM_BINARY_PLAN_DEVICE_TABLES_H_

#include <flatbuffers/flatbuffers.h>

#include "base/status.h"
#include "binary/plan_generated.h"
#include "binary/read_budget.h"
#include "ir/device_info.h"

namespace tim::binary {

flatbuffers::Offset<fbs::DeviceInfo> WriteDevice(
    flatbuffers::FlatBufferBuilder& builder, const ir::DeviceInfo& info);

Result<ir::DeviceInfo> ReadDevice(const fbs::DeviceInfo& table,
                                  ReadBudget& budget);

/// Where constants of a device begin in a file, a power of two: as the device
/// wants them, at a page at most.
int64_t BlockAlignment(const ir::DeviceInfo& info);

}  // namespace tim::binary

#endif  // TIM_BINARY_PLAN_DEVICE_TABLES_H_
