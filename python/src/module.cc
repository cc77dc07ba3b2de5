// The module timcl._core: what the package's Python stands on.
#include <nanobind/nanobind.h>

#include <cstdio>
#include <string>

#include "graph.h"
#include "models.h"
#include "named_operation.h"
#include "python_call.h"
#include "spec.h"
#include "tim/vx/error.h"
#include "tim/vx/log.h"
#include "tim/vx/platform/platform.h"
#include "tim/vx/version.h"
#include "values_border.h"

namespace timcl {
namespace {

using nb::arg;

struct ListedDevice {
  uint32_t id;
  std::string name;
  uint32_t cores;
};

nb::list Devices() {
  const auto all = InLibrary([] {
    std::vector<ListedDevice> found;
    for (const auto& device : vx::platform::IDevice::Enumerate()) {
      found.push_back({device->Id(), device->Name(), device->CoreCount()});
    }
    return found;
  });
  nb::list devices;
  for (const ListedDevice& device : all) {
    devices.append(nb::make_tuple(device.id, Text(device.name), device.cores));
  }
  return devices;
}

// Hands messages to `sink(level, text, raised)`, raised: it is the text of an
// exception that follows.  None: they go to stderr.
void SetLog(nb::object sink) {
  vx::LogCallback callback;
  if (!sink.is_none()) {
    PyRef kept(std::move(sink));
    callback = [kept](vx::LogLevel level, const char* text) {
      if (!Py_IsInitialized()) {
        std::fprintf(stderr, "tim-cl: %s\n", text);
        return;
      }
      const bool raised =
          level == vx::LogLevel::kError && LibraryCall::Active();
      nb::gil_scoped_acquire acquired;
      try {
        nb::borrow(kept.get())(static_cast<int>(level), Text(text), raised);
      } catch (nb::python_error& error) {
        error.discard_as_unraisable("timcl's log");
      }
    };
  }
  InLibrary([&] {
    vx::SetLogCallback(callback);
    return true;
  });
}

void BindTensors(nb::module_& module) {
  nb::class_<Tensor>(module, "Tensor", "A tensor of a graph.")
      .def_prop_ro("spec", &Tensor::Spec, "(type, shape, quantization)")
      .def_prop_ro("id", &Tensor::Id, "Number within the graph.")
      .def("write", &Tensor::Write, arg("buffer"),
           "Copies a whole array to the tensor.")
      .def("read", &Tensor::Read, arg("buffer"),
           "Copies the whole tensor to an array.");
  nb::class_<Running>(module, "Running", "A run in flight.")
      .def("wait", &Running::Wait, "Blocks until the run has ended.")
      .def("ready", &Running::Ready, "Whether wait() would return at once.");
}

void BindGraph(nb::module_& module) {
  nb::class_<Graph>(module, "Graph", "A graph of the library.")
      .def(nb::init<int>(), arg("device"))
      .def("add_tensor", &Graph::AddTensor, arg("spec"), arg("role"),
           arg("name"), arg("data").none(), "A tensor of this graph.")
      .def("place_holder", &Graph::PlaceHolder, "Stands for an absent operand.")
      .def("add_operation", &Graph::AddOperation, arg("op"), arg("inputs"),
           arg("outputs"), arg("attributes"), arg("name"),
           "Adds an operator of the registry and infers its outputs.")
      .def("add_custom", &Graph::AddCustom, arg("op"), arg("hooks"),
           arg("optional"), arg("inputs"), arg("outputs"), arg("name"),
           "Adds a custom operator and infers its outputs.")
      .def("add_binary", &Graph::AddBinary, arg("content"), arg("inputs"),
           arg("outputs"), "Adds a binary graph as one operation.")
      .def("finish", &Graph::Finish, arg("outputs"), arg("names"), arg("asked"),
           arg("device"),
           "The same graph with outputs, and the asked tensors in it.")
      .def("ports", &Graph::Ports, arg("inputs"),
           "INPUT or OUTPUT tensors in the order of run().")
      .def("compile", &Graph::Compile)
      .def("run", &Graph::Run, arg("inputs"), arg("outputs"))
      .def(
          "start",
          [](Graph& graph, nb::list inputs, nb::list outputs) {
            return graph.Start(inputs, outputs).release();
          },
          arg("inputs"), arg("outputs"), nb::rv_policy::take_ownership)
      .def("profile", &Graph::Profile, arg("runs"))
      .def("dump", &Graph::Dump, arg("directory"), arg("names"))
      .def("to_bytes", &Graph::ToBytes);
}

}  // namespace
}  // namespace timcl

NB_MODULE(_core, module) {
  using namespace timcl;
  module.doc() = "The inside of timcl; use the package.";
  // Graphs that live at the process's end are no leak.
  nb::set_leak_warnings(false);
  module.attr("version") = tim::vx::VersionText();
  module.attr("has_importers") = HasImporters();
  module.def("devices", &Devices, "(number, name, cores) of every device.");
  module.def("operators", &ListOperators, "Every operator of the registry.");
  module.def("set_log", &SetLog, nb::arg("sink").none(),
             "Where the library's messages go.");
  module.def("load_model", &LoadModel, nb::arg("format"),
             nb::arg("path").none(), nb::arg("content").none(),
             nb::arg("options"), "A model file as a graph.");
  module.def("describe_binary", &DescribeBinary, nb::arg("content"),
             "Inputs and outputs of a binary graph.");
  module.def(
      "close",
      [] {
        InLibrary([] {
          ThreadCall::Close();
          return true;
        });
      },
      "Keeps threads of the library from an interpreter that ends.");
  // The first registration is called after all others.
  nb::module_::import_("atexit").attr("register")(module.attr("close"));
  BindTensors(module);
  BindGraph(module);
  BindValues(module);
  BindCalls(module);
  BindGraphs(module);
  BindRewriting(module);
}
