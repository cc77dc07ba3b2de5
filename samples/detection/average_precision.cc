#include "average_precision.h"

#include <algorithm>

namespace detection {
namespace {

constexpr float kMinIou = 0.5f;

struct Hit {
  float score = 0.0f;
  bool right = false;
};

float Area(const Box& box) {
  return std::max(0.0f, box.xmax - box.xmin) *
         std::max(0.0f, box.ymax - box.ymin);
}

// Whether a detection finds one of the objects, which then is not free.
bool Finds(const Detection& detection, const std::vector<Object>& objects,
           std::vector<bool>* free) {
  std::size_t best = objects.size();
  float most = kMinIou;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!(*free)[i] || objects[i].class_id != detection.class_id) continue;
    const float iou = Iou(detection.box, objects[i].box);
    if (iou < most || (best < objects.size() && iou == most)) continue;
    most = iou;
    best = i;
  }
  if (best == objects.size()) return false;
  (*free)[best] = false;
  return true;
}

// Of one class in one picture; `detections` are by descending score.
void AddHits(int class_id, const std::vector<Object>& objects,
             const std::vector<Detection>& detections, std::vector<Hit>* hits) {
  std::vector<bool> free(objects.size(), true);
  for (const Detection& detection : detections) {
    if (detection.class_id != class_id) continue;
    hits->push_back({detection.score, Finds(detection, objects, &free)});
  }
}

double AreaUnderCurve(std::vector<Hit> hits, std::size_t object_count) {
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    return a.score > b.score;
  });
  std::vector<double> precision;
  std::size_t right = 0;
  for (const Hit& hit : hits) {
    right += hit.right ? 1 : 0;
    precision.push_back(static_cast<double>(right) /
                        static_cast<double>(precision.size() + 1));
  }
  // From the end: the best precision at this recall or a higher one.
  double best = 0.0, area = 0.0;
  for (std::size_t i = hits.size(); i-- > 0;) {
    best = std::max(best, precision[i]);
    if (hits[i].right) area += best / static_cast<double>(object_count);
  }
  return area;
}

}  // namespace

float Iou(const Box& a, const Box& b) {
  const float width = std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin);
  const float height = std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin);
  if (width <= 0.0f || height <= 0.0f) return 0.0f;
  const float common = width * height;
  return common / (Area(a) + Area(b) - common);
}

double MeanAveragePrecision(
    const std::vector<std::vector<Object>>& objects,
    const std::vector<std::vector<Detection>>& detections,
    std::size_t class_count) {
  double sum = 0.0;
  std::size_t occurring = 0;
  for (int class_id = 0; class_id < static_cast<int>(class_count); ++class_id) {
    std::vector<Hit> hits;
    std::size_t count = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      for (const Object& object : objects[i]) {
        count += object.class_id == class_id ? 1 : 0;
      }
      AddHits(class_id, objects[i], detections[i], &hits);
    }
    if (count == 0) continue;
    sum += AreaUnderCurve(hits, count);
    ++occurring;
  }
  return occurring == 0 ? 0.0 : sum / static_cast<double>(occurring);
}

}  // namespace detection
