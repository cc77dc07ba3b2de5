// Builds programs once per device, and keeps what parts were compiled to.
#include "plugin/plugin_programs.h"

#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "ir/graph.h"
#include "ir/verify/host_node.h"
#include "plugin/plugin_device.h"
#include "plugin/views.h"

namespace tim::plugin {
namespace {

// A text of the host's that a plug-in gives to a callback once.
void Receive(void* state, const void* data, uint64_t bytes) {
  auto* const text = static_cast<std::optional<std::string>*>(state);
  if (data == nullptr && bytes > 0) return;
  try {
    *text = std::string(static_cast<const char*>(data), bytes);
  } catch (...) {
    text->reset();
  }
}

std::string KeyOf(const PluginDevice& device, const char* what,
                  const std::string& content) {
  return StrCat(
      "plugin/", device.info().kind, "/", what, "/",
      HashText(StrCat(device.info().driver, "\n", content)).ToString());
}

std::string ContentOfCall(const ir::GraphCall& call) {
  std::string content = ir::ContentOf(*call.part);
  for (const auto& [key, value] : call.options) {
    content += StrCat(key, "=", value, "\n");
  }
  return content;
}

}  // namespace

std::shared_ptr<Programs::Program> Programs::Slot(const std::string& key) {
  const std::lock_guard lock(mutex_);
  auto& slot = programs_[key];
  if (slot == nullptr) slot = std::make_shared<Program>();
  return slot;
}

Result<TimProgram*> Programs::OfKernel(const ir::DeviceCall& call,
                                       device::BinaryStore& store) {
  const auto program = Slot(StrCat("kernel ", call.name, "\n", call.payload));
  const std::lock_guard lock(program->mutex);
  if (program->handle != nullptr) return program->handle;
  const auto& build = device_.plugin().tables().kernels.build;
  TimStore own{&store, KeyOf(device_, "kernel", call.name) + "/"};
  TimProgram* handle = nullptr;
  TIM_RETURN_IF_ERROR(device_.Call(
      "TimKernelFns::build", build, call.name.c_str(),
      TimBytes{call.payload.data(), call.payload.size()}, &own, &handle));
  if (handle == nullptr) {
    return device_.plugin().Broke(
        "TimKernelFns::build() succeeded without a program");
  }
  store.CountBuild();
  return program->handle = handle;
}

Result<TimProgram*> Programs::OfGraph(const ir::GraphCall& call,
                                      device::BinaryStore& store) {
  // A plan may come from a file.
  TIM_RETURN_IF_ERROR(ir::CheckPart(*call.part).WithContext(call.name));
  const std::string content = ContentOfCall(call);
  const auto program = Slot("graph " + content);
  const std::lock_guard lock(program->mutex);
  if (program->handle == nullptr) {
    program->of_graph = true;
    program->store_key = KeyOf(device_, "graph", content);
    TIM_RETURN_IF_ERROR(LoadStored(store, program.get()));
    if (program->handle == nullptr) {
      TIM_RETURN_IF_ERROR(Compile(call, store, program.get()));
    }
  }
  if (program->blob) {
    store.Use(program->store_key, [blob = program->blob] { return blob; });
  }
  return program->handle;
}

// A stored blob that the plug-in does not take is compiled again.
Status Programs::LoadStored(device::BinaryStore& store, Program* program) {
  const TimGraphFns& graphs = device_.plugin().tables().graphs;
  if (graphs.load == nullptr || graphs.serialize == nullptr) return OkStatus();
  std::optional<std::string> blob = store.Load(program->store_key);
  if (!blob) return OkStatus();
  TimProgram* handle = nullptr;
  const Status loaded =
      device_.Call("TimGraphFns::load", graphs.load,
                   TimBytes{blob->data(), blob->size()}, &handle);
  if (loaded.ok() && handle != nullptr) {
    program->handle = handle;
    program->blob = std::move(blob);
    return OkStatus();
  }
  if (loaded.code() == StatusCode::kDeviceLost) return loaded;
  TIM_LOG(kWarning, "what was stored of a part is compiled again: ",
          loaded.ok() ? "it gave no program" : loaded.message());
  return OkStatus();
}

Status Programs::Compile(const ir::GraphCall& call, device::BinaryStore& store,
                         Program* program) {
  const TimGraphFns& graphs = device_.plugin().tables().graphs;
  TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(*call.part));
  std::vector<TimOption> options;
  for (const auto& [key, value] : call.options) {
    options.push_back({key.c_str(), value.c_str()});
  }
  TimProgram* handle = nullptr;
  TIM_RETURN_IF_ERROR(device_
                          .Call("TimGraphFns::compile", graphs.compile,
                                static_cast<const TimGraph*>(view.get()),
                                static_cast<const TimOption*>(options.data()),
                                static_cast<uint32_t>(options.size()), &handle)
                          .WithContext(call.name));
  if (handle == nullptr) {
    return device_.plugin().Broke(
        "TimGraphFns::compile() succeeded without a program");
  }
  program->handle = handle;
  store.CountBuild();
  return Serialize(store, program);
}

