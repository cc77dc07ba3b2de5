// Graphs of model files.
#include "models.h"

#include <memory>
#include <utility>
#include <vector>

#include "graph.h"
#include "python_call.h"
#include "spec.h"
#include "tim/vx/binary_graph.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/error.h"
#ifdef TIMCL_HAS_MODELS
#include "tim/models/onnx.h"
#include "tim/models/tflite.h"
#endif

namespace timcl {

nb::dict DescribeBinary(nb::handle content) {
  const Buffer buffer(content, Buffer::Access::kRead);
  vx::BinaryGraphInfo info;
  std::string error;
  const bool good = InLibrary([&] {
    const bool read = vx::ReadBinaryGraph(buffer.data(), buffer.size(), &info);
    if (!read) error = vx::LastError();
    return read;
  });
  if (!good) RaiseWith("ModelError", nb::make_tuple(Text(error), nb::list()));
  const auto ports = [](const std::vector<vx::TensorSpec>& specs) {
    nb::list listed;
    for (const vx::TensorSpec& spec : specs) {
      listed.append(nb::make_tuple(Text(spec.GetName()), ToPython(spec)));
    }
    return listed;
  };
  nb::dict data;
  data["graph"] = Text(info.graph);
  data["library"] = Text(info.library);
  data["inputs"] = ports(info.inputs);
  data["outputs"] = ports(info.outputs);
  return data;
}

#ifdef TIMCL_HAS_MODELS
namespace {

namespace models = tim::models;

bool IsNone(nb::handle object) { return object.is_none(); }

void ReadOptions(nb::dict given, models::ImportOptions* options) {
  for (const auto& [name, shape] : nb::cast<nb::dict>(given["shapes"])) {
    options->shapes[nb::cast<std::string>(name)] =
        nb::cast<std::vector<int64_t>>(shape);
  }
  for (const auto& [name, extent] : nb::cast<nb::dict>(given["dims"])) {
    options->dimensions[nb::cast<std::string>(name)] =
        nb::cast<int64_t>(extent);
  }
  for (const auto& [name, value] : nb::cast<nb::dict>(given["values"])) {
    const Buffer buffer(value[2], Buffer::Access::kRead);
    options->values[nb::cast<std::string>(name)] = {
        TypeOf(nb::cast<std::string>(value[0])),
        nb::cast<std::vector<int64_t>>(value[1]), buffer.Share()};
  }
  options->most_trips = nb::cast<int64_t>(given["most_trips"]);
  options->stacked_rows = nb::cast<int64_t>(given["stacked_rows"]);
  options->cpp_path = nb::cast<std::string>(given["cpp_path"]);
}

template <typename T>
void AddAll(const std::map<std::string, std::vector<T>>& from, nb::dict* to) {
  for (const auto& [name, values] : from) {
    nb::list list;
    for (const T& value : values) {
      if constexpr (std::is_same_v<T, std::string>) {
        list.append(Text(value));
      } else {
        list.append(value);
      }
    }
    (*to)[Text(name)] = nb::tuple(list);
  }
}

nb::dict Describe(const models::SuppliedNode& node) {
  nb::dict attributes;
  AddAll(node.ints, &attributes);
  AddAll(node.floats, &attributes);
  AddAll(node.texts, &attributes);
  nb::list inputs;
  for (const auto& input : node.inputs) {
    if (input == nullptr) {
      inputs.append(nb::none());
    } else {
      inputs.append(std::make_shared<Tensor>(input));
    }
  }
  nb::dict data;
  data["name"] = Text(node.name);
  data["op"] = Text(node.op);
  data["attributes"] = attributes;
  data["inputs"] = inputs;
  data["output_count"] = node.output_count;
  return data;
}

// Asks Python's supplier, and remembers what it raised first.
class Supplier {
 public:
  explicit Supplier(nb::object function) : function_(std::move(function)) {}

  std::vector<std::shared_ptr<vx::Tensor>> Ask(
      vx::Graph& graph, const models::SuppliedNode& node) const {
    nb::gil_scoped_acquire acquired;
    std::vector<std::shared_ptr<vx::Tensor>> made;
    if (error_->is_valid()) return made;
    try {
      // The importer owns the graph and outlives the call.
      auto view = std::make_shared<Graph>(
          std::shared_ptr<vx::Graph>(std::shared_ptr<void>(), &graph));
      const nb::object answer =
          nb::borrow(function_.get())(view, Describe(node));
      if (answer.is_none()) return made;
      for (const nb::handle tensor : answer) {
        made.push_back(nb::cast<std::shared_ptr<Tensor>>(tensor)->get());
      }
    } catch (nb::python_error& error) {
      *error_ = nb::borrow(error.value());
      made.clear();
    } catch (const nb::cast_error&) {
      made.clear();
    }
    return made;
  }

