// Einsum: diagonals, sums, and products of pairs of operands as one product of
// matrices in a batch.
#include "models/onnx/ops/products/einsum.h"

#include <algorithm>
#include <utility>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/products/einsum_equation.h"
#include "models/onnx/ops/products/product.h"
#include "tim/vx/ops/reduce.h"

namespace tim::models::onnx {
namespace {

// A value whose axes have labels, each once after Diagonals().
struct Term {
  Value value;
  Labels labels;
};

bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int64_t ExtentOf(const Term& term, int label) {
  const auto at = std::find(term.labels.begin(), term.labels.end(), label);
  return term.value.dims[at - term.labels.begin()];
}

// The axes in the order of `labels`, which are all of the term's.
Result<Term> Ordered(GraphBuilder* builder, Term term, const Labels& labels) {
  std::vector<int> permutation;
  bool moved = false;
  for (const int label : labels) {
    const auto at = std::find(term.labels.begin(), term.labels.end(), label);
    permutation.push_back(static_cast<int>(at - term.labels.begin()));
    moved =
        moved || permutation.back() + 1 != static_cast<int>(permutation.size());
  }
  if (moved) {
    TIM_ASSIGN_OR_RETURN(term.value,
                         builder->Transpose(term.value, permutation));
  }
  term.labels = labels;
  return term;
}

// Axes of one label become one, their diagonal.
Result<Term> Diagonals(GraphBuilder* builder, Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const int label = term.labels[i];
    const auto second =
        std::find(term.labels.begin() + i + 1, term.labels.end(), label);
    if (second == term.labels.end()) continue;
    const int other = static_cast<int>(second - term.labels.begin());
    const int64_t extent = term.value.dims[i];
    if (extent != term.value.dims[other]) {
      return InvalidArgument("a diagonal of ", Describe(term.value));
    }
    std::vector<int> permutation;
    Labels labels;
    Dims dims;
    for (int axis = 0; axis < term.value.rank(); ++axis) {
      if (axis == static_cast<int>(i) || axis == other) continue;
      permutation.push_back(axis);
      labels.push_back(term.labels[axis]);
      dims.push_back(term.value.dims[axis]);
    }
    permutation.insert(permutation.end(), {static_cast<int>(i), other});
    labels.push_back(label);
    TIM_RETURN_IF_ERROR(Product({extent, extent}, 0, 2).status());
    Dims flat = dims;
    flat.push_back(extent * extent);
    TIM_ASSIGN_OR_RETURN(Value value,
                         builder->Transpose(term.value, permutation));
    TIM_ASSIGN_OR_RETURN(value, builder->Reshape(value, flat));
    Dims steps(flat.size(), 1);
    steps.back() = extent + 1;
    dims.push_back(extent);
    TIM_ASSIGN_OR_RETURN(
        value, Sliced(builder, value, Dims(flat.size(), 0), dims, steps));
    return Diagonals(builder, {std::move(value), std::move(labels)});
  }
  return term;
}

// Sums over the axes of labels that nobody keeps.
Result<Term> Summed(GraphBuilder* builder, Term term, const Labels& kept) {
  std::vector<int32_t> axes;
  Term left;
  Dims dims;
  const int rank = term.value.rank();
  for (int axis = 0; axis < rank; ++axis) {
    if (!Has(kept, term.labels[axis])) {
      axes.push_back(GraphAxis(axis, rank));
      continue;
    }
    left.labels.push_back(term.labels[axis]);
    dims.push_back(term.value.dims[axis]);
  }
  if (axes.empty()) return term;
  TIM_ASSIGN_OR_RETURN(
      left.value,
      builder->Add<vx::ops::ReduceSum>(
          {term.value}, Wanted::Of(term.value.type, dims), axes, false));
  return left;
}

// An axis of one element, which the other operand has with more, is dropped: it
// is stretched, that is, the other's alone.
Result<Term> WithoutStretched(GraphBuilder* builder, const Term& term,
                              const Term& other) {
  Term left;
  Dims dims;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const int label = term.labels[i];
    const int64_t extent = term.value.dims[i];
    const int64_t theirs =
        Has(other.labels, label) ? ExtentOf(other, label) : extent;
    if (extent == 1 && theirs != 1) continue;
    if (theirs != extent && theirs != 1) {
      return InvalidArgument("extents ", extent, " and ", theirs,
                             " of one axis of the equation");
    }
    left.labels.push_back(label);
    dims.push_back(extent);
  }
  TIM_ASSIGN_OR_RETURN(left.value, builder->Reshape(term.value, dims));
  return left;
}

