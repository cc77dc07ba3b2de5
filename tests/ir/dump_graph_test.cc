// Graphs and their parts as DOT and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "ir/dump/graph_dot.h"
#include "ir/dump/graph_json.h"
#include "ir/dump/partition_text.h"
#include "ir/op_schema.h"
#include "tests/support/toy_ops.h"

namespace tim::ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToyGraph;

TEST(GraphDot, IsTheWholeGraph) {
  ToyGraph toy("g");
  toy.Output(toy.Op("Bump", {toy.Input({4})}, {{"by", int64_t{2}}}));
  EXPECT_EQ(DotOf(toy.graph()),
            "digraph \"g\" {\n"
            "  node [shape=box, fontname=\"sans-serif\"];\n"
            "  edge [fontname=\"sans-serif\", fontsize=10];\n"
            "  n0 [label=\"Bump#0\\ntoy.Bump@1\\n{by: 2}\"];\n"
            "  v0 [shape=ellipse, style=filled, fillcolor=lightblue, "
            "label=\"%0\\nfloat32 [4]\"];\n"
            "  v0 -> n0;\n"
            "  out0 [shape=ellipse, style=filled, fillcolor=lightgreen, "
            "label=\"output\"];\n"
            "  n0 -> out0 [label=\"%1\\nunknown [...]\"];\n"
            "}\n");
}

TEST(GraphDot, ShowsConstantsStatesAndAbsentOperands) {
  ToyGraph toy;
  const ValueId state = toy.State({2});
  const ValueId sum = toy.Op("Sum", {state, toy.Constant({2}, 1)});
  toy.Op("Twice", {kNone});
  toy.graph().AddStateUpdate(state, sum);
  const std::string dot = DotOf(toy.graph());
  EXPECT_THAT(dot, HasSubstr("fillcolor=lightyellow"));
  EXPECT_THAT(dot, HasSubstr("fillcolor=lightgrey"));
  EXPECT_THAT(dot, HasSubstr("  next0 [shape=ellipse"));
  EXPECT_THAT(dot, HasSubstr("label=\"next %0\""));
  EXPECT_THAT(dot, Not(HasSubstr("-> n1")));
}

Graph GraphWithNames(const std::string& name) {
  ToyGraph toy(name);
  toy.Output(toy.Op("Twice", {toy.Input({4})}));
  toy.graph().value(0).name = name;
  toy.graph().node(0).name = name;
  return std::move(toy.graph());
}

// Quotes end no string, backslashes are no escapes, bytes that are no UTF-8
// are replaced.
TEST(GraphDot, NamesAreAnything) {
  const std::string dot = DotOf(GraphWithNames("a\"b\\N/测\n\xFF"));
  EXPECT_THAT(dot, HasSubstr("digraph \"a\\\"b\\\\N/测\\n\xEF\xBF\xBD\" {"));
  EXPECT_THAT(dot,
              HasSubstr("n0 [label=\"a\\\"b\\\\N/测\\n\xEF\xBF\xBD\\ntoy"));
  EXPECT_THAT(dot,
              HasSubstr("label=\"a\\\"b\\\\N/测\\n\xEF\xBF\xBD\\nfloat32"));
}

// A composite that wraps the node of a graph.
Graph Wrapped() {
  ToyGraph inner("body");
  inner.Output(inner.Op("Bump", {inner.Op("Heavy", {inner.Input({4})})}));
  ToyGraph toy("outer");
  toy.Output(toy.Op("Twice", {toy.Input({4})}));
  toy.graph().node(0).schema = nullptr;
  toy.graph().node(0).composite = std::make_shared<const Composite>(
      Composite{.name = "toy.Pair", .body = inner.graph()});
  return std::move(toy.graph());
}

TEST(GraphDot, CompositesNameTheirParts) {
  EXPECT_THAT(DotOf(Wrapped()),
              HasSubstr("toy.Pair\\n= toy.Heavy@1 + toy.Bump@1"));
}

