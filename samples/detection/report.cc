#include "report.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>

namespace detection {
namespace {

const std::string& NameOf(const Detection& detection,
                          const std::vector<std::string>& classes) {
  return classes[static_cast<std::size_t>(detection.class_id)];
}

}  // namespace

std::string ToJson(const Report& report,
                   const std::vector<std::string>& classes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Detection& found : report.detections) {
    list.push_back({{"class", NameOf(found, classes)},
                    {"class_id", found.class_id},
                    {"score", found.score},
                    {"box",
                     {{"xmin", found.box.xmin},
                      {"ymin", found.box.ymin},
                      {"xmax", found.box.xmax},
                      {"ymax", found.box.ymax}}}});
  }
  const nlohmann::ordered_json all = {
      {"image", report.image_path},
      {"width", report.width},
      {"height", report.height},
      {"network", report.network},
      {"score_threshold", report.selection.score_threshold},
      {"iou_threshold", report.selection.iou_threshold},
      {"detections", list}};
  // Paths may hold any bytes; JSON is UTF-8.
  return all.dump(2, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

void Print(const Report& report, const std::vector<std::string>& classes,
           std::ostream& out) {
  out << report.image_path << ": " << report.width << " x " << report.height
      << " pixels, " << report.detections.size() << " detections\n"
      << std::fixed;
  for (const Detection& found : report.detections) {
    out << "  " << std::left << std::setw(10) << NameOf(found, classes)
        << std::right << std::setprecision(3) << found.score
        << std::setprecision(1) << "  x " << found.box.xmin << " .. "
        << found.box.xmax << ", y " << found.box.ymin << " .. "
        << found.box.ymax << "\n";
  }
}

void PrintConventions(const Model& model, const LetterBox& letter_box,
                      std::ostream& out) {
  out << "conventions of the boxes, from the network to the picture:\n"
      << "  order       y before x: anchors and encodings (y, x, h, w), "
         "detections (ymin, xmin, ymax, xmax)\n"
      << "  corners     anchors have a centre and a size, detections two "
         "corners\n"
      << "  unit        1 = the side of the network's input, " << model.extent
      << " pixels; the files have pixels of the picture\n"
      << "  letter-box  picture scaled to " << letter_box.width << " x "
      << letter_box.height << ", " << letter_box.left
      << " pixels from the left and " << letter_box.top << " from the top\n"
      << "  background  no class of its own: " << model.classes.size()
      << " scores an anchor, sigmoid applied, class 0 is '"
      << model.classes.front() << "'\n";
}

}  // namespace detection
