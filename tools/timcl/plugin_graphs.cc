// Parts of random graphs, what is stored of them, and edits.
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "plugin/views.h"
#include "runtime/compile_options.h"
#include "runtime/ready_graph.h"
#include "tools/timcl/forked_process.h"
#include "tools/timcl/plugin_nodes.h"

namespace tim::tool {
namespace {

constexpr int kGraphs = 50;

class MapStore final : public device::BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view key) override {
    const std::lock_guard lock(mutex);
    const auto found = content.find(std::string(key));
    if (found == content.end()) return std::nullopt;
    return found->second;
  }
  void Store(std::string_view key, std::string_view bytes) override {
    const std::lock_guard lock(mutex);
    content[std::string(key)] = bytes;
  }
  void CountBuild() override { ++builds; }

  std::atomic<int> builds = 0;
  std::mutex mutex;
  std::map<std::string, std::string> content;
};

// A graph of element-wise operators on tensors of one shape.
ir::Graph RandomGraph(CheckedPlugin& plugin, const ir::OpRegistry& operators) {
  static constexpr const char* kUnary[] = {"tim.Relu", "tim.Tanh",
                                           "tim.Sigmoid", "tim.Abs"};
  static constexpr const char* kBinary[] = {"tim.Add", "tim.Sub",
                                            "tim.Multiply", "tim.Maximum"};
  ir::Graph graph("random");
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape{33, 3};
  std::vector<ir::ValueId> values;
  for (int i = 0; i < 2; ++i) {
    values.push_back(graph.AddValue(desc, ir::Role::kInput));
    graph.value(values.back()).shape_declared = true;
    graph.AddInput(values.back());
  }
  const auto floats = RandomFloats(plugin, 99);
  values.push_back(graph.AddConstant(
      desc, ir::MakeConstant(floats.data(), floats.size() * 4)));
  for (int i = 0; i < 12; ++i) {
    const bool binary = plugin.random() % 3 != 0;
    ir::Node node;
    node.schema = operators.Find(binary ? kBinary[plugin.random() % 4]
                                        : kUnary[plugin.random() % 4]);
    node.name = StrCat("node", i);
    node.inputs = {values[plugin.random() % values.size()]};
    if (binary) node.inputs.push_back(values.back());
    ir::TensorDesc out;
    out.type = ir::DataType::kFloat32;
    node.outputs = {graph.AddValue(out)};
    values.push_back(node.outputs[0]);
    graph.AddNode(std::move(node));
  }
  graph.AddOutput(values.back());
  graph.AddOutput(values[values.size() - 3]);
  return graph;
}

Result<std::vector<Bytes>> RunOn(
    const ir::Graph& graph, const device::Devices& devices,
    const std::shared_ptr<MapStore>& store,
    std::shared_ptr<const ir::OpRegistry> operators,
    const std::vector<Bytes>& inputs, int* parts) {
  const compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  TIM_ASSIGN_OR_RETURN(const auto inferred,
                       compiler::Infer(graph, *operators, options));
  TIM_ASSIGN_OR_RETURN(auto ready, runtime::CompileAndPrepare(
                                       inferred, options,
                                       {.devices = devices,
                                        .store = store,
                                        .operators = std::move(operators)}));
  const ir::Plan& plan = ready.executable->plan();
  for (const ir::Step& step : plan.steps) {
    *parts += std::holds_alternative<ir::GraphCall>(step.action) ? 1 : 0;
  }
  std::vector<AlignedMemory> memory;
  const auto room = [&](const ir::PlanTensor& tensor) {
    const auto bytes = ir::ByteSize(tensor.desc);
    memory.push_back(AllocateAligned(bytes.ok() ? *bytes : 0, 64));
    return memory.back().get();
  };
  std::vector<const void*> from;
  std::vector<void*> to;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    std::byte* const at = room(plan.inputs[i]);
    std::copy(inputs[i].begin(), inputs[i].end(), at);
    from.push_back(at);
  }
  for (const ir::PlanTensor& output : plan.outputs) to.push_back(room(output));
  TIM_RETURN_IF_ERROR(ready.context->Run(from, to, nullptr));
  std::vector<Bytes> results;
  for (size_t i = 0; i < to.size(); ++i) {
    const auto* const at = static_cast<const std::byte*>(to[i]);
    results.emplace_back(at, at + *ir::ByteSize(plan.outputs[i].desc));
  }
  return results;
}

Status Same(const ir::Graph& graph, const std::vector<Bytes>& actual,
            const std::vector<Bytes>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        Compare(graph.value(graph.outputs()[i]).desc, actual[i], expected[i])
            .WithContext(StrCat("output ", i)));
  }
  return OkStatus();
}

// Blobs of serialize() are taken again; harmed ones are refused.
Status TryBlob(CheckedPlugin& plugin, plugin::PluginDevice& device,
               const std::string& blob) {
  const TimGraphFns& graphs = device.plugin().tables().graphs;
  const auto load = [&](const std::string& bytes) -> Status {
    TimProgram* program = nullptr;
    const Status status =
        device.Call("TimGraphFns::load", graphs.load,
                    TimBytes{bytes.data(), bytes.size()}, &program);
    if (status.ok()) {
      device.Tell("TimGraphFns::drop_program", graphs.drop_program, program);
    }
    return status;
  };
  TIM_RETURN_IF_ERROR(load(blob).WithContext("what serialize() gave"));
  for (int i = 0; i < 40 && !blob.empty(); ++i) {
    std::string harmed = blob;
    const size_t at = plugin.random() % blob.size();
    if (i % 2 == 0) {
      harmed.resize(at);
    } else {
      harmed[at] = static_cast<char>(harmed[at] ^ (1 << plugin.random() % 8));
    }
    if (!load(harmed).ok()) continue;
    return InvalidArgument("load() takes a blob of ", blob.size(), " bytes ",
                           i % 2 == 0 ? "cut at byte " : "with another byte ",
                           at);
  }
  return OkStatus();
}

}  // namespace

