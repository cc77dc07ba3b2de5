// What a fuzzer of binary graphs begins with.
#include <string>
#include <utility>

#include "binary/blob.h"
#include "binary/program_file.h"
#include "binary/record_file.h"
#include "binary/user_operator.h"
#include "tests/fuzz/blob_operators.h"
#include "tests/fuzz/corpus.h"

namespace tim::testing {
namespace {

using ir::AttributeType;
using ir::Role;

ir::OpSchema Schema(const std::string& name, ir::Arity inputs,
                    ir::Arity outputs) {
  ir::OpSchema schema;
  schema.domain = "fuzz";
  schema.name = name;
  schema.inputs = inputs;
  schema.outputs = outputs;
  return schema;
}

ir::TensorDesc Desc(ir::DataType type, ir::Shape shape) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = std::move(shape);
  return desc;
}

std::shared_ptr<const ir::ConstantData> Bytes(size_t count) {
  return ir::MakeConstant(std::string(count, 'b').data(), count);
}

ir::Node NodeOf(const std::string& op, std::vector<ir::ValueId> inputs,
                std::vector<ir::ValueId> outputs) {
  ir::Node node;
  node.name = op + "#1";
  node.schema = FuzzOperators().Find("fuzz." + op);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

// x + constant, unless it is `bare`.
ir::Graph Simple(bool bare) {
  ir::Graph graph("simple");
  const ir::TensorDesc desc = Desc(ir::DataType::kFloat32, {4, 2});
  const ir::ValueId x = graph.AddValue(desc, Role::kInput, "x");
  const ir::ValueId y = graph.AddValue(desc, Role::kTransient, "y");
  graph.AddInput(x);
  graph.AddOutput(y);
  std::vector<ir::ValueId> inputs = {x};
  if (!bare) inputs.push_back(graph.AddConstant(desc, Bytes(32), "w"));
  graph.AddNode(NodeOf("One", inputs, {y}));
  return graph;
}

// Attributes of every type, a quantized constant, a body and a state.
ir::Graph Rich() {
  ir::Graph graph("rich");
  const ir::TensorDesc desc = Desc(ir::DataType::kFloat32, {4, 2});
  ir::TensorDesc codes = Desc(ir::DataType::kInt8, {3, 2});
  codes.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                        .axis = 0,
                        .scales = {1, 2, 3},
                        .zero_points = {0}};
  const ir::ValueId x = graph.AddValue(desc, Role::kInput, "x");
  const ir::ValueId c = graph.AddConstant(codes, Bytes(6), "c");
  const ir::ValueId s = graph.AddValue(desc, Role::kState, "s");
  graph.value(s).constant = Bytes(32);
  ir::TensorDesc open = Desc(ir::DataType::kUnknown, ir::Shape::OfRank(2));
  open.shape.SetBound(0, 7);
  open.layout = ir::Layout::Blocked(1, 16);
  const ir::ValueId y = graph.AddValue(open, Role::kTransient, "y");
  const ir::ValueId z = graph.AddValue(desc, Role::kTransient, "z");
  ir::Node any = NodeOf("Any", {x, ir::kNone, c}, {y});
  any.attributes = {
      {"bool", true},
      {"int", int64_t{3}},
      {"float", 0.5},
      {"string", std::string("text")},
      {"ints", std::vector<int64_t>{1, 2, 3}},
      {"floats", std::vector<double>{0.5}},
      {"strings", std::vector<std::string>{"one", "two"}},
      {"tensor", ir::Attribute(Bytes(10))},
      {"graph",
       ir::Attribute(std::make_shared<const ir::Graph>(Simple(true)))}};
  graph.AddNode(any);
  ir::Node whole = NodeOf("One", {s}, {z});
  whole.schema = nullptr;
  whole.composite = std::make_shared<ir::Composite>(
      ir::Composite{.name = "fuzz.Whole", .body = Simple(true), .anchor = 0});
  graph.AddNode(whole);
  graph.AddInput(x);
  graph.AddInput(ir::kNone);
  graph.AddOutput(z);
  graph.AddStateUpdate(s, z);
  return graph;
}

// A user's kernel with an argument of every kind, and a copy.
binary::UserOperator Frozen() {
  using Kind = ir::LoweredOperand::Kind;
  const ir::TensorDesc desc = Desc(ir::DataType::kFloat32, {4, 2});
  ir::UserTensorArg tensor;
  tensor.type = ir::DataType::kFloat32;
  tensor.dims = {4, 2};
  tensor.name = "input 0";
  ir::UserTensorArg written = tensor;
  written.operand = 1;
  written.written = true;
  ir::UserLaunch launch;
  launch.name = "user.Mine#1";
  launch.text = "__kernel void f() {}";
  launch.function = "f";
  launch.options = "-DA=1";
  launch.defines = {"B 2"};
  launch.arguments = {
      tensor, written,
      ir::UserScalarArg{.value = 0.5, .type = "float", .name = "scalar 0"},
      ir::LocalArg{.bytes = 64, .name = "local 0"}};
  binary::UserOperator frozen;
  frozen.key = "user.Mine#1@1";
  frozen.inputs = {desc};
  frozen.outputs = {desc};
  frozen.attributes = {{"alpha", AttributeType::kFloat}};
  frozen.steps.push_back({.action = ir::Copy{32},
                          .operands = {{Kind::kInput, 0}, {Kind::kOutput, 0}},
                          .written = {false, true}});
  frozen.steps.push_back(
      {.action = launch,
       .operands = {{Kind::kInput, 0}, {Kind::kOutput, 0}, {Kind::kPacked, 0}},
       .written = {false, true, false}});
  frozen.scratch = {{.bytes = 16, .first = 0, .last = 1}};
  frozen.tables = {Bytes(8)};
  frozen.in_place = {{.input = 0, .output = 0}};
  return frozen;
}

std::vector<binary::Port> PortsOf(const ir::Graph& graph,
                                  const std::vector<ir::ValueId>& ids) {
  std::vector<binary::Port> ports;
  for (const ir::ValueId id : ids) {
    binary::Port& port = ports.emplace_back();
    port.unused = id == ir::kNone;
    port.name = port.unused ? "none" : graph.value(id).name;
    port.desc =
        port.unused ? Desc(ir::DataType::kFloat32, {1}) : graph.value(id).desc;
  }
  return ports;
}

const binary::Programs kPrograms = {{"key", "program"}, {"other", "more"}};

// What all files share: facts, a run, and zeros for what it read.
binary::Encoding EncodedRecord(const std::vector<binary::Port>& inputs) {
  static const std::vector<std::byte> zeros(64);
  binary::Record record = {.facts = {{"library", "1"}, {"device 0", "host"}},
                           .run = 3,
                           .end = binary::RunEnd::kFailed,
                           .message = "why",
                           .inputs = {},
                           .outputs = {},
                           .messages = {"a warning"}};
  for (const binary::Port& port : inputs) {
    const auto bytes = static_cast<size_t>(*ir::ByteSize(port.desc));
    record.inputs.emplace_back(zeros.data(), port.unused ? 0 : bytes);
  }
  return binary::EncodeRecord(record);
}

std::vector<std::byte> FileOf(const ir::Graph& graph,
                              const ir::OpRegistry* registry) {
  auto encoding = binary::EncodeGraph(graph, registry);
  if (!encoding.ok()) return {};
  const binary::BlobContent content = {
      .library = "1",
      .graph_name = graph.name(),
      .inputs = PortsOf(graph, graph.inputs()),
      .outputs = PortsOf(graph, graph.outputs()),
      .graph = *std::move(encoding),
      .plan = std::nullopt,
      .programs = binary::EncodePrograms(kPrograms),
      .record = EncodedRecord(PortsOf(graph, graph.inputs())),
      .kernels = "k"};
  const binary::BlobWriter writer(content);
  std::vector<std::byte> file(static_cast<size_t>(writer.bytes()));
  writer.WriteTo(file.data());
  return file;
}

std::vector<std::byte> WithFrozen() {
  ir::OpRegistry registry(&FuzzOperators());
  ir::Graph graph = Simple(true);
  ir::Node& node = graph.node(0);
  node.schema = binary::Register(Frozen(), "", &registry);
  node.attributes = {{"alpha", 0.5}};
  return FileOf(graph, &registry);
}

}  // namespace

const ir::OpRegistry& FuzzOperators() {
  static const ir::OpRegistry* const operators = [] {
    auto* made = new ir::OpRegistry();
    ir::OpSchema any = Schema("Any", {0, 8}, {0, 8});
    for (int type = 0; type <= static_cast<int>(AttributeType::kGraph);
         ++type) {
      const auto kind = static_cast<AttributeType>(type);
      any.attributes.push_back({.name = ir::ToString(kind), .type = kind});
    }
    made->Add(any);
    made->Add(Schema("One", {1, 2}, {1, 1}));
    return made;
  }();
  return *operators;
}

std::vector<std::vector<std::byte>> Corpus() {
  return {FileOf(Simple(true), nullptr), FileOf(Simple(false), nullptr),
          FileOf(Rich(), nullptr), WithFrozen()};
}

}  // namespace tim::testing
