// Detection in plain C++ and double, one box after the other: what tests
// compare the operators with, and benchmarks their time.
#ifndef TIM_BENCH_DETECTION_SCALAR_NMS_H_
#define TIM_BENCH_DETECTION_SCALAR_NMS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tim::bench {

struct ScalarBox {
  float ymin;
  float xmin;
  float ymax;
  float xmax;
};

inline bool IsValid(const ScalarBox& box) {
  return box.ymin <= box.ymax && box.xmin <= box.xmax;
}

inline double Iou(const ScalarBox& a, const ScalarBox& b) {
  const auto area = [](const ScalarBox& box) {
    return (double{box.ymax} - box.ymin) * (double{box.xmax} - box.xmin);
  };
  const double a_area = area(a);
  const double b_area = area(b);
  if (a_area <= 0 || b_area <= 0) return 0;
  const auto common = [](double low, double high) {
    return std::max(high - low, 0.0);
  };
  const double both =
      common(std::max(a.ymin, b.ymin), std::min(a.ymax, b.ymax)) *
      common(std::max(a.xmin, b.xmin), std::min(a.xmax, b.xmax));
  return both / (a_area + b_area - both);
}

/// Whether a box is suppressed; the IoU is rounded to float32 before.
struct IouAbove {
  float threshold;
  bool operator()(const std::vector<ScalarBox>& boxes, std::size_t candidate,
                  std::size_t kept) const {
    return static_cast<float>(Iou(boxes[candidate], boxes[kept])) > threshold;
  }
};

/// Greedy NMS of `candidates`, valid boxes, whose `score` is a function of
/// them: by descending score, of equal ones by ascending index.
template <typename Score, typename Suppresses>
std::vector<std::size_t> ScalarNms(std::vector<std::size_t> candidates,
                                   const std::vector<ScalarBox>& boxes,
                                   std::size_t limit, const Score& score,
                                   const Suppresses& suppresses) {
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
  std::vector<std::size_t> kept;
  for (const std::size_t i : candidates) {
    if (kept.size() == limit) break;
    const bool is_suppressed =
        std::any_of(kept.begin(), kept.end(),
                    [&](std::size_t k) { return suppresses(boxes, i, k); });
    if (!is_suppressed) kept.push_back(i);
  }
  return kept;
}

/// An image's part of what an SSD head gives, and how detections are found.
struct ScalarHead {
  std::size_t count = 0;  ///< of anchors
  std::size_t columns = 4;
  std::size_t score_columns = 0;
  std::size_t background = 0;  ///< columns of scores before the classes
  const float* encodings = nullptr;
  const float* scores = nullptr;
  const float* anchors = nullptr;
  float scales[4] = {10, 10, 5, 5};  ///< y, x, h, w
  float score_threshold = 0;
  std::size_t max_detections = 0;
  std::size_t best_classes = 1;
  std::size_t detections_per_class = 0;

  std::size_t Classes() const { return score_columns - background; }
  float Score(std::size_t anchor, std::size_t label) const {
    return scores[anchor * score_columns + background + label];
  }
};

inline std::vector<ScalarBox> Decode(const ScalarHead& head) {
  std::vector<ScalarBox> boxes;
  for (std::size_t n = 0; n < head.count; ++n) {
    const float* e = head.encodings + n * head.columns;
    const float* a = head.anchors + n * 4;
    const auto centre = [&](int i) {
      return static_cast<float>(double{e[i]} / head.scales[i] * a[i + 2] +
                                a[i]);
    };
    const auto half = [&](int i) {
      return static_cast<float>(0.5 * std::exp(double{e[i]} / head.scales[i]) *
                                a[i]);
    };
    boxes.push_back({centre(0) - half(2), centre(1) - half(3),
                     centre(0) + half(2), centre(1) + half(3)});
  }
  return boxes;
}

struct ScalarDetection {
  std::size_t row;
  std::size_t anchor;
  std::size_t label;
};

/// NMS once, by each anchor's highest score.
template <typename Suppresses>
std::vector<ScalarDetection> DetectFast(const ScalarHead& head,
                                        const std::vector<ScalarBox>& boxes,
                                        const Suppresses& suppresses,
                                        std::size_t* anchors) {
  std::vector<float> best(head.count);
  std::vector<std::size_t> candidates;
  for (std::size_t n = 0; n < head.count; ++n) {
    best[n] = -INFINITY;
    for (std::size_t label = 0; label < head.Classes(); ++label) {
      best[n] = std::fmax(best[n], head.Score(n, label));
    }
    bool is_nan = true;
    for (std::size_t label = 0; label < head.Classes(); ++label) {
      is_nan = is_nan && std::isnan(head.Score(n, label));
    }
    if (!is_nan && best[n] >= head.score_threshold && IsValid(boxes[n])) {
      candidates.push_back(n);
    }
  }
  const std::vector<std::size_t> kept = ScalarNms(
      candidates, boxes, head.max_detections,
      [&](std::size_t n) { return best[n]; }, suppresses);
  std::vector<ScalarDetection> detections;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::vector<std::size_t> labels;
    for (std::size_t label = 0; label < head.Classes(); ++label) {
      if (!std::isnan(head.Score(kept[i], label))) labels.push_back(label);
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [&](std::size_t a, std::size_t b) {
                       return head.Score(kept[i], a) > head.Score(kept[i], b);
                     });
    labels.resize(std::min(labels.size(), head.best_classes));
    std::size_t row = i * head.best_classes;
    for (const std::size_t label : labels) {
      detections.push_back({row++, kept[i], label});
    }
  }
  *anchors = kept.size();
  return detections;
}

/// NMS once per class, and the highest scores of all.
template <typename Suppresses>
std::vector<ScalarDetection> DetectRegular(const ScalarHead& head,
                                           const std::vector<ScalarBox>& boxes,
                                           const Suppresses& suppresses) {
  std::vector<ScalarDetection> found;
  for (std::size_t label = 0; label < head.Classes(); ++label) {
    std::vector<std::size_t> candidates;
    for (std::size_t n = 0; n < head.count; ++n) {
      if (head.Score(n, label) >= head.score_threshold && IsValid(boxes[n])) {
        candidates.push_back(n);
      }
    }
    for (const std::size_t n : ScalarNms(
             candidates, boxes, head.detections_per_class,
             [&](std::size_t i) { return head.Score(i, label); }, suppresses)) {
      found.push_back({0, n, label});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](const ScalarDetection& a, const ScalarDetection& b) {
                     return head.Score(a.anchor, a.label) >
                            head.Score(b.anchor, b.label);
                   });
  found.resize(std::min(found.size(), head.max_detections));
  for (std::size_t row = 0; row < found.size(); ++row) found[row].row = row;
  return found;
}

}  // namespace tim::bench

#endif  // TIM_BENCH_DETECTION_SCALAR_NMS_H_
