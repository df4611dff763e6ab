// A process for `--planner=exec:` and `--replay=exec:` with one fault: faulty_planner FAULT
// [NUMBER].
//
// Planners. Each value has bytes of its own, without reuse, but for:
//   none            no fault
//   reuse           the same, and a value may take bytes after the last use of another
//   short           a value may take bytes after the first use of another
//   gap             every place is 4 bytes after where it should be
//   leave           the last value gets no place
//   rename          another kernel
//   declared        places in the first memory of the program
//   crash           a signal, at a program with three dispatches or more
//   hang            no answer, to a program with three dispatches or more
//   garble          an answer that is no program
//   forgetful N     as `short`, at every Nth program
// Replay policies:
//   keep            every gradient is added
//   adopt           the first one is adopted
//   copy            the first one is copied
//   drop            the first one is left out
//   adopt-all       each is adopted
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Value {
  std::string name;
  uint64_t bytes = 0;
  size_t first = SIZE_MAX;  // The lines of its uses.
  size_t second = 0;        // Of the first after `first`, or `first`.
  size_t last = 0;
  uint64_t offset = 0;
};

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool is_dispatch_line(const std::string& line) {
  return line.starts_with("dispatch ") || line.find(": dispatch ") != std::string::npos;
}

class Plan {
 public:
  Plan(const std::string& fault, std::vector<std::string> lines)
      : fault_(fault), lines_(std::move(lines)) {
    const size_t align = lines_[1].find("align=");
    align_ = std::strtoull(lines_[1].c_str() + align + 6, nullptr, 10);
  }

  std::string text() {
    find_values();
    uint64_t end = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i].offset = place_of(i);
      end = std::max(end, values_[i].offset + values_[i].bytes);
    }
    std::string text = lines_[0] + '\n';
    if (!values_.empty()) text += "memory plan " + std::to_string(end + 4) + '\n';
    size_t placed_count = 0;
    for (size_t i = 2; i < lines_.size(); ++i) text += answer_to(lines_[i], placed_count) + '\n';
    return text;
  }

 private:
  void use(const std::string& name, size_t line, bool is_to_the_end) {
    const auto found = index_.find(value_of_.count(name) > 0 ? value_of_[name] : name);
    if (found == index_.end()) return;
    Value& value = values_[found->second];
    if (value.first == SIZE_MAX) value.first = line;
    if (value.second == value.first || value.second == 0) value.second = line;
    value.last = is_to_the_end ? lines_.size() : std::max(value.last, line);
  }

  void find_values() {
    bool has_output = false;
    for (const std::string& line : lines_) has_output |= line.starts_with("output ");
    for (size_t i = 2; i < lines_.size(); ++i) {
      const std::vector<std::string> words = words_in(lines_[i]);
      const size_t mark = lines_[i].find("  # place ");
      if (words[0] == "memory" && first_memory_.empty()) first_memory_ = words[1];
      if (words[0] != "tensor") {
        for (const std::string& word : words) {
          use(word.substr(0, word.find('[')), i, words[0] == "output");
        }
        continue;
      }
      const bool has_base = words.size() > 4 && (words[3] == "view" || words[3] == "donates");
      const std::string base = has_base ? words[4].substr(0, words[4].find('+')) : words[1];
      value_of_[words[1]] = value_of_.count(base) > 0 ? value_of_[base] : base;
      if (mark == std::string::npos) continue;
      Value value{words[1], std::strtoull(lines_[i].c_str() + mark + 10, nullptr, 10)};
      if (lines_[i].find(" = ") != std::string::npos) value.first = value.second = 0;
      if (!has_output) value.last = lines_.size();
      index_[words[1]] = values_.size();
      values_.push_back(value);
    }
  }

  bool lives_with(const Value& a, const Value& b) const {
    if (fault_ != "reuse" && fault_ != "short") return true;
    const bool is_short = fault_ == "short";
    const auto end = [&](const Value& value) {
      return is_short && value.last < lines_.size() ? std::min(value.second, value.last)
                                                    : value.last;
    };
    return a.first <= end(b) && b.first <= end(a);
  }

  uint64_t place_of(size_t index) const {
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (size_t i = 0; i < index; ++i) {
      if (!lives_with(values_[i], values_[index])) continue;
      taken.emplace_back(values_[i].offset, values_[i].offset + values_[i].bytes);
    }
    std::sort(taken.begin(), taken.end());
    uint64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + values_[index].bytes <= begin) break;
      offset = std::max(offset, (end + align_ - 1) / align_ * align_);
    }
    return offset;
  }

  std::string answer_to(const std::string& line, size_t& placed_count) const {
    const size_t mark = line.find("  # ");
    std::string statement = line.substr(0, mark);
    if (fault_ == "rename" && is_dispatch_line(statement)) {
      return statement.substr(0, statement.find("dispatch ")) + "dispatch Other";
    }
    if (mark == std::string::npos || line.compare(mark, 10, "  # place ") != 0) return statement;
    const Value& value = values_[index_.at(words_in(statement)[1])];
    if (fault_ == "leave" && ++placed_count == values_.size()) return statement;
    const uint64_t offset = value.offset + (fault_ == "gap" ? 4 : 0);
    const std::string memory = fault_ == "declared" ? first_memory_ : "plan";
    statement.insert(std::min(statement.find(" = "), statement.size()),
                     " at " + memory + "+" + std::to_string(offset));
    return statement;
  }

  const std::string fault_;
  std::vector<std::string> lines_;
  uint64_t align_ = 1;
  std::string first_memory_;
  std::vector<Value> values_;
  std::map<std::string, size_t> index_;
  std::map<std::string, std::string> value_of_;
};

