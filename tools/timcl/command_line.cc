// Declares every subcommand and option of timcl, with what users read of them.
#include "tools/timcl/command_line.h"

#include <map>

#include "compiler/memory/memory_planner.h"
#include "tools/timcl/option_checks.h"

namespace tim::tool {
namespace {

class Declaration {
 public:
  Declaration(CLI::App& app, Arguments& arguments)
      : app_(app), arguments_(arguments) {}

  void All() {
    CLI::App* devices = app_.add_subcommand(
        "devices", "List devices, what they can do and how fast they are");
    devices->add_flag("--measure", arguments_.measure,
                      "measure how fast they are now, in about a second each, "
                      "in place of what the cache folder has");
    Json(devices);
    Run(app_.add_subcommand(
        "run", "Run a graph, measure it, repeat the run of a record"));
    Compile(app_.add_subcommand("compile", "Write a model as a binary graph"));
    Import(app_.add_subcommand(
        "import", "Tell what a model is made of and what is not taken of it"));
    Compare(app_.add_subcommand(
        "compare", "Find the first layer in which two runs differ"));
    CLI::App* explain = app_.add_subcommand(
        "explain", "Tell which kernel each node has, and why no other");
    Graph(explain);
    explain->add_option("node", arguments_.node,
                        "a node's name, as the list has it; default: all");
    Json(explain);
    CLI::App* memory = app_.add_subcommand(
        "memory", "Print as CSV where each value lies, from when to when");
    Graph(memory);
    memory->add_option("--svg", arguments_.memory.svg,
                       "a file for the same as a picture, SVG");
    memory->add_option("--problem", arguments_.memory.problem,
                       "a file for the largest arena as a memory problem, CSV "
                       "as MiniMalloc has it");
    Json(memory);
    SolveMemory(app_.add_subcommand(
        "solve-memory", "Find offsets for a memory problem, or check them"));
    Report(app_.add_subcommand(
        "report", "Write a page that shows graph, times and memory"));
    Check(app_.add_subcommand("check",
                              "Try the custom operators of a shared library"));
    Plugin(app_.add_subcommand("plugin-check",
                               "Try whether a plug-in keeps its contract"));
    GraphRun(app_.add_subcommand(
        "graph-run", "Run a graph file of tim::graph, partition by partition"));
    CLI::App* cache = app_.add_subcommand(
        "cache", "Show or clear the folder of built programs");
    cache->require_subcommand(1);
    Json(cache->add_subcommand("show", "Print where it is and what it holds"));
    Json(cache->add_subcommand("clear", "Remove what it holds"));
    CLI::App* pages = app_.add_subcommand(
        "pages", "Print the man page, or completions of a shell");
    pages->require_subcommand(1);
    pages->add_subcommand("man", "Print the man page, for man(1)");
    pages->add_subcommand("bash", "Print completions, to be sourced by bash");
  }

 private:
  void Json(CLI::App* command) {
    command->add_flag("--json", arguments_.json, "print JSON");
  }

  void Graph(CLI::App* command) {
    command
        ->add_option("file", arguments_.file,
                     "a model, .onnx or .tflite, or a binary graph, from "
                     "Graph::CompileToBinary() or TIMCL_RECORD")
        ->required();
    Model(command);
    Device(command, "host, opencl or opencl:NUMBER; default: TIMCL_DEVICE");
  }

  void SolveMemory(CLI::App* command) {
    MemoryArguments& memory = arguments_.memory;
    command
        ->add_option("file", arguments_.file,
                     "a CSV file with the head id,lower,upper,size; to check "
                     "offsets also ,offset")
        ->required();
    command->add_option("--solver", memory.solver, compiler::kMemorySolverNames)
        ->capture_default_str();
    command
        ->add_option("--capacity", memory.capacity,
                     "bytes that there are; a layout that needs more is exit "
                     "status 1")
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 50));
    command
        ->add_option("--alignment", memory.alignment,
                     "bytes that offsets are multiples of")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
        ->capture_default_str();
    command->add_flag("--check", memory.check,
                      "tell whether the file's offsets are right");
    command->add_option("-o,--out", memory.out,
                        "a file for the layout; default: it is printed");
    Json(command);
  }

  void ModelFile(CLI::App* command) {
    command->add_option("file", arguments_.file, "a model, .onnx or .tflite")
        ->required();
    Model(command);
  }

  // An option that takes one word each time it is given.
  template <typename Value>
  CLI::Option* Repeated(CLI::App* command, const char* name, Value& value,
                        const std::string& text) {
    return command->add_option(name, value, text)
        ->allow_extra_args(false)
        ->type_name("TEXT");
  }