  void RaiseWhatItRaised() const {
    if (!error_->is_valid()) return;
    nb::object error = std::exchange(*error_, nb::object());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())),
                    error.ptr());
    throw nb::python_error();
  }

 private:
  PyRef function_;
  // Touched with the interpreter's lock held.
  std::shared_ptr<nb::object> error_ = std::make_shared<nb::object>();
};

[[noreturn]] void RaiseRefusals(const models::Model& model) {
  nb::list refusals;
  for (const models::Refusal& refusal : model.refusals) {
    refusals.append(nb::make_tuple(Text(refusal.node), Text(refusal.op),
                                   Text(refusal.about), Text(refusal.reason)));
  }
  RaiseWith("ModelError", nb::make_tuple(Text(model.error), refusals));
}

nb::list PortsOf(const std::vector<models::Port>& ports) {
  nb::list listed;
  for (const models::Port& port : ports) {
    nb::list shape;
    for (const int64_t extent : port.dims) shape.append(extent);
    listed.append(nb::make_tuple(Text(port.name),
                                 std::make_shared<Tensor>(port.tensor),
                                 nb::tuple(shape)));
  }
  return listed;
}

template <typename Options, typename Load, typename Parse>
models::Model Import(const Options& options, int device,
                     const std::string& path, const Buffer* content,
                     const Load& load, const Parse& parse) {
  return InLibrary([&]() -> models::Model {
    const auto context = vx::Context::Create();
    if (context == nullptr) {
      models::Model failed;
      failed.error = vx::LastError();
      return failed;
    }
    models::Model model = content != nullptr ? parse(context, content->data(),
                                                     content->size(), options)
                                             : load(context, path, options);
    if (model.graph != nullptr && device >= 0) {
      vx::CompileOption chosen;
      chosen.setDeviceId(static_cast<uint32_t>(device));
      model.graph->SetCompileOption(chosen);
    }
    return model;
  });
}

}  // namespace

bool HasImporters() { return true; }

nb::tuple LoadModel(const std::string& format, nb::object path,
                    nb::object content, nb::dict given) {
  ForgetCause();
  const std::string file =
      IsNone(path) ? std::string() : nb::cast<std::string>(path);
  std::unique_ptr<Buffer> bytes;
  if (!IsNone(content)) {
    bytes = std::make_unique<Buffer>(content, Buffer::Access::kRead);
  }
  const int device = nb::cast<int>(given["device"]);
  const auto extra = nb::cast<std::string>(given["extra"]);
  std::unique_ptr<Supplier> supplier;
  models::NodeSupplier supply;
  if (!IsNone(given["supplier"])) {
    supplier = std::make_unique<Supplier>(nb::object(given["supplier"]));
    supply = [asked = *supplier](vx::Graph& graph,
                                 const models::SuppliedNode& node) {
      return asked.Ask(graph, node);
    };
  }
  models::Model model;
  if (format == "onnx") {
    models::OnnxOptions options;
    ReadOptions(given, &options);
    options.external_data_folder = extra;
    options.supplier = supply;
    model = Import(options, device, file, bytes.get(), models::LoadOnnx,
                   models::ParseOnnx);
  } else {
    models::TfliteOptions options;
    ReadOptions(given, &options);
    options.signature = extra;
    options.supplier = supply;
    model = Import(options, device, file, bytes.get(), models::LoadTflite,
                   models::ParseTflite);
  }
  if (supplier != nullptr) supplier->RaiseWhatItRaised();
  if (model.graph == nullptr) RaiseRefusals(model);
  nb::list warnings;
  for (const std::string& warning : model.warnings) {
    warnings.append(Text(warning));
  }
  return nb::make_tuple(std::make_shared<Graph>(model.graph),
                        PortsOf(model.inputs), PortsOf(model.outputs),
                        warnings);
}
#else
bool HasImporters() { return false; }

nb::tuple LoadModel(const std::string& format, nb::object, nb::object,
                    nb::dict) {
  RaiseWith(
      "ModelError",
      nb::make_tuple(Text("this build of timcl has no importer of " + format +
                          " models: the tim-cl that it was made with was built "
                          "without libtim-cl-models"),
                     nb::list()));
}
#endif

}  // namespace timcl
