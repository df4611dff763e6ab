#include "tests/bench/tracker_bounds.h"

#include <algorithm>

namespace interlock {
namespace {

constexpr double kLeastAbove = 5;  // Nanoseconds a dispatch.
constexpr double kToInexact = 1.2;
constexpr double kToIdeal = 2;

bool is_peer(Role role) { return role == Role::kExact || role == Role::kInexact; }

std::vector<double> times_of_round(const std::vector<Measured>& row, size_t round) {
  std::vector<double> times;
  for (const Measured& each : row) times.push_back(each.timing.rounds()[round]);
  return times;
}

std::optional<double> best_peer(const std::vector<Measured>& row,
                                const std::vector<double>& times) {
  std::optional<double> best;
  for (size_t i = 0; i < row.size(); ++i) {
    if (is_peer(row[i].role)) best = std::min(best.value_or(times[i]), times[i]);
  }
  return best;
}

// `held_against(times)` is the same for the times of one round.
template <typename HeldAgainst>
std::optional<double> median_ratio(const std::vector<Measured>& row, size_t ours,
                                   const HeldAgainst& held_against) {
  std::vector<double> ratios;
  for (size_t round = 0; round < row[ours].timing.rounds().size(); ++round) {
    const std::vector<double> times = times_of_round(row, round);
    const std::optional<double> other = held_against(times);
    if (!other) return std::nullopt;
    ratios.push_back(times[ours] / *other);
  }
  return median_of(std::move(ratios));
}

}  // namespace

std::optional<double> bound_of(Role ours, const std::vector<Measured>& row,
                               const std::vector<double>& times) {
  std::optional<double> bound;
  for (size_t i = 0; i < row.size(); ++i) {
    double most = times[i];
    if (is_peer(row[i].role)) {
      most = std::max(times[i] * (row[i].role == Role::kInexact ? kToInexact : 1),
                      times[i] + kLeastAbove);
    } else if (row[i].role == Role::kIdeal && ours == Role::kRegistered) {
      most *= kToIdeal;
    } else {
      continue;
    }
    bound = std::min(bound.value_or(most), most);
  }
  return bound;
}

std::optional<double> ratio_to_bound(const std::vector<Measured>& row, size_t ours) {
  return median_ratio(row, ours, [&](const std::vector<double>& times) {
    return bound_of(row[ours].role, row, times);
  });
}

std::optional<double> ratio_to_best_peer(const std::vector<Measured>& row, size_t ours) {
  return median_ratio(row, ours,
                      [&](const std::vector<double>& times) { return best_peer(row, times); });
}

}  // namespace interlock