Status Programs::Serialize(device::BinaryStore& store, Program* program) {
  const TimGraphFns& graphs = device_.plugin().tables().graphs;
  if (graphs.serialize == nullptr) return OkStatus();
  std::optional<std::string> blob;
  const Status status =
      device_.Call("TimGraphFns::serialize", graphs.serialize, program->handle,
                   Receive, static_cast<void*>(&blob));
  if (status.code() == StatusCode::kDeviceLost) return status;
  if (!status.ok() || !blob) {
    TIM_LOG(kInfo, "a part is not stored: ",
            status.ok() ? "it gave no bytes" : status.message());
    return OkStatus();
  }
  store.Store(program->store_key, *blob);
  program->blob = std::move(blob);
  return OkStatus();
}

void Programs::Drop() {
  const PluginTables& tables = device_.plugin().tables();
  for (const auto& [key, program] : programs_) {
    if (program->handle == nullptr) continue;
    if (program->of_graph) {
      device_.Tell("TimGraphFns::drop_program", tables.graphs.drop_program,
                   program->handle);
    } else {
      device_.Tell("TimKernelFns::drop_program", tables.kernels.drop_program,
                   program->handle);
    }
  }
  programs_.clear();
}

Result<std::unique_ptr<device::PreparedStep>> PluginStep::Create(
    PluginDevice& device, TimProgram* program, bool of_graph, size_t inputs,
    size_t outputs) {
  const PluginTables& tables = device.plugin().tables();
  const auto prepare =
      of_graph ? tables.graphs.prepare : tables.kernels.prepare;
  const auto drop =
      of_graph ? tables.graphs.drop_prepared : tables.kernels.drop_prepared;
  const char* const name =
      of_graph ? "TimGraphFns::prepare" : "TimKernelFns::prepare";
  TimPrepared* handle = nullptr;
  TIM_RETURN_IF_ERROR(device.Call(name, prepare, program, &handle));
  if (handle == nullptr) {
    return device.plugin().Broke(StrCat(name, "() succeeded without a step"));
  }
  std::shared_ptr<TimPrepared> prepared(
      handle, [&device, drop](TimPrepared* dropped) {
        device.Tell("drop_prepared", drop, dropped);
      });
  return std::unique_ptr<device::PreparedStep>(
      new PluginStep(device, std::move(prepared), of_graph, inputs, outputs));
}

Result<PluginStep::Work> PluginStep::WorkOn(
    std::vector<TimRange> ranges) const {
  const PluginTables& tables = device_.plugin().tables();
  PluginDevice* const device = &device_;
  if (!of_graph_) {
    return Work([device, prepared = prepared_, ranges = std::move(ranges),
                 enqueue = tables.kernels.enqueue](TimStream* stream) {
      return device->Call("TimKernelFns::enqueue", enqueue, stream,
                          prepared.get(),
                          static_cast<const TimRange*>(ranges.data()),
                          static_cast<uint32_t>(ranges.size()));
    });
  }
  if (ranges.size() != inputs_ + outputs_) {
    return TIM_INTERNAL("a part with ", ranges.size(), " operands");
  }
  return Work([device, prepared = prepared_, ranges = std::move(ranges),
               inputs = static_cast<uint32_t>(inputs_),
               outputs = static_cast<uint32_t>(outputs_),
               execute = tables.graphs.execute](TimStream* stream) {
    const TimRange* const first = ranges.data();
    return device->Call("TimGraphFns::execute", execute, stream, prepared.get(),
                        first, inputs, first + inputs, outputs);
  });
}

}  // namespace tim::plugin
