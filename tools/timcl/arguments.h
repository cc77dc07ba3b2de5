// Requests that a command line of timcl makes.
#ifndef TIM_TOOLS_TIMCL_ARGUMENTS_H_
#define TIM_TOOLS_TIMCL_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tim::tool {

/// Options of a model's importer; they do not matter for binary graphs.
struct ModelArguments {
  std::vector<std::string> shapes;  ///< "INPUT=1,3,224,224"
  std::vector<std::string> dims;    ///< "batch=1"
  std::vector<std::string> values;  ///< "INPUT=FILE.npy"
  int64_t most_trips = 256;
  int64_t stacked_rows = 0;
  std::string external_data;  ///< Folder of ONNX's; empty: beside the file.
  std::string signature;      ///< Of TFLite; empty: names of tensors.
};

enum class Fit : uint8_t {
  kStretch,  ///< Width and height each by itself.
  kCrop,     ///< The middle, as large as it can be.
};

/// Way in which pictures become inputs.
struct PictureArguments {
  std::vector<double> mean;   ///< One, or one per channel; empty: 0.
  std::vector<double> scale;  ///< Likewise; empty: see docs/timcl.md.
  std::string layout;         ///< "nchw", "nhwc"; empty: by the extents.
  Fit fit = Fit::kStretch;
  bool bgr = false;  ///< Blue is the first channel.
};

struct RunArguments {
  int runs = 20;    ///< That are measured; none: only the first one is.
  int warm_up = 3;  ///< Runs after the first that are not measured.
  /// Seed of random inputs; nothing: those of a record are taken, else it is 1.
  std::optional<uint64_t> seed = {};
  /// "FILE" of the next input, or "INPUT=FILE" by its name or number.
  std::vector<std::string> inputs;
  std::string outputs;  ///< Folder for them; empty: they are not kept.
  bool anew = false;    ///< Without the file's plan and programs.
  bool compile_times = false;
  PictureArguments picture;
  int top = 0;         ///< So many classes are printed.
  std::string labels;  ///< File of their names, a line each; empty: none.
};

struct CompareArguments {
  std::string other_file;    ///< Empty: the same.
  std::string other_device;  ///< Empty: see docs/timcl.md.
  /// "TIMCL_WINOGRAD=0", in place of the environment's.
  std::vector<std::string> set, other_set;
  double tolerance = -1;  ///< Less than 0: by the type.
  int64_t codes = 0;
  std::string reduce;  ///< Folder for the part that differs; empty: none.
  /// "onnxruntime", "litert" or a folder of arrays; empty: a second run.
  std::string against;
  std::string python = "python3";
};

struct CompileArguments {
  std::string out;
};

struct ImportArguments {
  std::string cpp;  ///< File of the C++ program; empty: none is written.
};

struct CheckArguments {
  std::string name;    ///< The only operator that is checked; empty: all are.
  uint32_t cases = 0;  ///< 0: as the library says.
  std::optional<uint64_t> seed;  ///< Nothing: as the library says.
  std::string programs;  ///< Folder for those that repeat faults; empty: none.
};

struct PluginArguments {
  std::vector<std::string> options;  ///< "KEY=VALUE", for the plug-in.
  std::vector<std::string> only;     ///< "C10"; empty: all checks.
  uint64_t seed = 1;
  bool probe = false;  ///< It is only loaded, in another process.
};

struct ReportArguments {
  std::string out;  ///< The page; empty: none is written.
  int runs = 10;    ///< That are measured, at least one, in either way.
};

/// A graph file of tim::graph.
struct GraphRunArguments {
  std::string engine;  ///< "cpu", "gpu"; empty: the file's, where there is one.
  std::string policy = "fusion";
  std::vector<std::string> shapes;  ///< "ID=1x3x4"
  uint64_t seed = 1;
  int runs = 1;           ///< That are measured, after the first.
  bool compare = false;   ///< With what the host makes op by op.
  double tolerance = -1;  ///< Less than 0: by the types.
  std::string dump;       ///< Folder; empty: none.
};

/// Of `memory` and `solve-memory`.
struct MemoryArguments {
  std::string svg;      ///< Picture; empty: none is written.
  std::string problem;  ///< Problem as MiniMalloc has it; empty: none.
  std::string solver = "auto";
  int64_t capacity = -1;  ///< Bytes; -1: any.
  int64_t alignment = 1;
  bool check = false;  ///< The file has offsets.
  std::string out;     ///< Layout; empty: it is printed.
};

/// Arguments that a subcommand does not have keep their defaults.
struct Arguments {
  /// A binary graph or a model; of `check` and `plugin-check` a shared library,
  /// of `graph-run` a graph file.
  std::string file;
  std::string device;  ///< A name as TIMCL_DEVICE has it; empty: its own.
  bool json = false;
  bool measure = false;  ///< `devices` measures how fast they are.
  std::string node;      ///< The one that `explain` is asked about; empty: all.
  ModelArguments model;
  RunArguments run;
  CompareArguments compare;
  ReportArguments report;
  CheckArguments check;
  PluginArguments plugin;
  CompileArguments compile;
  ImportArguments import;
  GraphRunArguments graph_run;
  MemoryArguments memory;
};

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_ARGUMENTS_H_
