// Tables of functions as a plug-in gives them, taken over member by member.
#ifndef TIM_PLUGIN_TABLES_H_
#define TIM_PLUGIN_TABLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// A function of a table.
struct TableMember {
  const char* name = "";
  size_t offset = 0;  ///< In the table, in bytes.
  bool required = false;
};

/// A type of table: its functions, and how large it was in version 1.0.
struct TableType {
  const char* name = "";
  size_t bytes = 0;        ///< As this library knows it.
  size_t first_bytes = 0;  ///< In version 1.0.
  std::span<const TableMember> members;
};

/// Copies of `given` what both sides know to `table`, of which the rest
/// becomes zeros.  kInvalidArgument names the table and both sizes where
/// `given` is smaller than in version 1.0, or a required function that is
/// missing.  Names of optional functions that are missing are added to
/// `not_offered`.
Status ReadTable(const TableType& type, const void* given, void* table,
                 std::vector<std::string>* not_offered);

const TableType& PluginTable();
const TableType& DeviceTable();
/// \param runs_steps whether the plug-in must run steps of its kernels.
const TableType& KernelTable(bool runs_steps);
const TableType& GraphTable();
const TableType& OperatorTable();
const TableType& KernelEntry();
const TableType& OperatorEntry();

/// Functions that others need: create_stream() those for events, compile()
/// those that run programs.
Status CheckDeviceFunctions(const TimDeviceFns& device);
Status CheckGraphFunctions(const TimGraphFns& graphs);

/// A struct of the plug-in that may be shorter or longer than ours.  Zeros
/// where it is NULL.
template <typename T>
T CopyKnown(const T* given) {
  static_assert(std::is_trivially_copyable_v<T>);
  T copy{};
  if (given == nullptr) return copy;
  std::memcpy(&copy, given, std::min<size_t>(given->struct_size, sizeof(T)));
  return copy;
}

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_TABLES_H_