// Which tensors something touched, and which a capture wrote, by the tensor whose bytes they have.
class Touched {
 public:
  void declare(const std::vector<std::string>& words) {
    const bool has_base = words.size() > 4 && (words[3] == "view" || words[3] == "donates");
    const std::string base = has_base ? words[4].substr(0, words[4].find('+')) : words[1];
    base_[words[1]] = base_.count(base) > 0 ? base_[base] : base;
    if (has_base && words[3] == "view") views_.insert(words[1]);
    shape_[words[1]] = words[2];
    if (words.back() == "zeros" && !has_base) zeros_.insert(words[1]);
  }

  void touch(const std::vector<std::string>& words, bool is_recording) {
    bool is_written = false;
    for (const std::string& word : words) {
      if (word == "reads" || word == "atomics" || word == "actual") is_written = false;
      if (word == "writes" || word == "updates") is_written = true;
      const auto base = base_.find(word.substr(0, word.find('[')));
      if (base == base_.end()) continue;
      touched_.insert(base->second);
      if (is_recording && is_written) recorded_.insert(base->second);
    }
  }

  // "dispatch accumulate reads G updates S"
  bool is_first(const std::vector<std::string>& words) const {
    return words.size() == 6 && zeros_.count(words[5]) > 0 && touched_.count(words[5]) == 0 &&
           views_.count(words[3]) == 0 && base_.count(words[3]) > 0 &&
           recorded_.count(base_.at(words[3])) > 0 && shape_.at(words[3]) == shape_.at(words[5]);
  }

 private:
  std::map<std::string, std::string> base_;
  std::map<std::string, std::string> shape_;
  std::set<std::string> views_;
  std::set<std::string> zeros_;
  std::set<std::string> touched_;
  std::set<std::string> recorded_;
};

std::string replayed(const std::string& fault, const std::vector<std::string>& lines) {
  Touched touched;
  std::set<std::string> sums;  // Which need no zeros any more.
  std::vector<std::string> statements;
  bool is_recording = false;
  for (size_t i = 2; i < lines.size(); ++i) {
    std::string line = lines[i];
    const std::vector<std::string> all_words = words_in(line);
    if (all_words[0] == "tensor") touched.declare(all_words);
    is_recording |= all_words[0] == "capture";
    is_recording &= line != "end";
    const size_t begin = line.find("dispatch accumulate reads ");
    bool is_left_out = false;
    if (begin != std::string::npos && !is_recording) {
      const std::vector<std::string> words = words_in(line.substr(begin));
      const std::string label = line.substr(0, begin);
      const bool is_changed = touched.is_first(words) || fault == "adopt-all";
      if (is_changed && fault != "keep") sums.insert(words[5]);
      is_left_out = is_changed && fault == "drop";
      if (is_changed && fault.starts_with("adopt")) {
        line = label + "adopt " + words[5] + " = " + words[3];
      } else if (is_changed && fault == "copy") {
        line = label + "dispatch copy reads " + words[3] + " writes " + words[5];
      }
    }
    const bool is_statement = all_words[0] != "tensor" && all_words[0] != "output";
    if (is_statement) touched.touch(all_words, is_recording);
    if (!is_left_out) statements.push_back(line);
  }
  std::string text = lines[0] + '\n';
  for (const std::string& line : statements) {
    const std::vector<std::string> words = words_in(line);
    const bool is_sum = words[0] == "tensor" && sums.count(words[1]) > 0;
    text += (is_sum ? line.substr(0, line.find(" = ")) : line) + '\n';
  }
  return text;
}

std::string answer(const std::string& fault, size_t number, size_t program_count,
                   const std::string& program) {
  std::vector<std::string> lines;
  std::istringstream in(program);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines[1] == "# replay") return replayed(fault, lines);
  const bool is_long = std::count_if(lines.begin(), lines.end(), is_dispatch_line) >= 3;
  if (fault == "crash" && is_long) raise(SIGSEGV);
  while (fault == "hang" && is_long) pause();
  if (fault == "garble") return "what?\n";
  const bool forgets = fault == "forgetful" && program_count % number == 0;
  return Plan(forgets ? "short" : fault, std::move(lines)).text();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "none";
  const size_t number = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 1;
  size_t program_count = 0;
  for (std::string head; std::getline(std::cin, head);) {
    std::string program(static_cast<size_t>(std::atoll(head.c_str() + 8)), '\0');
    std::cin.read(program.data(), static_cast<std::streamsize>(program.size()));
    const std::string text = answer(fault, number, ++program_count, program);
    std::cout << "program " << text.size() << '\n' << text;
    std::cout.flush();
  }
  return 0;
}
