#include "binary/plan/device_tables.h"

#include "base/page_memory.h"
#include "ir/constant.h"

namespace tim::binary {

static_assert(static_cast<int>(fbs::DeviceClass::MAX) ==
              static_cast<int>(ir::DeviceClass::kAccelerator));

flatbuffers::Offset<fbs::DeviceInfo> WriteDevice(
    flatbuffers::FlatBufferBuilder& builder, const ir::DeviceInfo& info) {
  const auto kind = builder.CreateString(info.kind);
  const auto name = builder.CreateString(info.name);
  const auto vendor = builder.CreateString(info.vendor);
  const auto driver = builder.CreateString(info.driver);
  const auto sizes = builder.CreateVector(info.max_work_item_sizes);
  return fbs::CreateDeviceInfo(
      builder, kind, name, vendor, driver,
      static_cast<fbs::DeviceClass>(info.device_class), info.runs_eval,
      info.compute_units, info.address_bits, info.max_work_group_size, sizes,
      info.local_memory_bytes, info.global_memory_bytes,
      info.max_allocation_bytes, info.alignment, info.unified_memory,
      info.has_fp16, info.has_fp64, info.has_subgroups, info.has_integer_dot,
      info.has_images, info.orders_stores, info.has_vnni,
      info.float_vector_width, info.chains, info.chains_singles, info.winograd,
      info.gflops, info.gbytes_per_second, info.launch_us, info.remote,
      info.link_gbytes_per_second, info.link_latency_us, info.has_amx);
}

Result<ir::DeviceInfo> ReadDevice(const fbs::DeviceInfo& table,
                                  ReadBudget& budget) {
  ir::DeviceInfo info;
  TIM_ASSIGN_OR_RETURN(info.kind, budget.Copy(table.kind()));
  TIM_ASSIGN_OR_RETURN(info.name, budget.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(info.vendor, budget.Copy(table.vendor()));
  TIM_ASSIGN_OR_RETURN(info.driver, budget.Copy(table.driver()));
  info.device_class = static_cast<ir::DeviceClass>(table.device_class());
  info.runs_eval = table.runs_eval();
  info.compute_units = table.compute_units();
  info.address_bits = table.address_bits();
  info.max_work_group_size = table.max_work_group_size();
  TIM_ASSIGN_OR_RETURN(info.max_work_item_sizes,
                       budget.Copy(table.max_work_item_sizes()));
  info.local_memory_bytes = table.local_memory_bytes();
  info.global_memory_bytes = table.global_memory_bytes();
  info.max_allocation_bytes = table.max_allocation_bytes();
  info.alignment = table.alignment();
  info.unified_memory = table.unified_memory();
  info.has_fp16 = table.has_fp16();
  info.has_fp64 = table.has_fp64();
  info.has_subgroups = table.has_subgroups();
  info.has_integer_dot = table.has_integer_dot();
  info.has_images = table.has_images();
  info.orders_stores = table.orders_stores();
  info.has_vnni = table.has_vnni();
  info.float_vector_width = table.float_vector_width();
  info.chains = table.chains();
  info.chains_singles = table.chains_singles();
  info.winograd = table.winograd();
  info.gflops = table.gflops();
  info.gbytes_per_second = table.gbytes_per_second();
  info.launch_us = table.launch_us();
  info.remote = table.remote();
  info.link_gbytes_per_second = table.link_gbytes_per_second();
  info.link_latency_us = table.link_latency_us();
  info.has_amx = table.has_amx();
  return info;
}

int64_t BlockAlignment(const ir::DeviceInfo& info) {
  int64_t alignment = ir::kSharedAlignment;
  while (alignment < info.alignment && alignment < kPageBytes) alignment *= 2;
  return alignment;
}

}  // namespace tim::binary
