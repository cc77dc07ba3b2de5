// A custom operator to copy and change: your name, your formula, your kernel.
#ifndef MY_OP_H_
#define MY_OP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/ops/custom_base.h"

/// y = x > 0 ? x : slope * x, for every element.
/// Input 0: FLOAT32, any shape.  Output 0: FLOAT32, the same shape.
class MyOp : public tim::vx::ops::CustomOpBase {
 public:
  MyOp(tim::vx::Graph* graph, float slope);

  // A new operator like this one, not bound to tensors.
  std::shared_ptr<tim::vx::Operation> Clone(
      std::shared_ptr<tim::vx::Graph>& graph) const override;

 protected:
  // Graph::Compile() calls these three, each once and in this order.
  void SetupShapeInfor() override;
  void SetupParams(std::vector<tim::vx::DataType> input_types,
                   std::string& build_option) override;
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override;

 private:
  float slope_;
};

#endif  // MY_OP_H_
