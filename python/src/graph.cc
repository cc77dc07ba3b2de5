// Graphs as Python builds and runs them.
#include "graph.h"

#include <map>
#include <utility>

#include "custom_operator.h"
#include "named_operation.h"
#include "spec.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/error.h"
#include "tim/vx/infer.h"
#include "tim/vx/ops/nbg.h"
#include "tim/vx/shared_constant.h"

namespace timcl {
namespace {

constexpr uint32_t kNoTensor = 0xFFFFFFFF;

std::shared_ptr<vx::Graph> CreateGraph(int device) {
  std::string error;
  const auto graph = InLibrary([&]() -> std::shared_ptr<vx::Graph> {
    const auto context = vx::Context::Create();
    vx::CompileOption options;
    if (device >= 0) options.setDeviceId(static_cast<uint32_t>(device));
    auto made = context ? context->CreateGraph(options) : nullptr;
    if (made == nullptr) error = vx::LastError();
    return made;
  });
  if (graph == nullptr) Raise("Error", error);
  return graph;
}

// A CONSTANT without a copy; other roles with one.
std::shared_ptr<vx::Tensor> CreateTensor(
    const std::shared_ptr<vx::Graph>& graph, const vx::TensorSpec& spec,
    const std::shared_ptr<const void>& data) {
  if (spec.attr_ == vx::CONSTANT) {
    return vx::CreateSharedConstant(graph, spec, data);
  }
  return graph->CreateTensor(spec, data.get());
}

std::vector<Buffer> BuffersOf(nb::list arrays, Buffer::Access access) {
  std::vector<Buffer> buffers;
  for (const nb::handle array : arrays) buffers.emplace_back(array, access);
  return buffers;
}

// "" where the buffers are as long as the tensors.
std::string Misfit(const char* what,
                   const std::vector<std::shared_ptr<vx::Tensor>>& tensors,
                   const std::vector<Buffer>& buffers) {
  if (tensors.size() != buffers.size()) {
    return std::to_string(buffers.size()) + " " + what + "s are given, the " +
           "graph has " + std::to_string(tensors.size());
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t bytes = tensors[i]->GetSpec().GetByteSize();
    if (bytes == static_cast<int64_t>(buffers[i].size())) continue;
    return std::string(what) + " " + std::to_string(i) + " has " +
           std::to_string(buffers[i].size()) + " bytes, its tensor has " +
           std::to_string(bytes);
  }
  return "";
}

vx::TensorAttribute RoleOf(const std::string& role) {
  if (role == "input") return vx::INPUT;
  if (role == "output") return vx::OUTPUT;
  if (role == "constant") return vx::CONSTANT;
  if (role == "state") return vx::VARIABLE;
  return vx::TRANSIENT;
}

}  // namespace

Tensor::~Tensor() {
  Released released;
  tensor_.reset();
  data_.reset();
}

nb::tuple Tensor::Spec() const { return ToPython(tensor_->GetSpec()); }

void Tensor::CheckSize(const Buffer& buffer) const {
  if (Bytes() == static_cast<int64_t>(buffer.size())) return;
  Raise("ArgumentError", "the array has " + std::to_string(buffer.size()) +
                             " bytes, the tensor has " +
                             std::to_string(Bytes()));
}

void Tensor::Write(nb::handle buffer) {
  const Buffer source(buffer, Buffer::Access::kRead);
  CheckSize(source);
  std::string error;
  const bool written = InLibrary([&] {
    const bool good = tensor_->CopyDataToTensor(source.data());
    if (!good) error = vx::LastError();
    return good;
  });
  if (!written) Raise("Error", error);
}

void Tensor::Read(nb::handle buffer) const {
  const Buffer target(buffer, Buffer::Access::kWrite);
  CheckSize(target);
  std::string error;
  const bool read = InLibrary([&] {
    const bool good = tensor_->CopyDataFromTensor(target.data());
    if (!good) error = vx::LastError();
    return good;
  });
  if (!read) Raise("Error", error);
}

Running::~Running() {
  // The arrays are the run's until it has ended.
  Released released;
  event_.Wait();
  event_ = vx::RunEvent();
}

void Running::Wait() {
  std::string error;
  const bool good = InLibrary([&] {
    const bool ended = event_.Wait();
    if (!ended) error = event_.ErrorMessage();
    return ended;
  });
  if (!good) Raise("RunError", error);
}

Graph::Graph(int device) : graph_(CreateGraph(device)) {}

Graph::~Graph() {
  bound_.clear();
  tensors_.clear();
  // Runs in flight may wait for the interpreter.
  Released released;
  graph_.reset();
}

std::shared_ptr<Tensor> Graph::AddTensor(nb::tuple described,
                                         const std::string& role,
                                         const std::string& name,
                                         nb::object data) {
  vx::TensorSpec spec = ToSpec(described, RoleOf(role));
  spec.SetName(name);
  std::shared_ptr<const void> kept;
  if (!data.is_none()) {
    const Buffer buffer(data, Buffer::Access::kRead);
    if (static_cast<int64_t>(buffer.size()) != spec.GetByteSize()) {
      Raise("ArgumentError", "the array has " + std::to_string(buffer.size()) +
                                 " bytes, its tensor has " +
                                 std::to_string(spec.GetByteSize()));
    }
    kept = buffer.Share();
  }
  std::string error;
  const auto tensor = InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    auto made = CreateTensor(graph_, spec, kept);
    if (made->GetId() == kNoTensor) error = vx::LastError();
    return made;
  });
  if (!error.empty()) Raise("GraphError", error);
  tensors_.push_back(std::make_shared<Tensor>(tensor, std::move(kept)));
  return tensors_.back();
}

