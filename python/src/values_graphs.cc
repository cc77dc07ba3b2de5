// Graphs and programs of functions of arrays.
#include "values_border.h"

namespace timcl {
namespace {

using nb::arg;
using KeptValue = Kept<tv::Value>;
using KeptGraph = Kept<tv::Graph>;
using KeptProgram = Kept<tv::Program>;
using KeptDevice = Kept<tv::Device>;

Object<tv::Graph> KeepGraph(tv::Graph graph) {
  if (!graph.ok()) Raise("GraphError", graph.error());
  return Keep(std::move(graph));
}

nb::tuple ToPython(const tv::MemoryEstimate& estimate) {
  return nb::make_tuple(estimate.inputs, estimate.outputs, estimate.scratch,
                        estimate.bound);
}

nb::tuple ToPython(const tv::ComputeEstimate& estimate) {
  return nb::make_tuple(estimate.flops, estimate.bytes_read,
                        estimate.bytes_written, estimate.bound);
}

nb::list ToPython(const std::vector<tv::NodeReport>& reports) {
  nb::list list;
  for (const tv::NodeReport& report : reports) {
    list.append(nb::make_tuple(
        Text(report.name), Text(report.op), Text(report.device),
        Text(report.kernel), Text(report.reason), ToPython(report.memory),
        ToPython(report.compute), report.predicted_us, report.measured_us));
  }
  return list;
}

// `call()` of the front; where its result has `failed`, the thread's last error
// is raised.
template <typename Call, typename Failed>
auto OrRaise(const Call& call, const Failed& failed,
             const char* type = "GraphError") {
  std::string error;
  auto result = InFront([&] {
    auto made = call();
    if (failed(made)) error = tv::LastError();
    return made;
  });
  if (failed(result)) Raise(type, error);
  return result;
}

Object<tv::Graph> Capture(nb::object function, nb::handle inputs,
                          const std::string& name) {
  const auto specs = ToValuesSpecs(inputs);
  const auto called = FunctionOf(std::move(function));
  return KeepGraph(
      InFront([&] { return tv::Graph::Capture(called, specs, name); }));
}

Object<tv::Value> Input(KeptGraph& graph, nb::handle described,
                        const std::string& name) {
  const tv::Spec spec = ToValuesSpec(described);
  tv::Value value = InFront([&] { return graph.get().Input(spec, name); });
  if (!value.ok()) Raise("GraphError", value.error());
  return Keep(std::move(value));
}

void Output(KeptGraph& graph, const KeptValue& value) {
  InFront([&] {
    graph.get().Output(value.get());
    return true;
  });
  if (!graph.get().ok()) Raise("GraphError", graph.get().error());
}

Object<tv::Program> Compile(const KeptGraph& graph, const std::string& device,
                            const std::string& policy, int max_plans,
                            bool strict, bool relaxed, bool many_shapes) {
  tv::ProgramOptions options;
  options.devices = device;
  options.policy = policy;
  options.max_plans = max_plans;
  options.strict = strict;
  options.relaxed = relaxed;
  options.many_shapes = many_shapes;
  tv::Program program = InFront([&] { return graph.get().Compile(options); });
  if (!program.ok()) Raise("CompileError", program.error());
  return Keep(std::move(program));
}

nb::list CallGraph(const KeptGraph& graph, nb::handle inputs) {
  const auto operands = ValuesOf(inputs);
  const auto outputs = InFront([&] { return graph.get().Call(operands); });
  if (!outputs.ok()) Raise("GraphError", outputs.error());
  nb::list list;
  for (size_t i = 0; i < outputs.size(); ++i) list.append(Keep(outputs[i]));
  return list;
}

nb::list Report(const KeptGraph& graph, const KeptDevice& device) {
  return ToPython(OrRaise([&] { return graph.get().Report(device.get()); },
                          [](const auto& made) { return made.empty(); }));
}

void BindGraph(nb::module_& module) {
  nb::class_<KeptGraph>(module, "ValueGraph", "A captured function.")
      .def_static("make", [] { return Keep(tv::Graph()); })
      .def_static("capture", &Capture, arg("function"), arg("inputs"),
                  arg("name"))
      .def("input", &Input, arg("spec"), arg("name"))
      .def("output", &Output, arg("value"))
      .def_prop_ro("level",
                   [](const KeptGraph& graph) { return graph.get().Level(); })
      .def_prop_ro("input_specs",
                   [](const KeptGraph& graph) {
                     return timcl::ToPython(graph.get().InputSpecs());
                   })
      .def_prop_ro("output_specs",
                   [](const KeptGraph& graph) {
                     return timcl::ToPython(graph.get().OutputSpecs());
                   })
      .def(
          "specialize",
          [](const KeptGraph& graph, nb::handle inputs) {
            const auto specs = ToValuesSpecs(inputs);
            return KeepGraph(
                InFront([&] { return graph.get().Specialize(specs); }));
          },
          arg("inputs"))
      .def("call", &CallGraph, arg("inputs"))
      .def("compile", &Compile, arg("device"), arg("policy"), arg("max_plans"),
           arg("strict"), arg("relaxed"), arg("many_shapes"))
      .def("memory",
           [](const KeptGraph& graph) {
             return ToPython(
                 OrRaise([&] { return graph.get().EstimateMemory(); },
                         [](const auto& made) { return made.inputs < 0; }));
           })
      .def("compute",
           [](const KeptGraph& graph) {
             return ToPython(
                 OrRaise([&] { return graph.get().EstimateCompute(); },
                         [](const auto& made) { return made.flops < 0; }));
           })
      .def(
          "predict",
          [](const KeptGraph& graph, const KeptDevice& device) {
            return OrRaise(
                [&] { return graph.get().PredictMicroseconds(device.get()); },
                [](double made) { return made < 0; });
          },
          arg("device"))
      .def("report", &Report, arg("device"))
      .def("dump", [](const KeptGraph& graph) {
        return Text(InFront([&] { return graph.get().Dump(); }));
      });
}

nb::list Run(const KeptProgram& program, nb::handle inputs) {
  const auto operands = ValuesOf(inputs);
  const auto results = InFront([&] { return program.get().Run(operands); });
  for (const tv::Value& result : results) {
    if (!result.ok()) Raise("RunError", result.error());
  }
  return ListOf(results);
}

nb::tuple ToPython(const tv::CacheStats& stats) {
  return nb::make_tuple(stats.hits, stats.misses, stats.plans, stats.evictions,
                        stats.program_builds, stats.compile_ms);
}

void Prepare(KeptProgram& program, nb::handle inputs) {
  const auto specs = ToValuesSpecs(inputs);
  OrRaise([&] { return program.get().Prepare(specs); },
          [](bool made) { return !made; }, "CompileError");
}

nb::list Profile(const KeptProgram& program, nb::handle inputs, int runs) {
  const auto operands = ValuesOf(inputs);
  return ToPython(OrRaise([&] { return program.get().Profile(operands, runs); },
                          [](const auto& made) { return made.empty(); },
                          "RunError"));
}

Object<tv::Program> Load(const std::string& path) {
  tv::Program program = InFront([&] { return tv::Program::Load(path); });
  if (!program.ok()) Raise("ModelError", program.error());
  return Keep(std::move(program));
}

void BindProgram(nb::module_& module) {
  nb::class_<KeptProgram>(module, "Program", "A compiled graph of values.")
      .def_static("load", &Load, arg("path"))
      .def("run", &Run, arg("inputs"))
      .def("prepare", &Prepare, arg("inputs"))
      .def("profile", &Profile, arg("inputs"), arg("runs"))
      .def("stats",
           [](const KeptProgram& program) {
             return ToPython(program.get().stats());
           })
      .def("explain",
           [](const KeptProgram& program) {
             return Text(InFront([&] { return program.get().Explain(); }));
           })
      .def(
          "save",
          [](const KeptProgram& program, const std::string& path) {
            OrRaise([&] { return program.get().Save(path); },
                    [](bool made) { return !made; }, "Error");
          },
          arg("path"));
  module.def("values_eager_stats",
             [] { return ToPython(InFront([] { return tv::EagerStats(); })); });
  module.def("values_lazy_stats",
             [] { return ToPython(InFront([] { return tv::LazyStats(); })); });
}

}  // namespace

void BindGraphs(nb::module_& module) {
  BindGraph(module);
  BindProgram(module);
}

}  // namespace timcl
