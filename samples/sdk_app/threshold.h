// A custom operator of this application.
#ifndef SDK_APP_THRESHOLD_H_
#define SDK_APP_THRESHOLD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace sdk_app {

/// out[i] = in[i] > limit ? in[i] : below * in[i].
/// Input 0: FLOAT32, any shape.  Output 0: the same shape.
class Threshold : public tim::vx::ops::CustomOpBase {
 public:
  Threshold(tim::vx::Graph* graph, float limit, float below = 0);

  std::shared_ptr<tim::vx::Operation> Clone(
      std::shared_ptr<tim::vx::Graph>& graph) const override;

 protected:
  void SetupShapeInfor() override;
  void SetupParams(std::vector<tim::vx::DataType> input_types,
                   std::string& build_option) override;
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& global_size,
                    std::vector<size_t>& local_size) override;

 private:
  std::tuple<float, float, int32_t> scalars_;
};

}  // namespace sdk_app

#endif  // SDK_APP_THRESHOLD_H_