std::shared_ptr<Tensor> Graph::PlaceHolder() {
  return std::make_shared<Tensor>(graph_->CreateTensorPlaceHolder());
}

std::string Graph::Infer(const std::shared_ptr<vx::Operation>& operation) {
  if (vx::InferOutputs(operation)) return "";
  std::string error = vx::LastError();
  if (error.empty()) error = "the operation cannot be";
  // It must not stand in the way of others.
  auto& operations = graph_->OpVector();
  if (!operations.empty() && operations.back() == operation) {
    operations.pop_back();
  }
  return error;
}

void Graph::Add(const Create& create,
                const std::vector<std::shared_ptr<Tensor>>& inputs,
                const std::vector<std::shared_ptr<Tensor>>& outputs,
                const std::string& name) {
  std::shared_ptr<vx::Operation> operation;
  const std::string error = InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    operation = create(graph_.get());
    if (!name.empty()) operation->SetInstanceName(name);
    for (const auto& input : inputs) operation->BindInput(input->get());
    for (const auto& output : outputs) operation->BindOutput(output->get());
    return Infer(operation);
  });
  if (!error.empty()) Raise("GraphError", error);
  bound_.push_back({operation, inputs, outputs});
}

void Graph::AddOperation(const std::string& op,
                         const std::vector<std::shared_ptr<Tensor>>& inputs,
                         const std::vector<std::shared_ptr<Tensor>>& outputs,
                         nb::list attributes, const std::string& name) {
  ForgetCause();
  const auto named = AttributesOf(attributes);
  Add([&](vx::Graph* graph) { return AddNamedOperation(graph, op, named); },
      inputs, outputs, name);
}

void Graph::AddCustom(const std::string& op, nb::object hooks,
                      const std::vector<int>& optional,
                      const std::vector<std::shared_ptr<Tensor>>& inputs,
                      const std::vector<std::shared_ptr<Tensor>>& outputs,
                      const std::string& name) {
  ForgetCause();
  auto definition = std::make_shared<CustomDefinition>();
  definition->name = op;
  definition->inputs = static_cast<uint32_t>(inputs.size());
  definition->outputs = static_cast<uint32_t>(outputs.size());
  definition->optional = optional;
  definition->source = nb::cast<std::string>(hooks.attr("source")());
  definition->has_host = nb::cast<bool>(hooks.attr("has_host")());
  definition->hooks = PyRef(hooks);
  std::shared_ptr<const CustomDefinition> made = std::move(definition);
  Add(
      [&](vx::Graph* graph) {
        return graph->CreateOperation<CustomOperation>(made);
      },
      inputs, outputs, name);
}

void Graph::AddBinary(nb::handle bytes,
                      const std::vector<std::shared_ptr<Tensor>>& inputs,
                      const std::vector<std::shared_ptr<Tensor>>& outputs) {
  const Buffer buffer(bytes, Buffer::Access::kRead);
  InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto operation = graph_->CreateOperation<vx::ops::NBG>(
        static_cast<const char*>(buffer.data()), inputs.size(), outputs.size());
    for (const auto& input : inputs) operation->BindInput(input->get());
    for (const auto& output : outputs) operation->BindOutput(output->get());
    return true;
  });
}