  void Model(CLI::App* command) {
    ModelArguments& model = arguments_.model;
    Repeated(command, "--shape", model.shapes,
             "INPUT=1,3,224,224, extents of a model's input, which it leaves "
             "open or has others for; may be given several times");
    Repeated(command, "--dim", model.dims,
             "NAME=1, an extent that a model has a name for; may be given "
             "several times");
    Repeated(command, "--value", model.values,
             "INPUT=FILE.npy, a model's input that becomes a constant; may be "
             "given several times");
    command
        ->add_option("--trips", model.most_trips,
                     "the most trips up to which a model's loop is unrolled")
        ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
        ->capture_default_str();
    command
        ->add_option("--stacked-rows", model.stacked_rows,
                     "rows of what an ONNX Loop stacks whose trips are known "
                     "when the model runs; none: that is refused")
        ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
        ->capture_default_str();
    command->add_option("--external-data", model.external_data,
                        "the folder of an ONNX model's external data; default: "
                        "that of the model");
    command->add_option("--signature", model.signature,
                        "the signature of a TFLite model whose names inputs "
                        "and outputs have");
  }

  void Compile(CLI::App* command) {
    ModelFile(command);
    command
        ->add_option("-o,--out", arguments_.compile.out,
                     "the binary graph that is written")
        ->required();
    Device(command, "host, opencl or opencl:NUMBER; default: TIMCL_DEVICE");
    Json(command);
  }

  void Import(CLI::App* command) {
    ModelFile(command);
    command->add_option("--emit-cpp", arguments_.import.cpp,
                        "a file for the C++ program that builds the graph; its "
                        "weights go beside it");
    Json(command);
  }

  void Device(CLI::App* command, const std::string& text) {
    command->add_option("--device", arguments_.device, text)
        ->check(CLI::Validator(CheckDevice, "DEVICE"));
  }

  void Run(CLI::App* command) {
    RunArguments& run = arguments_.run;
    Graph(command);
    command
        ->add_option("--runs", run.runs,
                     "how many runs are measured after the first")
        ->check(CLI::Range(0, 10'000'000))
        ->capture_default_str();
    command
        ->add_option("--warm-up", run.warm_up,
                     "how many runs go before them unmeasured")
        ->check(CLI::Range(0, 10'000'000))
        ->capture_default_str();
    Inputs(command);
    command->add_option("--outputs,--output-dir", run.outputs,
                        "a folder for the outputs, as .npy");
    command
        ->add_option("--top", run.top,
                     "print so many of the greatest values of each output that "
                     "is one row, as of classes; 0: none")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    command->add_option("--labels", run.labels,
                        "a file with the names of the classes, a line each");
    command->add_flag("--anew", run.anew,
                      "compile, whatever plan and programs the file has");
    command->add_flag("--compile-times", run.compile_times,
                      "also compile in new processes, without built programs "
                      "and with those of the first");
    Json(command);
  }

  void Inputs(CLI::App* command) {
    Repeated(command, "--input", arguments_.run.inputs,
             "FILE or INPUT=FILE, .npy, a picture or else raw bytes, of the "
             "input of that name or number, else of the next; may be given "
             "several times");
    Picture(command);
    command->add_option("--seed", arguments_.run.seed,
                        "of the random values of the other inputs; default: "
                        "those of a record, else 1");
  }