namespace {

// Runs the graphs on each device, with what `store` has; the number of parts.
int RunGraphs(CheckedPlugin& plugin,
              const std::shared_ptr<const ir::OpRegistry>& operators,
              const device::Devices& pair,
              const std::shared_ptr<MapStore>& store) {
  int parts = 0;
  for (int i = 0; i < kGraphs; ++i) {
    ir::Graph graph = RandomGraph(plugin, *operators);
    if (!plugin.Expect(compiler::InferGraph(&graph, *operators), "a graph")) {
      return parts;
    }
    const auto inputs = RandomInputs(plugin, graph);
    const auto expected = Evaluated(graph, inputs);
    const auto actual = RunOn(graph, pair, store, operators, inputs, &parts);
    const std::string name = StrCat("graph ", i);
    if (!plugin.Expect(actual.status(), name)) return parts;
    if (!plugin.Expect(Same(graph, *actual, *expected), name)) return parts;
  }
  return parts;
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string OfHex(std::string_view text) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(value(text[i]) * 16 + value(text[i + 1]));
  }
  return bytes;
}

// Blobs that another process stores of the same graphs; none where it does not
// get that far, which this one finds, too.  Before anything is loaded here.
std::map<std::string, std::string> StoredElsewhere(
    const CheckedPlugin& plugin) {
  std::map<std::string, std::string> content;
  const auto ended = RunForked(
      [&](const SendLine& send) {
        CheckedPlugin other(plugin.path, plugin.options, 0);
        other.random = plugin.random;
        const auto operators = other.LoadAll();
        if (operators == nullptr) return;
        const auto store = std::make_shared<MapStore>();
        for (const device::Devices& pair : other.DevicePairs()) {
          RunGraphs(other, operators, pair, store);
        }
        for (const auto& [key, blob] : store->content) {
          send(StrCat(Hex(key), " ", Hex(blob)));
        }
      },
      [&](const std::string& line) {
        const size_t space = line.find(' ');
        content[OfHex(line.substr(0, space))] = OfHex(line.substr(space + 1));
        return true;
      });
  if (!ended.ok()) content.clear();
  return content;
}

}  // namespace

void CheckParts(CheckedPlugin& plugin) {
  const auto stored = StoredElsewhere(plugin);
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  const TimGraphFns& graphs = plugin.loaded.plugin->tables().graphs;
  if (graphs.compile == nullptr) {
    return plugin.Skip("it compiles no parts of graphs");
  }
  for (const device::Devices& pair : plugin.DevicePairs()) {
    const auto store = std::make_shared<MapStore>();
    store->content = stored;
    const int parts = RunGraphs(plugin, operators, pair, store);
    if (parts == 0) plugin.Skip("it claims nothing of the graphs");
    auto* const own = dynamic_cast<plugin::PluginDevice*>(pair[1].get());
    if (own == nullptr || graphs.serialize == nullptr) continue;
    if (store->builds > 0 && !stored.empty()) {
      plugin.Fail(store->builds.load(), " of ", parts,
                  " parts are compiled again: load() does not take, in another "
                  "process, what serialize() gave");
    }
    int tried = 0;
    for (const auto& [key, blob] : store->content) {
      if (++tried > 5) break;
      if (!plugin.Expect(TryBlob(plugin, *own, blob), "a stored part")) break;
    }
  }
  if (!plugin.loaded.plugin->quarantine().empty()) {
    plugin.Fail(plugin.loaded.plugin->quarantine());
  }
}

void CheckEdits(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  if (plugin.loaded.plugin->tables().graphs.optimize == nullptr) {
    return plugin.Skip("it does not edit graphs");
  }
  const std::string kind = plugin.loaded.plugin->kind();
  for (const device::Devices& pair : plugin.DevicePairs()) {
    for (const ir::PartDef* def : operators->Parts(kind)) {
      for (int i = 0; i < kGraphs; ++i) {
        ir::Graph graph = RandomGraph(plugin, *operators);
        if (!compiler::InferGraph(&graph, *operators).ok()) continue;
        auto edited = def->optimize(graph, i % 2 * 2, pair[1]->info());
        const std::string name = StrCat("graph ", i);
        if (!plugin.Expect(edited.status(), name)) return;
        if (!plugin.Expect(compiler::InferGraph(&*edited, *operators), name)) {
          return;
        }
        if (graph.inputs() != edited->inputs() ||
            graph.outputs().size() != edited->outputs().size()) {
          return plugin.Fail(name, " takes or gives something else");
        }
        const auto inputs = RandomInputs(plugin, graph);
        const auto before = Evaluated(graph, inputs);
        const auto after = Evaluated(*edited, inputs);
        if (!plugin.Expect(after.status(), name)) return;
        if (!plugin.Expect(Same(graph, *after, *before), name)) return;
      }
    }
  }
}

}  // namespace tim::tool
