// The members of all tables, and which of them a plug-in must have.
#include "plugin/tables.h"

#include <initializer_list>

namespace tim::plugin {
namespace {

#define TIM_REQUIRED(type, member) \
  { #member, offsetof(type, member), true }
#define TIM_OPTIONAL(type, member) \
  { #member, offsetof(type, member), false }

constexpr TableMember kPluginMembers[] = {
    TIM_REQUIRED(TimPlugin, initialize),
    TIM_REQUIRED(TimPlugin, shutdown),
};

constexpr TableMember kDeviceMembers[] = {
    TIM_REQUIRED(TimDeviceFns, allocate),
    TIM_REQUIRED(TimDeviceFns, release),
    TIM_REQUIRED(TimDeviceFns, copy_in),
    TIM_REQUIRED(TimDeviceFns, copy_out),
    TIM_OPTIONAL(TimDeviceFns, copy),
    TIM_OPTIONAL(TimDeviceFns, fill),
    TIM_OPTIONAL(TimDeviceFns, import_host),
    TIM_OPTIONAL(TimDeviceFns, host_address),
    TIM_OPTIONAL(TimDeviceFns, create_stream),
    TIM_OPTIONAL(TimDeviceFns, destroy_stream),
    TIM_OPTIONAL(TimDeviceFns, create_event),
    TIM_OPTIONAL(TimDeviceFns, destroy_event),
    TIM_OPTIONAL(TimDeviceFns, record),
    TIM_OPTIONAL(TimDeviceFns, stream_wait),
    TIM_OPTIONAL(TimDeviceFns, wait),
    TIM_OPTIONAL(TimDeviceFns, query),
    TIM_OPTIONAL(TimDeviceFns, on_done),
    TIM_OPTIONAL(TimDeviceFns, copy_peer),
    TIM_OPTIONAL(TimDeviceFns, memory_info),
    TIM_OPTIONAL(TimDeviceFns, trim),
    TIM_OPTIONAL(TimDeviceFns, native_handle),
};

constexpr TableMember kKernelMembers[] = {
    TIM_REQUIRED(TimKernelFns, count),
    TIM_REQUIRED(TimKernelFns, kernel),
    TIM_OPTIONAL(TimKernelFns, build),
    TIM_OPTIONAL(TimKernelFns, drop_program),
    TIM_OPTIONAL(TimKernelFns, prepare),
    TIM_OPTIONAL(TimKernelFns, drop_prepared),
    TIM_OPTIONAL(TimKernelFns, enqueue),
};

constexpr TableMember kRunningKernelMembers[] = {
    TIM_REQUIRED(TimKernelFns, count),
    TIM_REQUIRED(TimKernelFns, kernel),
    TIM_REQUIRED(TimKernelFns, build),
    TIM_REQUIRED(TimKernelFns, drop_program),
    TIM_REQUIRED(TimKernelFns, prepare),
    TIM_REQUIRED(TimKernelFns, drop_prepared),
    TIM_REQUIRED(TimKernelFns, enqueue),
};

constexpr TableMember kGraphMembers[] = {
    TIM_REQUIRED(TimGraphFns, claim),
    TIM_OPTIONAL(TimGraphFns, port_layouts),
    TIM_OPTIONAL(TimGraphFns, compile),
    TIM_OPTIONAL(TimGraphFns, serialize),
    TIM_OPTIONAL(TimGraphFns, load),
    TIM_OPTIONAL(TimGraphFns, drop_program),
    TIM_OPTIONAL(TimGraphFns, prepare),
    TIM_OPTIONAL(TimGraphFns, drop_prepared),
    TIM_OPTIONAL(TimGraphFns, execute),
    TIM_OPTIONAL(TimGraphFns, optimize),
};

constexpr TableMember kOperatorMembers[] = {
    TIM_REQUIRED(TimOpFns, count),
    TIM_REQUIRED(TimOpFns, op),
};

constexpr TableMember kKernelEntryMembers[] = {
    TIM_REQUIRED(TimKernel, name),        TIM_REQUIRED(TimKernel, op),
    TIM_REQUIRED(TimKernel, device_kind), TIM_REQUIRED(TimKernel, supports),
    TIM_OPTIONAL(TimKernel, cost),        TIM_OPTIONAL(TimKernel, layouts),
    TIM_REQUIRED(TimKernel, lower),
};

constexpr TableMember kOperatorEntryMembers[] = {
    TIM_REQUIRED(TimOp, domain),   TIM_REQUIRED(TimOp, name),
    TIM_REQUIRED(TimOp, infer),    TIM_OPTIONAL(TimOp, check),
    TIM_OPTIONAL(TimOp, eval),     TIM_OPTIONAL(TimOp, decompose),
    TIM_OPTIONAL(TimOp, estimate),
};

#undef TIM_REQUIRED
#undef TIM_OPTIONAL

// A table whose last member in version 1.0 is `last`.
#define TIM_TABLE(type, last, members) \
  { #type, sizeof(type), TIM_SIZE_THROUGH(type, last), members }

constexpr TableType kPlugin = TIM_TABLE(TimPlugin, ops, kPluginMembers);
constexpr TableType kDevice =
    TIM_TABLE(TimDeviceFns, native_handle, kDeviceMembers);
constexpr TableType kKernels = TIM_TABLE(TimKernelFns, enqueue, kKernelMembers);
constexpr TableType kRunningKernels =
    TIM_TABLE(TimKernelFns, enqueue, kRunningKernelMembers);
constexpr TableType kGraphs = TIM_TABLE(TimGraphFns, optimize, kGraphMembers);
constexpr TableType kOperators = TIM_TABLE(TimOpFns, op, kOperatorMembers);
constexpr TableType kKernelEntry =
    TIM_TABLE(TimKernel, lower, kKernelEntryMembers);
constexpr TableType kOperatorEntry =
    TIM_TABLE(TimOp, estimate, kOperatorEntryMembers);

#undef TIM_TABLE

// Functions and texts are pointers; all have one size here.
bool IsSet(const void* table, const TableMember& member) {
  const void* pointer = nullptr;
  std::memcpy(&pointer, static_cast<const std::byte*>(table) + member.offset,
              sizeof(pointer));
  return pointer != nullptr;
}

// A function, and whether the plug-in offers it.
struct Offer {
  const char* name;
  bool offered;
};

Status Needs(const char* table, const char* offered,
             std::initializer_list<Offer> needed) {
  for (const Offer& function : needed) {
    if (function.offered) continue;
    return InvalidArgument(table, ": ", offered, " is offered without ",
                           function.name, ", which it needs");
  }
  return OkStatus();
}

}  // namespace

Status ReadTable(const TableType& type, const void* given, void* table,
                 std::vector<std::string>* not_offered) {
  static_assert(sizeof(void*) == sizeof(void (*)()));
  uint32_t bytes = 0;
  std::memcpy(&bytes, given, sizeof(bytes));
  if (bytes < type.first_bytes) {
    return InvalidArgument(type.name, " has a struct_size of ", bytes,
                           "; version 1.0 of it has ", type.first_bytes,
                           " bytes");
  }
  std::memset(table, 0, type.bytes);
  std::memcpy(table, given, std::min<size_t>(bytes, type.bytes));
  for (const TableMember& member : type.members) {
    if (IsSet(table, member)) continue;
    if (member.required) {
      return InvalidArgument(type.name, ": ", member.name,
                             " is missing, which every plug-in with this table "
                             "must have");
    }
    not_offered->push_back(StrCat(type.name, "::", member.name));
  }
  return OkStatus();
}

const TableType& PluginTable() { return kPlugin; }
const TableType& DeviceTable() { return kDevice; }
const TableType& KernelTable(bool runs_steps) {
  return runs_steps ? kRunningKernels : kKernels;
}
const TableType& GraphTable() { return kGraphs; }
const TableType& OperatorTable() { return kOperators; }
const TableType& KernelEntry() { return kKernelEntry; }
const TableType& OperatorEntry() { return kOperatorEntry; }

Status CheckDeviceFunctions(const TimDeviceFns& device) {
  if (device.create_stream == nullptr) return OkStatus();
  return Needs("TimDeviceFns", "create_stream",
               {{"destroy_stream", device.destroy_stream != nullptr},
                {"create_event", device.create_event != nullptr},
                {"destroy_event", device.destroy_event != nullptr},
                {"record", device.record != nullptr},
                {"wait", device.wait != nullptr}});
}

Status CheckGraphFunctions(const TimGraphFns& graphs) {
  if (graphs.compile == nullptr) return OkStatus();
  TIM_RETURN_IF_ERROR(Needs("TimGraphFns", "compile",
                            {{"drop_program", graphs.drop_program != nullptr},
                             {"prepare", graphs.prepare != nullptr},
                             {"drop_prepared", graphs.drop_prepared != nullptr},
                             {"execute", graphs.execute != nullptr}}));
  if (graphs.serialize == nullptr) return OkStatus();
  return Needs("TimGraphFns", "serialize", {{"load", graphs.load != nullptr}});
}

}  // namespace tim::plugin
