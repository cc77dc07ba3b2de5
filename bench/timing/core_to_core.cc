#include "bench/timing/core_to_core.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "bench/timing/median.h"
#include "bench/timing/processors.h"

namespace tim::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 11;
constexpr int kTripsOfRound = 2000;

// A line that two threads write in turn: odd numbers and even ones.
class Ball {
 public:
  void Pass(int number) {
    while (number_.load(std::memory_order_acquire) != number - 1) {
    }
    number_.store(number, std::memory_order_release);
  }

 private:
  alignas(128) std::atomic<int> number_ = 0;
};

// One of the two sides; the seconds of each round.
std::vector<double> Play(Ball& ball, int side) {
  std::vector<double> seconds;
  int number = 2 - side;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (int trip = 0; trip < kTripsOfRound; ++trip, number += 2) {
      ball.Pass(number);
    }
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  return seconds;
}

}  // namespace

double CoreToCoreNanoseconds() {
  const std::vector<int> processors = AllowedProcessors();
  if (processors.size() < 2) return 0;
  Ball ball;
  std::vector<double> seconds;
  std::atomic<bool> pinned = true;
  std::barrier both(2);
  std::vector<std::thread> players;
  for (int side = 0; side < 2; ++side) {
    players.emplace_back([&, side] {
      if (!StayOn({processors[side]})) pinned = false;
      both.arrive_and_wait();
      if (!pinned) return;
      std::vector<double> own = Play(ball, side);
      if (side == 0) seconds = std::move(own);
    });
  }
  for (std::thread& player : players) player.join();
  if (!pinned) return 0;
  return 1e9 * Median(seconds) / (2 * kTripsOfRound);
}

}  // namespace tim::bench
