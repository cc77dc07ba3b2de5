// Environment variables of the partition front that are no caches'.
//
// GraphOptionTable() is the only list of them: parser and documentation are
// made from it.
#ifndef TIM_GRAPH_API_OPTIONS_H_
#define TIM_GRAPH_API_OPTIONS_H_

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/partitioning.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Kinds of verbose lines.
enum VerboseFlag : unsigned {
  kVerboseError = 1,
  kVerboseCheck = 2,     ///< Why an argument was refused.
  kVerboseDispatch = 4,  ///< Why a partition is not supported.
  kVerboseCompile = 8,
  kVerboseExecute = 16,
};

struct GraphOptions {
  /// TIMCL_GRAPH_PARTITION: limits where a client gives none.
  PartitionOptions partition = {};
  /// TIMCL_GRAPH_DUMP: bits of tim_graph_dump_mode_t.
  unsigned dump = tim_graph_dump_mode_none;
  std::string dump_dir = ".";  ///< TIMCL_GRAPH_DUMP_DIR.
  unsigned verbose = 0;        ///< TIMCL_GRAPH_VERBOSE: VerboseFlags.
  /// TIMCL_DEFAULT_FPMATH_MODE: of graphs that ask for none.
  tim_graph_fpmath_mode_t fpmath_mode = tim_graph_fpmath_mode_strict;
};

struct GraphOptionSpec {
  const char* name;
  /// Names by which oneDNN has it, read in this order where ours is unset.
  std::vector<const char*> aliases;
  const char* values;
  const char* default_value;
  const char* meaning;
  /// Stores `text`; a failure says what is legal.
  Status (*parse)(const std::string& text, GraphOptions* options);
};

std::span<const GraphOptionSpec> GraphOptionTable();

/// Parses every variable with `get(name)` (null: unset).  An illegal value
/// leaves its default and adds a line to `warnings`.
GraphOptions ParseGraphOptions(const char* (*get)(const char* name),
                               std::string* warnings);

/// The options of this process, parsed at first use.  Any thread.
const GraphOptions& GetGraphOptions();

/// VerboseFlags of set_verbose()'s levels: 0 none, 1 execute, 2 compile, too.
/// kInvalidArgument for others.
Result<unsigned> VerboseFlagsOf(int level);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPTIONS_H_
