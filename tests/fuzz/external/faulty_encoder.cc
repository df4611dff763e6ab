// A process for `--encoder=exec:` with one fault: faulty_encoder FAULT [NUMBER]. It keeps the
// accesses since the last barrier of its own, as the example of docs/examples does.
//
//   none            no fault
//   ring N          knows the latest N accesses alone
//   serial          a barrier before each dispatch but the first
//   crash           a signal, at a program with an atomic
//   exit            status 7, at a program with an atomic
//   end             status 0, at a program with an atomic
//   hang            no answer, to a program with an atomic
//   drop            leaves out the last dispatch of a program with several
//   rename          another kernel
//   garble          an answer that is no program
//   endless         promises more bytes than anybody reads
//   chatter         writes a line before its answer
//   echo-after      writes a line after its answer
//   forgetful N     answers every Nth program without a barrier
//   reverse         issues dispatches from the last to the first, and says so by `order=`
//   leak            keeps 64 KiB for each program
//   early           writes before it is asked
//   scoped          barriers with a scope that misses transfers
//   dies            a signal, at any program
//   faints N        a signal, at every Nth program of a process
//   deaf            reads nothing, and writes nothing
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Access {
  std::string how;
  std::string memory;
  uint64_t begin = 0;
  uint64_t end = 0;
};

bool conflicts(const Access& a, const Access& b) {
  if (a.memory != b.memory || std::max(a.begin, b.begin) >= std::min(a.end, b.end)) return false;
  return a.how != b.how || (a.how != "read" && !a.how.starts_with("atomic-"));
}

std::vector<Access> accesses_of(const std::string& line) {
  std::vector<Access> accesses;
  const size_t mark = line.find("  # ");
  if (mark == std::string::npos) return accesses;
  std::string comment = line.substr(mark + 4);
  std::replace(comment.begin(), comment.end(), ',', ' ');
  std::istringstream words(comment);
  Access access;
  while (words >> access.how >> access.memory >> access.begin >> access.end) {
    accesses.push_back(access);
  }
  return accesses;
}

bool is_dispatch(const std::string& line) {
  return line.starts_with("dispatch ") || line.find(": dispatch ") != std::string::npos;
}

class FaultyEncoder {
 public:
  FaultyEncoder(std::string_view fault, size_t number) : fault_(fault), number_(number) {}

  std::string answer(const std::string& program) {
    ++program_count_;
    since_.clear();
    if (program.find("atomic-") != std::string::npos) fail();
    if (fault_ == "dies" || (fault_ == "faints" && program_count_ % number_ == 0)) raise(SIGSEGV);
    if (fault_ == "leak") leak_.push_back(std::string(1 << 16, static_cast<char>('a')));
    std::vector<std::string> lines;
    std::istringstream in(program);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (fault_ == "reverse") return reversed(lines);
    std::string text;
    size_t dispatch_count = 0;
    const auto all = std::count_if(lines.begin(), lines.end(), is_dispatch);
    for (const std::string& line : lines) {
      const bool is_last = is_dispatch(line) && ++dispatch_count == static_cast<size_t>(all);
      if (fault_ == "drop" && is_last && all > 1) continue;
      text += barrier_before(line);
      text += fault_ == "rename" && is_last ? "dispatch Other" : line;
      text += '\n';
    }
    return fault_ == "garble" ? "what?\n" : text;
  }

 private:
  void fail() const {
    if (fault_ == "crash") raise(SIGSEGV);
    if (fault_ == "exit") _exit(7);
    if (fault_ == "end") _exit(0);
    while (fault_ == "hang") pause();
  }

  std::string barrier_before(const std::string& line) {
    const std::vector<Access> accesses = accesses_of(line);
    bool needs_one = false;
    for (const Access& access : accesses) {
      needs_one |= std::any_of(since_.begin(), since_.end(),
                               [&](const Access& earlier) { return conflicts(earlier, access); });
    }
    if (fault_ == "serial") needs_one = is_dispatch(line) && !since_.empty();
    if (needs_one) since_.clear();
    since_.insert(since_.end(), accesses.begin(), accesses.end());
    if (fault_ == "ring" && since_.size() > number_) {
      since_.erase(since_.begin(), since_.end() - static_cast<std::ptrdiff_t>(number_));
    }
    const bool forgets = fault_ == "forgetful" && program_count_ % number_ == 0;
    if (!needs_one || forgets) return "";
    return fault_ == "scoped" ? "barrier compute -> compute.write\n" : "barrier\n";
  }

  static std::string reversed(const std::vector<std::string>& lines) {
    std::string text;
    std::vector<std::string> dispatches;
    for (const std::string& line : lines) {
      if (is_dispatch(line)) {
        std::string ordered = line;
        const size_t kernel = line.find("dispatch ") + 9;
        const size_t kernel_end = std::min(line.find(' ', kernel), line.size());
        ordered.insert(kernel_end, " order=" + std::to_string(dispatches.size()));
        dispatches.push_back(ordered + "\n");
      } else {
        text += line + "\n";
      }
    }
    for (size_t i = dispatches.size(); i > 0; --i) {
      text += dispatches[i - 1] + (i > 1 ? "barrier\n" : "");
    }
    return text;
  }

  std::string_view fault_;
  size_t number_;
  size_t program_count_ = 0;
  std::vector<Access> since_;
  std::vector<std::string> leak_;
};

void write_out(const std::string& text) {
  std::cout << text;
  std::cout.flush();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "none";
  const size_t number = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 0;
  while (fault == "deaf") pause();
  if (fault == "early") write_out("hello\n");
  FaultyEncoder encoder(fault, number);
  for (std::string head; std::getline(std::cin, head);) {
    std::string program(static_cast<size_t>(std::atoll(head.c_str() + 8)), '\0');
    std::cin.read(program.data(), static_cast<std::streamsize>(program.size()));
    const std::string answer = encoder.answer(program);
    if (fault == "endless") {
      write_out("program 99999999999\n");
      while (true) pause();
    }
    const std::string frame = "program " + std::to_string(answer.size()) + "\n" + answer;
    write_out((fault == "chatter" ? "Encoding.\n" : "") + frame +
              (fault == "echo-after" ? "Done.\n" : ""));
  }
  return 0;
}
