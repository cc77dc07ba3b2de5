// Extents and first elements of attention.
#ifndef TIM_OPS_ATTENTION_ATTENTION_SHAPE_H_
#define TIM_OPS_ATTENTION_ATTENTION_SHAPE_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"

namespace tim::ops {

/// Keys are [keys, size] instead of [size, keys].
inline constexpr char kKeysByDepth[] = "keys_by_depth";
/// The factor of the products of queries and keys.
inline constexpr char kScoreScale[] = "scale";

/// Operands of the node, in this order.
enum AttentionInput : int { kQueries, kKeys, kValues, kMask };

/// x(n, m) = scale * sum over k of queries(k, m) * keys(k, n) + mask(n, m),
/// out(c, m) = sum over n of softmax(x)(n, m) * values(c, n), for each head.
struct AttentionShape {
  int64_t queries = 1;         ///< m
  int64_t keys = 1;            ///< n
  int64_t depth = 1;           ///< k
  int64_t columns = 1;         ///< c
  int64_t key_step = 1;        ///< Elements between keys n and n + 1,
  int64_t key_depth_step = 1;  ///< and between k and k + 1.
  int64_t mask_query_step = 0;
  int64_t mask_key_step = 0;
  /// First elements of the operands.
  struct Head {
    int64_t queries = 0;
    int64_t keys = 0;
    int64_t values = 0;
    int64_t mask = 0;
  };
  std::vector<Head> heads;  ///< Those of the output, one after the other.
};

/// From static shapes that inference has accepted.
/// \param mask null: there is none.
AttentionShape AttentionShapeOf(const ir::AttributeMap& attributes,
                                const ir::Shape& queries, const ir::Shape& keys,
                                const ir::Shape& values, const ir::Shape* mask);
AttentionShape AttentionShapeOf(const ir::KernelNode& node);

/// Shape of the result.  Works with unknown ranks and extents.
Result<ir::Shape> InferAttentionShape(const ir::AttributeMap& attributes,
                                      const ir::Shape& queries,
                                      const ir::Shape& keys,
                                      const ir::Shape& values,
                                      const ir::Shape* mask);

ir::ComputeEstimate EstimateAttention(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_ATTENTION_ATTENTION_SHAPE_H_