nb::tuple Graph::Finish(const std::vector<std::shared_ptr<Tensor>>& outputs,
                        const std::vector<std::string>& names,
                        const std::vector<std::shared_ptr<Tensor>>& asked,
                        int device) {
  auto finished = std::make_shared<Graph>(device);
  std::map<const Tensor*, std::shared_ptr<vx::Tensor>> made;
  const auto tensors = tensors_;
  const auto all = bound_;
  InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto& graph = finished->graph_;
    std::map<const Tensor*, std::string> ends;
    for (size_t i = 0; i < outputs.size(); ++i) {
      ends.emplace(outputs[i].get(), names[i]);
    }
    const auto make = [&](const std::shared_ptr<Tensor>& tensor) {
      auto& copy = made[tensor.get()];
      if (copy != nullptr) return copy;
      if (tensor->get()->IsPlaceHolder()) {
        return copy = graph->CreateTensorPlaceHolder();
      }
      vx::TensorSpec spec = tensor->get()->GetSpec();
      const auto end = ends.find(tensor.get());
      if (end != ends.end()) {
        spec.SetAttribute(vx::OUTPUT).SetName(end->second);
      }
      return copy = CreateTensor(graph, spec, tensor->data());
    };
    for (const auto& tensor : tensors) {
      if (tensor->get()->GetSpec().attr_ == vx::INPUT) make(tensor);
    }
    for (const auto& output : outputs) make(output);
    for (const Bound& bound : all) {
      std::shared_ptr<vx::Graph> target = graph;
      const auto copy = bound.operation->Clone(target);
      copy->SetInstanceName(bound.operation->InstanceName());
      for (const auto& input : bound.inputs) copy->BindInput(make(input));
      for (const auto& output : bound.outputs) copy->BindOutput(make(output));
    }
    return true;
  });
  nb::list found;
  for (const auto& tensor : asked) {
    const auto copy = made.find(tensor.get());
    if (copy == made.end()) {
      found.append(nb::none());
    } else {
      found.append(std::make_shared<Tensor>(copy->second));
    }
  }
  return nb::make_tuple(finished, found);
}

std::vector<std::shared_ptr<Tensor>> Graph::Ports(bool inputs) {
  std::vector<std::shared_ptr<Tensor>> ports;
  for (const auto& tensor :
       inputs ? graph_->InputsTensor() : graph_->OutputsTensor()) {
    ports.push_back(std::make_shared<Tensor>(tensor));
  }
  return ports;
}

void Graph::Compile() {
  ForgetCause();
  const std::string error = InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    return graph_->Compile() ? std::string() : graph_->ErrorMessage();
  });
  if (!error.empty()) Raise("CompileError", error);
}

std::string Graph::Begin(const std::vector<Buffer>& inputs,
                         const std::vector<Buffer>& outputs,
                         vx::RunEvent* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string error = Misfit("input", graph_->InputsTensor(), inputs);
  if (error.empty()) {
    error = Misfit("output", graph_->OutputsTensor(), outputs);
  }
  if (!error.empty()) return error;
  std::vector<const void*> read;
  std::vector<void*> written;
  for (const Buffer& buffer : inputs) read.push_back(buffer.data());
  for (const Buffer& buffer : outputs) written.push_back(buffer.data());
  *event = graph_->RunAsync(read, written);
  return *event ? std::string() : vx::LastError();
}

void Graph::Run(nb::list inputs, nb::list outputs) {
  ForgetCause();
  const auto read = BuffersOf(inputs, Buffer::Access::kRead);
  const auto written = BuffersOf(outputs, Buffer::Access::kWrite);
  const std::string error = InLibrary([&] {
    vx::RunEvent event;
    std::string reason = Begin(read, written, &event);
    if (reason.empty() && !event.Wait()) reason = event.ErrorMessage();
    return reason;
  });
  if (!error.empty()) Raise("RunError", error);
}

std::unique_ptr<Running> Graph::Start(nb::list inputs, nb::list outputs) {
  ForgetCause();
  auto buffers = BuffersOf(inputs, Buffer::Access::kRead);
  const auto written = BuffersOf(outputs, Buffer::Access::kWrite);
  vx::RunEvent event;
  const std::string error =
      InLibrary([&] { return Begin(buffers, written, &event); });
  if (!error.empty()) Raise("RunError", error);
  buffers.insert(buffers.end(), written.begin(), written.end());
  return std::make_unique<Running>(event, std::move(buffers));
}

void Graph::Dump(const std::string& directory, const std::string& names) {
  ForgetCause();
  const std::string error = InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    return graph_->Dump(directory, names) ? std::string() : vx::LastError();
  });
  if (!error.empty()) Raise("RunError", error);
}

nb::bytes Graph::ToBytes() {
  ForgetCause();
  std::string bytes;
  const std::string error = InLibrary([&] {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t size = 0;
    if (!graph_->CompileToBinary(nullptr, &size)) return vx::LastError();
    bytes.resize(size);
    return graph_->CompileToBinary(bytes.data(), &size) ? std::string()
                                                        : vx::LastError();
  });
  if (!error.empty()) Raise("CompileError", error);
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace timcl
