// Environment variables of the partition front.
//
// GraphOptionTable() is the only list of them: the parser, and the table in
// README.md (checked by a test), are made from it.
#ifndef TIM_GRAPH_API_OPTIONS_H_
#define TIM_GRAPH_API_OPTIONS_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/status.h"
#include "graph_api/partitioning.h"
#include "tim/graph/c.h"

namespace tim::graph {

struct GraphOptions {
  /// TIMCL_GRAPH_PARTITION: limits where a client gives none.
  PartitionOptions partition = {};
  /// TIMCL_GRAPH_DUMP: bits of tim_graph_dump_mode_t.
  unsigned dump = tim_graph_dump_mode_none;
  std::string dump_dir = ".";         ///< TIMCL_GRAPH_DUMP_DIR.
  unsigned verbose = 0;               ///< TIMCL_GRAPH_VERBOSE: VerboseFlags.
  int compiled_entries = 1024;        ///< TIMCL_GRAPH_COMPILED_CACHE.
  size_t cpu_constant_megabytes = 0;  ///< TIMCL_GRAPH_CONSTANT_CACHE.
  size_t gpu_constant_megabytes = 0;
  /// TIMCL_DEFAULT_FPMATH_MODE: of graphs that ask for none.
  tim_graph_fpmath_mode_t fpmath_mode = tim_graph_fpmath_mode_strict;
  bool all_are_gpus = false;  ///< TIMCL_GRAPH_GPU=all.
  /// TIMCL_GRAPH_OFFLOAD: the device behind cpu engines, "": their own.
  std::string offload;
  /// TIMCL_GRAPH_CHECK: executes look for changed constants and for outputs
  /// that lie on inputs.
  bool check = false;
};

struct GraphOptionSpec {
  const char* name;
  /// Names by which oneDNN has it, read in this order where ours is unset;
  /// null: none.
  std::array<const char*, 2> aliases;
  const char* values;
  const char* default_value;
  const char* meaning;
  /// Stores `text`; a failure says what is legal.
  Status (*parse)(const std::string& text, GraphOptions* options);
};

std::span<const GraphOptionSpec> GraphOptionTable();

/// Parses every variable with `get(name)` (null or "": unset).  An illegal
/// value leaves its default and adds a line to `warnings`.
GraphOptions ParseGraphOptions(const char* (*get)(const char* name),
                               std::string* warnings);

/// The options of this process, parsed at first use.  Any thread.
const GraphOptions& GetGraphOptions();

/// The table in Markdown, as README.md shows it.
std::string GraphOptionTableMarkdown();

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPTIONS_H_
