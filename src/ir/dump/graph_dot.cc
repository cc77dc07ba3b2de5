// Writes nodes and operands in the DOT language.
#include "ir/dump/graph_dot.h"

#include <string_view>

#include "base/utf8.h"
#include "ir/op_schema.h"

namespace tim::ir {
namespace {

// In quotes; backslashes would be escapes of labels, line breaks are kept.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : ValidUtf8(text)) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    const bool control = static_cast<unsigned char>(c) < ' ' || c == '\x7F';
    out += control ? ' ' : c;
  }
  return out + "\"";
}

std::string OperatorOf(const Node& node) {
  if (node.composite != nullptr) return node.composite->name;
  return node.schema != nullptr ? node.schema->Key() : "?";
}

// "tim.Conv2d@1 + tim.Relu@1": what a composite consists of, a level deep.
std::string PartsOf(const Graph& body) {
  std::string text;
  for (const NodeId id : body.NodeIds()) {
    if (!text.empty()) text += " + ";
    text += OperatorOf(body.node(id));
  }
  return text;
}

std::string LabelOf(const Node& node) {
  std::string label = StrCat(node.name, "\n", OperatorOf(node));
  if (node.composite != nullptr) {
    const std::string parts = PartsOf(node.composite->body);
    if (!parts.empty()) label += StrCat("\n= ", parts);
  }
  if (!node.attributes.entries().empty()) {
    label += "\n" + (node.schema != nullptr
                         ? AttributesText(*node.schema, node.attributes)
                         : node.attributes.ToString());
  }
  return label;
}

std::string DescLabel(const Value& value) {
  return StrCat(value.name, "\n", value.desc.ToString());
}

class DotWriter {
 public:
  explicit DotWriter(const Graph& graph) : graph_(graph) {}

  std::string Run() {
    text_ = StrCat("digraph ", Quoted(graph_.name()),
                   " {\n"
                   "  node [shape=box, fontname=\"sans-serif\"];\n"
                   "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (const NodeId id : graph_.NodeIds()) {
      text_ += StrCat("  n", id, " [label=", Quoted(LabelOf(graph_.node(id))),
                      "];\n");
    }
    for (const ValueId id : graph_.ValueIds()) AddSource(id);
    for (const NodeId id : graph_.NodeIds()) AddOperands(graph_.node(id));
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      AddEnd(StrCat("out", i), graph_.outputs()[i], "output");
    }
    for (size_t i = 0; i < graph_.state_updates().size(); ++i) {
      const auto& update = graph_.state_updates()[i];
      AddEnd(StrCat("next", i), update.value,
             StrCat("next ", graph_.value(update.state).name));
    }
    return text_ + "}\n";
  }

 private:
  // Values that no node makes.
  void AddSource(ValueId id) {
    const Value& value = graph_.value(id);
    if (value.role == Role::kTransient) return;
    const char* const style = value.role == Role::kInput   ? "lightblue"
                              : value.role == Role::kState ? "lightyellow"
                                                           : "lightgrey";
    text_ +=
        StrCat("  v", id, " [shape=ellipse, style=filled, fillcolor=", style,
               ", label=", Quoted(DescLabel(value)), "];\n");
  }

  std::string StartOf(const Value& value) const {
    return value.producer != kNone ? StrCat("n", value.producer)
                                   : StrCat("v", value.id);
  }

  void AddOperands(const Node& node) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNone) continue;
      AddEdge(node.inputs[i], StrCat("n", node.id));
    }
  }

  void AddEdge(ValueId id, const std::string& end) {
    const Value& value = graph_.value(id);
    text_ += StrCat("  ", StartOf(value), " -> ", end);
    if (value.producer != kNone) {
      text_ += StrCat(" [label=", Quoted(DescLabel(value)), "]");
    }
    text_ += ";\n";
  }

  void AddEnd(const std::string& name, ValueId id, const std::string& label) {
    text_ += StrCat("  ", name,
                    " [shape=ellipse, style=filled, fillcolor=lightgreen, "
                    "label=",
                    Quoted(label), "];\n");
    AddEdge(id, name);
  }

  const Graph& graph_;
  std::string text_;
};

}  // namespace

std::string DotOf(const Graph& graph) { return DotWriter(graph).Run(); }

}  // namespace tim::ir
