// Finds simple shapes in pictures with a small SSD, in float32 or in uint8.
//
//   detection IMAGE       an annotated PNG and a JSON file of boxes
//   detection --evaluate  mAP@0.5 of both networks over held-out pictures
//   detection --draw F    such pictures, as files
//
// Exits with 0 only where that was done and, of --evaluate, where both networks
// are as good as they were trained to be.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "annotate.h"
#include "average_precision.h"
#include "detector.h"
#include "letter_box.h"
#include "model_file.h"
#include "output_files.h"
#include "picture.h"
#include "picture_set.h"
#include "report.h"
#include "shapes.h"
#include "tim/vx/context.h"
#include "tim/vx/error.h"

namespace detection {
namespace {

// No picture of train.py has this seed.
constexpr std::uint64_t kHeldOutSeed = 20260101;
constexpr double kMinFloatPrecision = 0.9;
constexpr double kMaxQuantizedLoss = 0.02;

struct Options {
  std::string image;
  std::string png = "detections.png";
  std::string json = "detections.json";
  std::string model;
  std::string type = "float32";
  Selection selection;
  bool evaluate = false;
  std::size_t held_out = 200;
  std::string draw;
  PictureSet set;
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// --model; else where the sample lies below the working directory, or below
// the folder of run-time files that Bazel makes, or in the working directory.
std::string FindModel(const Options& options, const std::string& program) {
  if (!options.model.empty()) return options.model;
  const std::string data = "samples/detection/data";
  for (const std::string& folder :
       {data, Environment("RUNFILES_DIR") + "/tim_cl/" + data,
        program + ".runfiles/tim_cl/" + data, std::string("data")}) {
    if (std::ifstream(folder + "/ssd_f32.bin")) return folder;
  }
  return data;
}

std::string ModelFile(const std::string& folder, const std::string& type) {
  return folder + (type == "uint8" ? "/ssd_u8.bin" : "/ssd_f32.bin");
}

std::shared_ptr<tim::vx::Context> MakeContext(std::string* error) {
  auto context = tim::vx::Context::Create();
  if (context == nullptr) *error = "no context: " + tim::vx::LastError();
  return context;
}

// Compiles the network and runs it once; prints the device.
bool Detect(const Image& picture, const Model& model,
            const Selection& selection, std::vector<Detection>* detections,
            std::string* error) {
  const auto context = MakeContext(error);
  if (context == nullptr) return false;
  std::cout << "device: " << context->DeviceName() << "\n";
  Detector detector;
  return detector.Create(context.get(), model, selection, error) &&
         detector.Detect(picture, detections, error);
}

bool DetectInFile(const Options& options, const std::string& folder,
                  std::string* error) {
  if (options.png == options.json) {
    *error = options.png + ": is to be both the picture and the boxes";
    return false;
  }
  Image picture;
  Model model;
  const std::string path = ModelFile(folder, options.type);
  if (!ReadImage(options.image, &picture, error) ||
      !ReadModel(path, &model, error)) {
    return false;
  }
  Report report = {options.image, picture.width,     picture.height,
                   options.type,  options.selection, {}};
  if (!Detect(picture, model, options.selection, &report.detections, error)) {
    *error = path + ": " + *error;
    return false;
  }
  const Image annotated = Annotated(picture, report.detections, model.classes);
  if (!WriteFiles({{options.png, EncodePng(annotated)},
                   {options.json, ToJson(report, model.classes)}},
                  error)) {
    return false;
  }
  const int extent = static_cast<int>(model.extent);
  PrintConventions(model, MakeLetterBox(picture.width, picture.height, extent),
                   std::cout);
  Print(report, model.classes, std::cout);
  std::cout << "written: " << options.png << ", " << options.json << "\n";
  return true;
}

std::vector<const Image*> ImagesOf(const std::vector<Picture>& pictures) {
  std::vector<const Image*> images;
  for (const Picture& picture : pictures) images.push_back(&picture.image);
  return images;
}

// Prints how many pictures a second the detector finishes with one and with two
// of them in flight, the better of three turns each.
bool CompareFrames(Detector* detector, const std::vector<Picture>& pictures,
                   const std::vector<std::vector<Detection>>& expected,
                   std::string* error) {
  using Clock = std::chrono::steady_clock;
  const std::vector<const Image*> images = ImagesOf(pictures);
  double best[] = {0.0, 0.0};
  for (int turn = 0; turn < 6; ++turn) {
    const std::size_t in_flight = static_cast<std::size_t>(turn % 2) + 1;
    std::vector<std::vector<Detection>> found;
    const auto start = Clock::now();
    if (!detector->DetectAll(images, in_flight, &found, error)) return false;
    const std::chrono::duration<double> seconds = Clock::now() - start;
    double& rate = best[in_flight - 1];
    rate = std::max(rate, static_cast<double>(images.size()) / seconds.count());
    if (found == expected) continue;
    *error = "runs in flight find something else than Run()";
    return false;
  }
  std::cout << std::setprecision(0) << best[0]
            << " pictures a second with one in flight, " << best[1]
            << " with two\n"
            << std::setprecision(3);
  return true;
}

bool Evaluate(tim::vx::Context* context, const std::string& path,
              const std::vector<Picture>& pictures, double* precision,
              std::string* error) {
  Model model;
  if (!ReadModel(path, &model, error)) return false;
  if (model.classes != ShapeNames()) {
    *error = path + ": its classes are not those of the drawn pictures";
    return false;
  }
  // Detections of low scores count, too.
  Selection selection;
  selection.score_threshold = 0.05f;
  Detector detector;
  bool done = detector.Create(context, model, selection, error);
  std::vector<std::vector<Object>> objects;
  std::vector<std::vector<Detection>> detections;
  for (const Picture& picture : pictures) {
    objects.push_back(picture.objects);
    detections.emplace_back();
    done = done && detector.Detect(picture.image, &detections.back(), error);
  }
  if (!done) {
    *error = path + ": " + *error;
    return false;
  }
  std::cout << std::fixed << std::setprecision(3) << path << ": compiled in "
            << detector.CompileMs() << " ms, " << detector.MedianRunMs()
            << " ms a picture\n";
  if (!CompareFrames(&detector, pictures, detections, error)) return false;
  *precision = MeanAveragePrecision(objects, detections, model.classes.size());
  return true;
}

bool EvaluateBoth(const Options& options, const std::string& folder,
                  std::string* error) {
  std::vector<Picture> pictures;
  std::size_t objects = 0;
  for (std::size_t i = 0; i < options.held_out; ++i) {
    pictures.push_back(DrawPicture(kHeldOutSeed, i));
    objects += pictures.back().objects.size();
  }
  const auto context = MakeContext(error);
  if (context == nullptr) return false;
  std::cout << "device: " << context->DeviceName() << "\n"
            << pictures.size() << " held-out pictures with " << objects
            << " shapes\n";
  double exact = 0.0, quantized = 0.0;
  if (!Evaluate(context.get(), ModelFile(folder, "float32"), pictures, &exact,
                error) ||
      !Evaluate(context.get(), ModelFile(folder, "uint8"), pictures, &quantized,
                error)) {
    return false;
  }
  std::cout << "mAP@0.5 float32 = " << exact << "\n"
            << "mAP@0.5 uint8 = " << quantized << "\n";
  if (exact >= kMinFloatPrecision && quantized >= exact - kMaxQuantizedLoss) {
    return true;
  }
  *error =
      "mAP@0.5 is too low: 0.9 is required in float32, and in uint8 at most "
      "0.02 less than there";
  return false;
}

void AddOptions(CLI::App* app, Options* options) {
  app->option_defaults()->always_capture_default();
  app->add_option("image", options->image, "PNG or JPEG file");
  app->add_option("--png", options->png, "annotated picture to write");
  app->add_option("--json", options->json, "boxes to write");
  app->add_option("--model", options->model,
                  "folder of ssd_f32.bin and ssd_u8.bin");
  app->add_option("--type", options->type, "network to run")
      ->check(CLI::IsMember({"float32", "uint8"}));
  app->add_option("--threshold", options->selection.score_threshold,
                  "lowest score of a detection")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--iou", options->selection.iou_threshold,
                  "largest overlap of two detections")
      ->check(CLI::Range(0.01, 1.0));
  app->add_option("--most", options->selection.max_detections,
                  "largest number of detections")
      ->check(CLI::Range(1, 500));
  app->add_flag("--evaluate", options->evaluate,
                "measure mAP@0.5 over held-out pictures");
  app->add_option("--pictures", options->held_out, "of --evaluate")
      ->check(CLI::Range(1, 100000));
  app->add_option("--draw", options->draw, "folder to draw pictures into");
  app->add_option("--seed", options->set.seed, "of --draw");
  app->add_option("--count", options->set.count, "pictures of --draw")
      ->check(CLI::Range(1, 100000));
  app->add_option("--square", options->set.square,
                  "letter-box what --draw draws to so many pixels; 0: do not")
      ->check(CLI::Range(0, 4096));
}

bool Run(const Options& options, const std::string& program,
         std::string* error) {
  if (!options.draw.empty()) {
    return WritePictures(options.set, options.draw, error);
  }
  const std::string folder = FindModel(options, program);
  if (options.evaluate) return EvaluateBoth(options, folder, error);
  return DetectInFile(options, folder, error);
}

}  // namespace
}  // namespace detection

int main(int argc, char** argv) {
  CLI::App app("Finds simple shapes in pictures.", "detection");
  detection::Options options;
  detection::AddOptions(&app, &options);
  CLI11_PARSE(app, argc, argv);
  const int tasks = (options.image.empty() ? 0 : 1) +
                    (options.evaluate ? 1 : 0) + (options.draw.empty() ? 0 : 1);
  std::string error = "give an image, --evaluate or --draw; see --help";
  if (tasks == 1 && detection::Run(options, argv[0], &error)) {
    return EXIT_SUCCESS;
  }
  std::cerr << "FAIL detection: " << error << "\n";
  return EXIT_FAILURE;
}