// ---- the language -----------------------------------------------------------

// Reads what the language of DOT allows of what the library writes: names,
// texts in quotes, attributes, edges and subgraphs.
class DotReader {
 public:
  explicit DotReader(const std::string& text) : text_(text) {}

  // Whether it is one graph and nothing else.
  bool Read() {
    const bool read = Take("digraph") && Id() && Block();
    Skip();
    return read && at_ == text_.size();
  }
  int nodes() const { return nodes_; }
  int edges() const { return edges_; }
  int clusters() const { return clusters_; }

 private:
  void Skip() { at_ = std::min(text_.find_first_not_of(" \n", at_), End()); }
  size_t End() const { return text_.size(); }
  bool Take(std::string_view word) {
    Skip();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  bool Id() {
    Skip();
    const size_t begin = at_;
    if (at_ < End() && text_[at_] == '"') {
      for (++at_; at_ < End() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\n') return false;
        if (text_[at_] == '\\') ++at_;
      }
      return at_++ < End();
    }
    while (at_ < End() && (IsNameCharacter(text_[at_]))) ++at_;
    return at_ > begin;
  }
  bool Attributes() {
    if (!Take("[")) return true;
    do {
      if (!Id() || !Take("=") || !Id()) return false;
    } while (Take(","));
    return Take("]");
  }
  bool Block() {
    if (!Take("{")) return false;
    while (!Take("}")) {
      if (!Statement()) return false;
    }
    return true;
  }
  bool Statement() {
    if (Take("subgraph")) {
      ++clusters_;
      return Id() && Block();
    }
    if (!Id()) return false;
    if (Take("=")) return Id() && Take(";");
    const bool is_edge = Take("->");
    ++(is_edge ? edges_ : nodes_);
    return (!is_edge || Id()) && Attributes() && Take(";");
  }

  const std::string& text_;
  size_t at_ = 0;
  int nodes_ = 0;  // and defaults of nodes and edges
  int edges_ = 0;
  int clusters_ = 0;
};

TEST(PartitionDot, IsDotWithAClusterPerPart) {
  for (const std::string name : {"Conv2d#0", "a \"quote\"", "back\\", "a\nb;",
                                 "}", "", "\xFF", "\xE2\x82\xAC"}) {
    Plan plan;
    plan.graph = name;
    Partition& partition = plan.notes.partition;
    for (const std::string& spec : {std::string("host"), name}) {
      partition.devices.emplace_back().spec = spec;
    }
    partition.parts.resize(3);
    partition.parts[0].nodes = {0, 1};
    partition.parts[1].device = 1;
    partition.parts[1].nodes = {2};
    partition.parts[1].inputs = {{name, 64, 0}, {"x", 8, -1}};
    partition.parts[2].nodes = {3};
    partition.parts[2].inputs = {{"y", 64, 0}, {"z", 4, 1}};
    for (const int part : {0, 0, 1, 2}) {
      PartitionNode& node = partition.nodes.emplace_back();
      node.name = name;
      node.part = part;
    }
    const std::string dot = PartitionDot(plan);
    DotReader reader(dot);
    EXPECT_TRUE(reader.Read()) << dot;
    EXPECT_EQ(reader.clusters(), 3) << dot;
    EXPECT_EQ(reader.nodes(), 1 + 4) << dot;  // and the shape of all
    EXPECT_EQ(reader.edges(), 3) << dot;
    EXPECT_THAT(dot, HasSubstr("n1 -> n2 [ltail=cluster_0, lhead=cluster_1"));
    EXPECT_THAT(dot, HasSubstr("64 bytes"));
  }
}

TEST(GraphDot, IsDot) {
  for (const std::string name : {"g", "\"", "\\", "a\nb", "\xFF"}) {
    const std::string dot = DotOf(GraphWithNames(name));
    EXPECT_TRUE(DotReader(dot).Read()) << dot;
  }
  for (const std::string wrong :
       {"", "digraph g", "digraph g { a -> }", "digraph g { a [b]; }",
        "digraph g { } }", "digraph g { \"a ; }"}) {
    EXPECT_FALSE(DotReader(wrong).Read()) << wrong;
  }
}

TEST(GraphJson, IsTheWholeGraph) {
  ToyGraph toy("g");
  const ValueId state = toy.State({2});
  const ValueId input = toy.Input({2});
  toy.graph().value(input).desc.type = DataType::kUint8;
  toy.graph().value(input).desc.quantization = Quantization::PerTensor(0.1f, 3);
  const ValueId sum = toy.Op("Sum", {input, state, kNone});
  toy.Output(sum);
  toy.graph().AddStateUpdate(state, sum);
  EXPECT_EQ(
      JsonOf(toy.graph()),
      R"({"graph": "g", "inputs": ["%1"], "outputs": ["%2"], )"
      R"("states": [{"state": "%0", "next": "%2"}], "values": [)"
      "\n"
      R"(  {"name": "%0", "role": "state", "type": "float32", "shape": [2], )"
      R"("layout": "dense", "bytes": 8},)"
      "\n"
      R"(  {"name": "%1", "role": "input", "type": "uint8", "shape": [2], )"
      R"("layout": "dense", "quantization": {"scales": [0.1], )"
      R"("zero_points": [3]}, "bytes": 2},)"
      "\n"
      R"(  {"name": "%2", "role": "transient", "type": "unknown", )"
      R"("shape": null, "layout": "dense", "bytes": null, )"
      R"("producer": "Sum#0"})"
      "\n"
      R"(], "nodes": [)"
      "\n"
      R"(  {"name": "Sum#0", "operator": "toy.Sum@1", "attributes": {}, )"
      R"("inputs": ["%1", "%0", null], "outputs": ["%2"]})"
      "\n]}\n");
}

TEST(GraphJson, AttributesOfEveryType) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({4})},
                    {{"bool", true},
                     {"constant", MakeConstant("x", 1)},
                     {"float", 0.5},
                     {"floats", std::vector<double>{1, 0.25}},
                     {"graph", std::make_shared<const Graph>("inner")},
                     {"int", int64_t{-7}},
                     {"ints", std::vector<int64_t>{1, 2}},
                     {"text", std::string("a\"")},
                     {"texts", std::vector<std::string>{"b"}}}));
  EXPECT_THAT(
      JsonOf(toy.graph()),
      HasSubstr(R"("attributes": {"bool": true, "constant": {"hash": ")" +
                MakeConstant("x", 1)->hash.ToString() +
                R"("}, "float": 0.5, "floats": [1, 0.25], "graph": )"
                R"({"graph": "inner", "inputs": [], "outputs": [], )"
                R"("states": [], "values": [], "nodes": []})"
                "\n"
                R"(, "int": -7, "ints": [1, 2], "text": "a\"", )"
                R"("texts": ["b"]})"));
}

TEST(GraphJson, CompositesHaveBodiesAndUnknownExtentsAreNull) {
  Graph graph = Wrapped();
  graph.value(0).desc.shape = Shape{2, kUnknownDim};
  const std::string json = JsonOf(graph);
  EXPECT_THAT(json, HasSubstr("\"shape\": [2, null]"));
  EXPECT_THAT(json, HasSubstr("\"operator\": \"toy.Pair\""));
  EXPECT_THAT(json, HasSubstr("\"body\": {\"graph\": \"body\""));
}

TEST(GraphJson, NamesAreAnything) {
  EXPECT_THAT(JsonOf(GraphWithNames("a\"b\\\n\xFF")),
              HasSubstr(R"({"name": "a\"b\\\n)"
                        "\xEF\xBF\xBD\", \"role\""));
}

}  // namespace
}  // namespace tim::ir