  void Picture(CLI::App* command) {
    PictureArguments& picture = arguments_.run.picture;
    command
        ->add_option("--mean", picture.mean,
                     "one number, or one per channel with commas between, "
                     "subtracted from the 0 to 255 of pictures; default: 0")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--scale", picture.scale,
                     "the same, by which the difference is multiplied; default "
                     "with --mean: 1, without: pixels are the codes of 8-bit "
                     "inputs, and 0 to 1 for others")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--layout", picture.layout,
                     "nchw or nhwc, where the channels of pictures are; "
                     "default: where the extents are 1 or 3")
        ->check(CLI::IsMember({"nchw", "nhwc"}));
    const std::map<std::string, Fit> fits = {{"stretch", Fit::kStretch},
                                             {"crop", Fit::kCrop}};
    command
        ->add_option("--fit", picture.fit,
                     "stretch, or crop, the middle of pictures, to the extents "
                     "of the input; default: stretch")
        ->transform(CLI::Transformer(fits).description(""))
        ->type_name("WAY");
    command->add_flag("--bgr", picture.bgr,
                      "blue is the first channel of pictures, not red");
  }

  void Compare(CLI::App* command) {
    CompareArguments& compare = arguments_.compare;
    Graph(command);
    command->add_option("other", compare.other_file,
                        "another graph; default: the same");
    command->add_option("--against", compare.against,
                        "in place of a second run: onnxruntime or litert, by "
                        "Python, or a folder with arrays of outputs and other "
                        "tensors, as .npy");
    command
        ->add_option("--python", compare.python,
                     "the program that runs onnxruntime or litert")
        ->capture_default_str();
    command
        ->add_option("--other-device", compare.other_device,
                     "of the second run; default: host, or that of the first "
                     "where `other` or --other-set is given")
        ->check(CLI::Validator(CheckDevice, "DEVICE"));
    command->add_option("--set", compare.set,
                        "VARIABLE=VALUE for the first run, in place of the "
                        "environment's; may be given several times");
    command->add_option("--other-set", compare.other_set,
                        "the same for the second run");
    command
        ->add_option("--tolerance", compare.tolerance,
                     "what real values may be apart, of the greatest in their "
                     "layer; default: 1e-3 for float32, 2e-2 for others")
        ->check(CLI::Validator(CheckTolerance, "NONNEGATIVE"));
    command
        ->add_option("--codes", compare.codes,
                     "how far codes of integer tensors may be apart")
        ->check(CLI::Validator(CheckTolerance, "NONNEGATIVE"))
        ->capture_default_str();
    command->add_option("--reduce", compare.reduce,
                        "a folder for the smallest part of the graph that "
                        "still differs, with its inputs");
    Inputs(command);
    Json(command);
  }

  void Report(CLI::App* command) {
    ReportArguments& report = arguments_.report;
    Graph(command);
    command->add_option("--out", report.out,
                        "the page, an HTML file with all that it needs");
    command
        ->add_option("--runs", report.runs,
                     "how many runs are measured, as they are and step by step")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    Inputs(command);
    Json(command);
  }

  void Check(CLI::App* command) {
    CheckArguments& check = arguments_.check;
    command
        ->add_option("library", arguments_.file,
                     "a shared library with TIM_VX_CHECKED_OPERATORS()")
        ->required();
    command->add_option("operator", check.name,
                        "the name of one operator; default: all");
    Device(command,
           "host, opencl or opencl:NUMBER; default: TIMCL_DEVICE, else all");
    command
        ->add_option("--cases", check.cases,
                     "how many random cases each operator has on each device; "
                     "default: as the library says")
        ->check(CLI::Range(1, 10'000'000));
    command->add_option("--seed", check.seed,
                        "which random cases; default: as the library says");
    command->add_option("--programs", check.programs,
                        "a folder for C++ programs that repeat the faults");
    Json(command);
  }

  void Plugin(CLI::App* command) {
    PluginArguments& plugin = arguments_.plugin;
    command
        ->add_option("plugin", arguments_.file,
                     "a shared library with TimPluginGet()")
        ->required();
    command
        ->add_option("--only", plugin.only,
                     "the checks that are made, C1 to C16, with , between; "
                     "default: all")
        ->delimiter(',');
    command->add_option("--seed", plugin.seed,
                        "which random cases; default: 1");
    command->add_option("--option", plugin.options,
                        "KEY=VALUE that the plug-in is loaded with; may be "
                        "repeated");
    command->add_flag("--probe", plugin.probe,
                      "only load it, in another process");
    Json(command);
  }

  void GraphRun(CLI::App* command) {
    GraphRunArguments& run = arguments_.graph_run;
    command
        ->add_option("file", arguments_.file,
                     "a graph as JSON, as TIMCL_GRAPH_DUMP or oneDNN writes it")
        ->required();
    command
        ->add_option("--engine", run.engine,
                     "cpu or gpu; default: the file's, where there is one")
        ->check(CLI::IsMember({"cpu", "gpu"}));
    Device(command,
           "host, opencl or opencl:NUMBER, of a cpu engine; default: "
           "TIMCL_DEVICE");
    command
        ->add_option("--policy", run.policy,
                     "fusion, or debug: each operation is a partition")
        ->check(CLI::IsMember({"fusion", "debug"}))
        ->capture_default_str();
    Repeated(command, "--shape", run.shapes,
             "ID=1x3x4, dims of a tensor that the file leaves open; may be "
             "given several times");
    command
        ->add_option("--seed", run.seed, "which random numbers the inputs have")
        ->capture_default_str();
    command
        ->add_option("--runs", run.runs,
                     "how many executes of each partition are measured after "
                     "the first; the least time counts")
        ->check(CLI::Range(0, 10'000'000))
        ->capture_default_str();
    command->add_flag("--compare", run.compare,
                      "compare with what the host makes of each operation by "
                      "its formula");
    command
        ->add_option("--tolerance", run.tolerance,
                     "what real values may be apart, of the greatest in their "
                     "tensor; default: by the types, see docs/timcl.md")
        ->check(CLI::Validator(CheckTolerance, "NONNEGATIVE"));
    command->add_option("--dump", run.dump,
                        "a folder for the graph and its partitions, as files "
                        "of the same form");
    Json(command);
  }

  CLI::App& app_;
  Arguments& arguments_;
};

}  // namespace

std::unique_ptr<CLI::App> MakeCommandLine(Arguments* arguments) {
  auto app = std::make_unique<CLI::App>(
      "Runs models and binary graphs of TIM-CL, and shows what becomes of "
      "them");
  app->name("timcl");
  app->require_subcommand(1);
  app->set_version_flag("--version", "timcl " TIM_CL_VERSION,
                        "Print the version and exit");
  Declaration(*app, *arguments).All();
  return app;
}

std::string CommandOf(const CLI::App& app) {
  std::string words;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += (words.empty() ? "" : " ") + at->get_name();
  }
  return words;
}

}  // namespace tim::tool
