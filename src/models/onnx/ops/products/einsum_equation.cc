// The equation of an Einsum as labels of axes.
#include "models/onnx/ops/products/einsum_equation.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace tim::models::onnx {
namespace {

constexpr std::string_view kEllipsis = "...";

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// One term; `ellipsis` are the labels that "..." stands for.
Result<Labels> ParseTerm(std::string_view term, const Labels& ellipsis) {
  Labels labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (IsLetter(term[i])) {
      labels.push_back(term[i]);
    } else if (term.substr(i, 3) == kEllipsis && !seen) {
      labels.insert(labels.end(), ellipsis.begin(), ellipsis.end());
      seen = true;
      i += 2;
    } else {
      return InvalidArgument("attribute 'equation' has the term '",
                             std::string(term), "'");
    }
  }
  return labels;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> terms;
  for (;;) {
    const size_t comma = text.find(',');
    terms.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

// The labels of an ellipsis of `count` axes, which are aligned at the last.
Labels EllipsisOf(int64_t most, int64_t count) {
  Labels labels;
  for (int64_t i = most - count; i < most; ++i) {
    labels.push_back(static_cast<int>(i));
  }
  return labels;
}

// Letters that occur once, in their order, behind the ellipsis.
Labels ImpliedOutput(const std::vector<Labels>& operands, int64_t ellipsis) {
  std::map<int, int> counts;
  for (const Labels& labels : operands) {
    for (const int label : labels) ++counts[label];
  }
  Labels output = EllipsisOf(ellipsis, ellipsis);
  for (const auto& [label, count] : counts) {
    if (label >= 'A' && count == 1) output.push_back(label);
  }
  return output;
}

Status CheckOutput(const Equation& equation) {
  for (const int label : equation.output) {
    const auto& output = equation.output;
    const bool known = std::any_of(
        equation.operands.begin(), equation.operands.end(),
        [&](const Labels& labels) {
          return std::count(labels.begin(), labels.end(), label) > 0;
        });
    if (!known || std::count(output.begin(), output.end(), label) != 1) {
      return InvalidArgument(
          "attribute 'equation': an axis of the result is of no operand, or "
          "twice in the result");
    }
  }
  return OkStatus();
}

}  // namespace

Result<Equation> ParseEquation(const std::string& text,
                               const std::vector<Value>& operands) {
  std::string dense;
  for (const char c : text) {
    if (c != ' ') dense.push_back(c);
  }
  const size_t arrow = dense.find("->");
  const std::vector<std::string_view> terms =
      Split(std::string_view(dense).substr(0, arrow));
  if (terms.size() != operands.size()) {
    return InvalidArgument("attribute 'equation' has ", terms.size(),
                           " terms for ", operands.size(), " operands");
  }
  std::vector<int64_t> hidden;  // Axes of each operand's ellipsis.
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto letters = static_cast<int64_t>(
        std::count_if(terms[i].begin(), terms[i].end(), IsLetter));
    hidden.push_back(operands[i].rank() - letters);
    const bool has = terms[i].find(kEllipsis) != std::string_view::npos;
    if (hidden[i] < 0 || (!has && hidden[i] != 0)) {
      return InvalidArgument("attribute 'equation': the term '",
                             std::string(terms[i]), "' for ",
                             Describe(operands[i]));
    }
  }
  const int64_t most = *std::max_element(hidden.begin(), hidden.end());
  Equation equation;
  for (size_t i = 0; i < terms.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(Labels labels,
                         ParseTerm(terms[i], EllipsisOf(most, hidden[i])));
    equation.operands.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    equation.output = ImpliedOutput(equation.operands, most);
    return equation;
  }
  TIM_ASSIGN_OR_RETURN(equation.output,
                       ParseTerm(std::string_view(dense).substr(arrow + 2),
                                 EllipsisOf(most, most)));
  TIM_RETURN_IF_ERROR(CheckOutput(equation));
  return equation;
}

}  // namespace tim::models::onnx