Labels Joined(const Labels& a, const Labels& b) {
  Labels labels = a;
  labels.insert(labels.end(), b.begin(), b.end());
  return labels;
}

Result<int64_t> Extents(const Term& term, const Labels& labels, Dims* all) {
  Dims dims;
  for (const int label : labels) dims.push_back(ExtentOf(term, label));
  if (all != nullptr) all->insert(all->end(), dims.begin(), dims.end());
  return Product(dims, 0, dims.size());
}

// The product of two terms, summed over what nobody keeps.
Result<Term> Contracted(GraphBuilder* builder, const Term& first,
                        const Term& second, const Labels& kept) {
  TIM_ASSIGN_OR_RETURN(Term a, WithoutStretched(builder, first, second));
  TIM_ASSIGN_OR_RETURN(Term b, WithoutStretched(builder, second, first));
  TIM_ASSIGN_OR_RETURN(a, Summed(builder, a, Joined(kept, b.labels)));
  TIM_ASSIGN_OR_RETURN(b, Summed(builder, b, Joined(kept, a.labels)));
  Labels batch, rows, terms, columns;
  for (const int label : a.labels) {
    if (!Has(b.labels, label)) {
      rows.push_back(label);
    } else {
      (Has(kept, label) ? batch : terms).push_back(label);
    }
  }
  for (const int label : b.labels) {
    if (!Has(a.labels, label)) columns.push_back(label);
  }
  TIM_ASSIGN_OR_RETURN(a,
                       Ordered(builder, a, Joined(Joined(batch, rows), terms)));
  TIM_ASSIGN_OR_RETURN(
      b, Ordered(builder, b, Joined(Joined(batch, terms), columns)));
  Dims dims;
  TIM_ASSIGN_OR_RETURN(const int64_t count, Extents(a, batch, &dims));
  TIM_ASSIGN_OR_RETURN(const int64_t height, Extents(a, rows, &dims));
  TIM_ASSIGN_OR_RETURN(const int64_t depth, Extents(a, terms, nullptr));
  TIM_ASSIGN_OR_RETURN(const int64_t width, Extents(b, columns, &dims));
  const auto matrix = [&](const Value& value, int64_t high, int64_t wide) {
    return builder->Reshape(
        value, batch.empty() ? Dims{high, wide} : Dims{count, high, wide});
  };
  TIM_ASSIGN_OR_RETURN(const Value left, matrix(a.value, height, depth));
  TIM_ASSIGN_OR_RETURN(const Value right, matrix(b.value, depth, width));
  Term made;
  TIM_ASSIGN_OR_RETURN(made.value, Multiplied(builder, left, right, {},
                                              Wanted::Of(a.value.type)));
  TIM_ASSIGN_OR_RETURN(made.value, builder->Reshape(made.value, dims));
  made.labels = Joined(Joined(batch, rows), columns);
  return made;
}

}  // namespace

Result<Value> Einsum(GraphBuilder* builder, const std::string& equation,
                     const std::vector<Value>& operands) {
  if (operands.empty()) return InvalidArgument("there are no operands");
  TIM_ASSIGN_OR_RETURN(const Equation parsed,
                       ParseEquation(equation, operands));
  Term made;
  for (size_t i = 0; i < operands.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(Term term,
                         Diagonals(builder, {operands[i], parsed.operands[i]}));
    if (i == 0) {
      made = std::move(term);
      continue;
    }
    Labels kept = parsed.output;
    for (size_t later = i + 1; later < operands.size(); ++later) {
      kept = Joined(kept, parsed.operands[later]);
    }
    TIM_ASSIGN_OR_RETURN(made, Contracted(builder, made, term, kept));
  }
  TIM_ASSIGN_OR_RETURN(made, Summed(builder, made, parsed.output));
  TIM_ASSIGN_OR_RETURN(made, Ordered(builder, made, parsed.output));
  return made.value;
}

}  // namespace tim::models::onnx
