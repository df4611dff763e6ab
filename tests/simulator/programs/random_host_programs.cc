#include "tests/simulator/programs/random_host_programs.h"

#include <fmt/format.h>

#include <cstdint>

namespace interlock {
namespace {

class HostPrograms {
 public:
  explicit HostPrograms(Choice& choice) : choice_(choice) {}

  std::string text() {
    constexpr const char* kSorts[] = {" noncoherent=2", " noncoherent=2", " noncoherent=2", "",
                                      " unified"};
    sort_ = choice_.below(5);
    text_ = fmt::format("interlock 1\nmemory x {}{}\n", sort_ < 3 ? 3 : 2, kSorts[sort_]);
    const uint64_t count = 2 + choice_.below(3);
    bool was_host = choice_.chance(2, 3);
    access(was_host);
    for (uint64_t i = 1; i < count; ++i) {
      const bool is_host = choice_.chance(1, 2);
      between(was_host, is_host);
      access(is_host);
      was_host = is_host;
    }
    if (choice_.chance(1, 3)) text_ += "submit\n";
    return text_;
  }

 private:
  void add(const std::string& line) { text_ += line + "\n"; }
  // So often that half of the programs are clean.
  bool has() { return choice_.chance(4, 5); }

  std::string bytes() {
    const uint64_t size = sort_ < 3 ? 3 : 2;
    if (choice_.chance(1, 3)) return "x";
    const uint64_t begin = choice_.below(size);
    return fmt::format("x[{}:{}]", begin, begin + 1 + choice_.below(size - begin));
  }
  std::string moved() { return choice_.chance(2, 3) ? "x" : bytes(); }

  void access(bool is_host) {
    if (is_host) {
      add(fmt::format("host {} {}", choice_.chance(3, 5) ? "writes" : "reads", bytes()));
      return;
    }
    if (has_device_work_) {
      add("barrier compute.read|compute.write -> compute.read|compute.write");
    }
    has_device_work_ = true;
    const uint64_t sort = choice_.below(5);
    if (sort == 0) return add(fmt::format("dispatch Add writes {} partial", bytes()));
    if (sort == 1) return add(fmt::format("dispatch Step updates {}", bytes()));
    add(fmt::format("dispatch Use {} {}", sort < 4 ? "reads" : "writes", bytes()));
  }

  void between(bool from_host, bool to_host) {
    if (from_host && to_host) {
      if (choice_.chance(1, 3)) add("host flushes " + moved());
      if (choice_.chance(1, 2)) add("host invalidates " + moved());
      if (choice_.chance(1, 4)) add("host flushes " + moved());
    } else if (from_host) {
      if (choice_.chance(1, 8)) add("host invalidates " + moved());
      if (has()) add("host flushes " + moved());
      if (choice_.chance(1, 8)) add("host invalidates " + moved());
      if (choice_.chance(1, 4)) through_a_signal();
    } else if (to_host) {
      if (has()) {
        add(choice_.chance(1, 4) ? "barrier"
                                 : fmt::format("barrier compute.write -> host.read{}",
                                               choice_.chance(1, 3) ? " " + bytes() : ""));
      }
      ++device_value_;
      add(fmt::format("signal s={}", device_value_));
      // Too early; then the one after is left out more often.
      const bool is_early = choice_.chance(1, 6);
      if (is_early) add("host invalidates " + moved());
      if (choice_.chance(1, 8)) add("submit");
      if (has()) {
        add(choice_.chance(1, 5) ? "host idle" : fmt::format("host waits s={}", device_value_));
      }
      if (is_early ? choice_.chance(1, 2) : has()) add("host invalidates " + moved());
    }
  }

  void through_a_signal() {
    ++host_value_;
    add(fmt::format("host signals t={}", host_value_));
    if (has()) add(fmt::format("wait t={}", host_value_));
    if (has()) add("barrier host.write -> compute.read|compute.write");
  }

  Choice& choice_;
  uint64_t sort_ = 0;
  uint64_t device_value_ = 0;
  uint64_t host_value_ = 0;
  bool has_device_work_ = false;
  std::string text_;
};

}  // namespace

std::string random_host_program(Choice& choice) { return HostPrograms(choice).text(); }

}  // namespace interlock
