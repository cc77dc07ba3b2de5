#include "picture_set.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "letter_box.h"
#include "picture.h"
#include "shapes.h"

namespace detection {
namespace {

std::string FileName(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') +
         digits + ".png";
}

Picture OnSquare(const Picture& picture, int extent) {
  const LetterBox letter_box =
      MakeLetterBox(picture.image.width, picture.image.height, extent);
  Picture square;
  square.image = Apply(letter_box, picture.image);
  for (const Object& object : picture.objects) {
    square.objects.push_back(
        {object.class_id, ToSquare(letter_box, object.box)});
  }
  return square;
}

nlohmann::json ToJson(const std::vector<Object>& objects) {
  nlohmann::json list = nlohmann::json::array();
  for (const Object& object : objects) {
    const Box& box = object.box;
    list.push_back(
        {{"class", ShapeNames()[static_cast<std::size_t>(object.class_id)]},
         {"box", {box.xmin, box.ymin, box.xmax, box.ymax}}});
  }
  return list;
}

bool Write(const std::string& path, const std::string& content,
           std::string* error) {
  std::ofstream stream(path, std::ios::binary);
  stream << content;
  stream.close();
  if (stream && !content.empty()) return true;
  *error = path + ": cannot be written: " + std::strerror(errno);
  return false;
}

}  // namespace

bool WritePictures(const PictureSet& set, const std::string& folder,
                   std::string* error) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    *error = folder + ": cannot be made: " + std::strerror(errno);
    return false;
  }
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < set.count; ++i) {
    Picture picture = DrawPicture(set.seed, i);
    if (set.square > 0) picture = OnSquare(picture, set.square);
    const std::string path = folder + "/" + FileName(i);
    if (!Write(path, EncodePng(picture.image), error)) return false;
    list.push_back(
        {{"image", FileName(i)}, {"objects", ToJson(picture.objects)}});
  }
  return Write(folder + "/boxes.json", list.dump(1) + "\n", error);
}

}  // namespace detection
