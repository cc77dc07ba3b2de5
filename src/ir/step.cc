// Texts and comparison of actions.
#include "ir/step.h"

#include <algorithm>
#include <bit>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/str_cat.h"
#include "ir/graph.h"
#include "ir/plan.h"

namespace tim::ir {
namespace {

struct ArgPrinter {
  std::string operator()(const TensorArg& arg) const {
    return StrCat("@", arg.operand);
  }
  std::string operator()(const LocalArg& arg) const {
    return StrCat("local:", arg.bytes);
  }
  std::string operator()(const UserTensorArg& arg) const {
    if (arg.operand == kAbsentOperand) return StrCat(arg.name, " absent");
    const bool added =
        arg.name.starts_with("scratch") || arg.name.starts_with("table");
    return StrCat("*", arg.operand, added ? " " + arg.name : "",
                  arg.kept ? " kept" : "", arg.zeroed ? " zeroed" : "",
                  arg.written ? " out " : " ", ToString(arg.type), " [",
                  StrJoin(arg.dims, ", "), "]");
  }
  std::string operator()(const UserScalarArg& arg) const {
    const auto text = [](auto value) { return StrCat(value); };
    std::string values = std::visit(text, arg.value);
    for (const UserScalarArg::Value& value : arg.more) {
      values += StrCat(", ", std::visit(text, value));
    }
    if (arg.more.empty()) return StrCat(arg.type, " ", values);
    return StrCat(arg.type, " (", values, ")");
  }
  std::string operator()(const StructArg& arg) const {
    std::string fields;
    for (const StructArg::Field& field : arg.fields) {
      fields += StrCat(fields.empty() ? "" : ", ", field.name, " ",
                       std::visit(*this, field.value));
    }
    return StrCat(arg.type, " {", fields, "}");
  }
  template <typename T>
  std::string operator()(T value) const {
    return StrCat(value);
  }
};

std::string Sizes(const std::array<int64_t, 3>& sizes, int dimensions) {
  std::string out;
  for (int i = 0; i < std::min(dimensions, 3); ++i) {
    out += StrCat(i > 0 ? "x" : "", sizes[i]);
  }
  return out;
}

std::string TextHash(const std::string& text) {
  return HashText(text).ToString();
}

// A text by its name and its hash.
std::string NameOf(const std::string& text, const std::string& name) {
  return StrCat(name.empty() ? "text" : name, "@", TextHash(text));
}

// "f [<options>] (<arguments>) global 4x2 local 2x0"
template <typename Launch>
std::string CallText(const Launch& launch, const std::string& options) {
  std::string args;
  for (const auto& arg : launch.arguments) {
    args += StrCat(args.empty() ? "" : ", ", std::visit(ArgPrinter(), arg));
  }
  const NdRange& range = launch.range;
  return StrCat(launch.function, " [", options, "] (", args, ") global ",
                Sizes(range.global, range.dimensions), " local ",
                Sizes(range.local, range.dimensions));
}

struct ActionPrinter {
  std::string operator()(const KernelLaunch& launch) const {
    const std::string source = launch.text.empty()
                                   ? launch.source
                                   : NameOf(launch.text, launch.source);
    return StrCat("kernel ", source, ":", CallText(launch, launch.options));
  }
  std::string operator()(const UserLaunch& launch) const {
    std::string options;
    for (const std::string& define : launch.defines) {
      options += StrCat("#define ", define, "; ");
    }
    options += launch.options;
    return StrCat("kernel ", NameOf(launch.text, launch.name), ":",
                  CallText(launch, options));
  }
  std::string operator()(const HostCall& call) const {
    return StrCat("eval ", call.op, " ", call.attributes.ToString());
  }
  std::string operator()(const Copy& copy) const {
    return StrCat("copy ", copy.bytes, " bytes");
  }
  std::string operator()(const Gemm& gemm) const {
    return StrCat("gemm ", gemm.m, "x", gemm.n, "x", gemm.k,
                  gemm.transpose_a ? " ta" : "", gemm.transpose_b ? " tb" : "",
                  gemm.batches > 1 ? StrCat(" batches ", gemm.batches) : "");
  }
  std::string operator()(const DeviceCall& call) const {
    return StrCat("call ", call.name, " with ", call.payload.size(), " bytes @",
                  TextHash(call.payload));
  }
  std::string operator()(const ControlCall& call) const {
    std::string text = ToString(call.kind);
    if (call.max_trips >= 0) text += StrCat(" max_trips ", call.max_trips);
    if (call.scans > 0) text += StrCat(" scans ", call.scans);
    for (const auto& plan : call.plans) {
      const size_t steps = plan != nullptr ? plan->steps.size() : 0;
      text += StrCat(" [", plan != nullptr ? plan->graph : "none", ": ", steps,
                     " steps]");
    }
    return text;
  }
  std::string operator()(const GraphCall& call) const {
    std::string options;
    for (const auto& [key, value] : call.options) {
      options += StrCat(options.empty() ? "" : ", ", key, "=", value);
    }
    const size_t nodes = call.part != nullptr ? call.part->NodeIds().size() : 0;
    return StrCat("graph ", call.name, " of ", nodes, " operators [", options,
                  "]");
  }
};

// Content of a graph: its dump, and the hashes of its constants and the graphs
// among attributes, which a dump does not show.
void AddContent(const Graph& graph, std::string* content) {
  *content += graph.Dump();
  for (const ValueId id : graph.ValueIds()) {
    const auto& constant = graph.value(id).constant;
    if (constant != nullptr) *content += constant->hash.ToString() + "\n";
  }
  for (const NodeId id : graph.NodeIds()) {
    for (const Graph* nested : NestedGraphs(graph.node(id))) {
      AddContent(*nested, content);
    }
  }
}

bool SameBody(const std::shared_ptr<const Graph>& a,
              const std::shared_ptr<const Graph>& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return ContentOf(*a) == ContentOf(*b);
}

bool SamePlan(const std::shared_ptr<const Plan>& a,
              const std::shared_ptr<const Plan>& b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && Dump(*a) == Dump(*b);
}

}  // namespace

std::vector<int32_t> WordsOf(const StructArg& argument) {
  std::vector<int32_t> words;
  for (const StructArg::Field& field : argument.fields) {
    const auto bits = [](auto value) { return std::bit_cast<int32_t>(value); };
    words.push_back(std::visit(bits, field.value));
  }
  return words;
}

std::string ContentOf(const Graph& graph) {
  std::string content;
  AddContent(graph, &content);
  return content;
}

bool ControlCall::operator==(const ControlCall& other) const {
  return kind == other.kind && max_trips == other.max_trips &&
         scans == other.scans &&
         std::equal(plans.begin(), plans.end(), other.plans.begin(),
                    other.plans.end(), SamePlan);
}

bool GraphCall::operator==(const GraphCall& other) const {
  return name == other.name && options == other.options &&
         SameBody(part, other.part);
}

bool HostCall::operator==(const HostCall& other) const {
  return op == other.op && name == other.name &&
         attributes == other.attributes && inputs == other.inputs &&
         outputs == other.outputs && SameBody(body, other.body);
}

const std::string* TextOf(const Action& action) {
  if (const auto* users = std::get_if<UserLaunch>(&action)) return &users->text;
  const auto* launch = std::get_if<KernelLaunch>(&action);
  return launch == nullptr || launch->text.empty() ? nullptr : &launch->text;
}

std::string ToString(const Action& action) {
  return std::visit(ActionPrinter(), action);
}

std::string ProgramText(const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = StrCat("program ", TextHash(text), "\n  | ");
  for (const char c : text) {
    if (c == '\n') {
      out += "\n  | ";
    } else if (c == '\t' || !IsAsciiControl(c)) {
      out += c;
    } else {
      out += StrCat("\\x", kDigits[(c >> 4) & 15], kDigits[c & 15]);
    }
  }
  return out + "\n";
}

}  // namespace tim::ir
