// FullWaits: whether the host has waited for everything that was submitted.
//
// The basic idea is to count the batches of each queue, and to keep with each signal how many of
// every queue it is known to come after: those of its own queue, and those that its queue waited
// for. Whoever waits for the signal is after as many. What is not known for sure does not count:
// a signal after some stages alone is after nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace interlock {

class FullWaits {
 public:
  // Once, first: without it nothing is kept, and is_full() is false.
  void follow() { is_followed_ = true; }

  // A batch of this queue begins its signals.
  void submit(const std::string& queue);
  // `is_whole`: after all stages of all that was submitted to the queue.
  void signal(const std::string& queue, const std::string& semaphore, uint64_t value,
              bool is_whole);
  // A signal of the host, after nothing.
  void signal(const std::string& semaphore, uint64_t value);
  // May come before the signal that it is paired with: so only a signal of this very value is known
  // to be the one.
  void wait(const std::string& queue, const std::string& semaphore, uint64_t value);
  // The record of a wait comes once it has returned, so what it was paired with is known.
  void host_waits(const std::string& semaphore, uint64_t value);
  void host_idle(const std::string& queue);

  // Of a semaphore that is destroyed: no signal and no wait names it any more.
  void forget(const std::string& semaphore);

  // True iff the host is known to have waited for every batch so far.
  bool is_full() const;

  // Of signals so far nothing is known any more: who waits for one is after nothing by that.
  void forget_signals();

 private:
  using Cover = std::map<std::string, uint64_t>;  // How many batches, by queue.

  static void join(Cover& cover, const Cover& other);
  void keep(const std::string& semaphore, uint64_t value, Cover cover);
  // What the signal of the smallest value that is enough comes after; null if none is known.
  // `is_exact`: of this value alone.
  const Cover* find(const std::string& semaphore, uint64_t value, bool is_exact) const;

  bool is_followed_ = false;
  std::map<std::string, uint64_t> batch_counts_;
  std::map<std::string, Cover> queues_;  // What a whole signal of the queue comes after.
  Cover host_;
  std::map<std::string, std::map<uint64_t, Cover>> signals_;
  uint64_t kept_count_ = 0;  // Entries in the covers of the signals.
  // Signals up to these values are forgotten.
  std::map<std::string, uint64_t> reached_;
};

}  // namespace interlock
