// docs/graph_operations.md is what the records of operations say; written anew
// by
//   bazel run -c opt //tests/graph_api:operation_page_test
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "base/str_cat.h"
#include "graph_api/op_def.h"
#include "tests/structure/source_tree.h"

namespace tim::graph {
namespace {

constexpr char kPage[] = "docs/graph_operations.md";

constexpr char kHead[] =
    R"(# Operations of tim::graph

Every kind of operation, made from the records in `src/graph_api/ops`, which
`add_op` checks operations against:

    bazel run -c opt //tests/graph_api:operation_page_test

- **Inputs**, **outputs** in the order of their numbers, with the name of their
  type; `?` may be absent, with those behind it.  Numbers in brackets: how many
  are legal, where that does not say it.
- **Types** that a name may stand for; the first operand of a name fixes it for
  the others of the operation.  A name that is not explained is any type.
- **Attributes**: `!` is required, `=` has a default, `?` may be absent; in
  braces the legal texts.  There are no others.
- **Supported**: "not all": some attributes, types or dims are refused, and
  `partition::is_supported()` says no.  "no": legal in a graph, but a partition
  by itself that cannot be compiled.
- **In place**: output 0 may be written over input 0 of equal type and bytes.

| kind | inputs | outputs | types | attributes | supported | in place |
|---|---|---|---|---|---|---|
)";

std::string Joined(const std::vector<std::string>& parts,
                   const char* between = ", ") {
  std::string all;
  for (const std::string& part : parts) {
    all += StrCat(all.empty() ? "" : between, part);
  }
  return all;
}

// How many operands are legal, where marks do not say it.
std::string CountOf(const OpDef& def, const std::vector<OperandDef>& operands,
                    size_t most, const std::vector<size_t>& counts) {
  if (!counts.empty()) return StrCat(" (", StrJoin(counts, " or "), ")");
  if (most == std::numeric_limits<size_t>::max()) return " (any number)";
  if (most <= operands.size()) return "";
  const auto required = std::count_if(
      operands.begin(), operands.end(),
      [](const OperandDef& operand) { return !operand.optional; });
  EXPECT_GE(required, 0) << def.name;
  return StrCat(" (", required, " to ", most, ")");
}

std::string TextOf(const OpDef& def, const std::vector<OperandDef>& operands,
                   size_t most, const std::vector<size_t>& counts) {
  std::vector<std::string> parts;
  for (const OperandDef& operand : operands) {
    parts.push_back(StrCat("`", operand.name, "`",
                           operand.optional ? "? " : " ", operand.type));
  }
  return StrCat(parts.empty() ? "none" : Joined(parts),
                CountOf(def, operands, most, counts));
}

std::string TypesOf(const OpDef& def) {
  std::vector<std::string> variables;
  for (const TypeVariable& variable : def.types) {
    std::string text = StrCat(variable.name, ":");
    for (const tim_graph_data_type_t type : variable.types) {
      text += StrCat(" ", tim_graph_dt2str(type));
    }
    variables.push_back(std::move(text));
  }
  return Joined(variables, "; ");
}

// As short as it can be read back.
std::string TextOf(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

template <typename T>
std::string ListOf(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, float>) {
      texts.push_back(TextOf(value));
    } else {
      texts.push_back(StrCat(value));
    }
  }
  return StrCat("{", Joined(texts), "}");
}

std::string TextOf(const AttributeValue& value) {
  struct Visitor {
    std::string operator()(int64_t number) const { return StrCat(number); }
    std::string operator()(float number) const { return TextOf(number); }
    std::string operator()(bool truth) const {
      return truth ? "true" : "false";
    }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Dims& list) const { return ListOf(list); }
    std::string operator()(const Floats& list) const { return ListOf(list); }
  };
  return std::visit(Visitor(), value);
}

std::string AttributesOf(const OpDef& def) {
  std::vector<std::string> parts;
  for (const AttributeDef& attribute : def.attributes) {
    std::string text = StrCat("`", NameOf(attribute.attribute), "`");
    if (attribute.default_value) {
      text += StrCat(" = ", TextOf(*attribute.default_value));
    } else {
      text += attribute.optional ? "?" : "!";
    }
    if (!attribute.choices.empty())
      text += StrCat(" ", ListOf(attribute.choices));
    parts.push_back(std::move(text));
  }
  return Joined(parts);
}

const char* SupportOf(const OpDef& def) {
  if (def.lower == nullptr) return "no";
  return def.supports != nullptr ? "not all" : "yes";
}

std::string Page() {
  std::vector<const OpDef*> all = BuiltinOps().All();
  std::sort(all.begin(), all.end(),
            [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
  std::string page = kHead;
  for (const OpDef* def : all) {
    page += StrCat(
        "| `", def->name, "` | ",
        TextOf(*def, def->inputs, def->most_inputs, def->input_counts), " | ",
        TextOf(*def, def->outputs, def->most_outputs, def->output_counts),
        " | ", TypesOf(*def), " | ", AttributesOf(*def), " | ", SupportOf(*def),
        " | ", def->in_place ? "yes" : "", " |\n");
  }
  return page;
}

TEST(OperationPage, IsWhatIsThere) {
  const std::string page = Page();
  // Set by `bazel run`.
  if (const char* tree = std::getenv("BUILD_WORKSPACE_DIRECTORY")) {
    structure::WriteText(StrCat(tree, "/", kPage), page);
    return;
  }
  const std::string found = structure::ReadText(kPage);
  std::istringstream expected_lines(page);
  std::istringstream found_lines(found);
  for (std::string line, other; std::getline(expected_lines, line);) {
    std::getline(found_lines, other);
    ASSERT_EQ(other, line) << "write the page anew, see " << __FILE__;
  }
  EXPECT_EQ(found.size(), page.size());
}

TEST(OperationPage, HasEveryKind) {
  const std::vector<const OpDef*> all = BuiltinOps().All();
  ASSERT_EQ(all.size(), static_cast<size_t>(tim_graph_op_last_symbol));
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all[i]->kind), i) << all[i]->name;
    EXPECT_EQ(BuiltinOps().Find(all[i]->name), all[i]);
  }
}

}  // namespace
}  // namespace tim::graph
