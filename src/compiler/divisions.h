// Divisions of a graph among devices, and the search for a good one.
#ifndef TIM_COMPILER_DIVISIONS_H_
#define TIM_COMPILER_DIVISIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule_model.h"

namespace tim::compiler {

struct Division {
  std::string name;  ///< "all on opencl:0", "list scheduling", ...
  DeviceMap map;
  Prediction predicted;
};

/// Compares divisions by what an objective makes of their predictions.  Equal
/// arguments give equal divisions.
class DivisionSearch {
 public:
  DivisionSearch(const Module& module, const ScheduleModel& model)
      : module_(module), model_(model) {}

  /// Nodes on `device`; what it does not run, where it costs least.
  void AddAllOn(int device);
  /// The same with nodes moved while that makes it better.
  void AddImproved(std::string name, DeviceMap map);
  void Add(std::string name, DeviceMap map);
  /// Consecutive nodes on device after device, so that the stage that takes
  /// longest takes least.  kInvalidArgument where there are fewer devices.
  Result<DeviceMap> Stages(int count) const;

  /// The best of all: small parts given away, but for those that gain enough,
  /// where that leaves it as good as the best on one device.
  Division Best();
  const std::vector<Division>& compared() const { return divisions_; }
  int64_t Bytes(const DeviceMap& map) const;

 private:
  double Score(const Prediction& predicted) const {
    return predicted.Of(module_.options.policy.objective);
  }
  double Score(const DeviceMap& map) const {
    return Score(model_.Predict(map));
  }
  bool Fits(const DeviceMap& map) const;
  int64_t Limit(int device) const;
  /// Moves the heaviest constants off devices that have no room for them.
  void MakeRoom(DeviceMap* map) const;
  /// Views are where what they view is.
  void PlaceViews(DeviceMap* map) const;
  void MoveBorders(DeviceMap* map) const;
  bool GiveAwayPart(DeviceMap* map) const;
  bool Permits(size_t node, int device) const {
    return model_.Cost(node, device) != ScheduleModel::kImpossible;
  }

  const Module& module_;
  const ScheduleModel& model_;
  std::vector<Division> divisions_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_DIVISIONS_H_
