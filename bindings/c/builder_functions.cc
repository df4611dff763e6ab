// Builders of interlock.h: a text that grows by a statement a call.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/c/handles.h"
#include "bindings/c/interlock.h"
#include "encoder/program/draft.h"
#include "encoder/program/names.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

// As make(), of what adds to a builder; `add` returns what is wrong, if anything is.
template <typename Add>
ilk_status add_to(ilk_builder* builder, ilk_error** error, const Add& add) noexcept {
  try {
    if (builder == nullptr) return give_error(error, null_argument("the builder"));
    std::string wrong = add();
    if (wrong.empty()) return ILK_OK;
    return give_error(error, {ILK_BAD_ARGUMENT, std::move(wrong), 0, 0});
  } catch (...) {
    return give_no_memory(error);
  }
}

// Empty if it may be the name of something.
std::string name_error(const char* name) {
  if (name == nullptr) return "the name is null.";
  if (!is_name(name)) return in_quotes(name) + " is no name: letters, digits, '_' and '.'.";
  if (is_reserved(name)) return in_quotes(name) + " is a reserved word, and no name.";
  return {};
}

// The dispatch that is still open; empty if none is.
std::string open_text(const ilk_builder& builder) {
  return builder.dispatch ? print(ItemDraft(*builder.dispatch)) + '\n' : std::string();
}

// What was built, with the dispatch that is still open.
std::string whole_text(const ilk_builder& builder) { return builder.text + open_text(builder); }

// One append, which leaves the text as it was where there is no memory for it, and costs what is
// added.
void add_line(ilk_builder& builder, std::string_view line) {
  std::string added = open_text(builder);
  added += line;
  added += '\n';
  builder.text += added;
  builder.dispatch.reset();
}

AccessMode mode_of_access(ilk_mode mode) {
  switch (mode) {
    case ILK_WRITES:
      return AccessMode::kWrite;
    case ILK_UPDATES:
      return AccessMode::kUpdate;
    case ILK_ATOMICS:
      return AccessMode::kAtomic;
    case ILK_READS:
      break;
  }
  return AccessMode::kRead;
}

}  // namespace
}  // namespace interlock

extern "C" {

ilk_builder* ilk_builder_create(void) {
  try {
    return new ilk_builder;
  } catch (...) {
    return nullptr;
  }
}

void ilk_builder_free(ilk_builder* builder) { delete builder; }

ilk_status ilk_builder_memory(ilk_builder* builder, const char* name, uint64_t size,
                              ilk_error** error) {
  return interlock::add_to(builder, error, [&]() -> std::string {
    std::string wrong = interlock::name_error(name);
    if (!wrong.empty()) return wrong;
    interlock::MemoryDraft memory;
    memory.name = name;
    memory.size_bytes = size;
    interlock::add_line(*builder, interlock::print(interlock::ItemDraft(memory)));
    return {};
  });
}

ilk_status ilk_builder_dispatch(ilk_builder* builder, const char* label, const char* kernel,
                                ilk_error** error) {
  return interlock::add_to(builder, error, [&]() -> std::string {
    std::string wrong = interlock::name_error(kernel);
    if (wrong.empty() && label != nullptr) wrong = interlock::name_error(label);
    if (!wrong.empty()) return wrong;
    interlock::DispatchDraft dispatch;
    dispatch.label = label != nullptr ? label : "";
    dispatch.kernel = kernel;
    builder->text += interlock::open_text(*builder);
    builder->dispatch = std::move(dispatch);
    return {};
  });
}

ilk_status ilk_builder_access(ilk_builder* builder, ilk_mode mode, const char* name, uint64_t begin,
                              uint64_t end, ilk_error** error) {
  return interlock::add_to(builder, error, [&]() -> std::string {
    std::string wrong = interlock::name_error(name);
    if (!wrong.empty()) return wrong;
    if (!builder->dispatch) return "no dispatch is open: begin one before its accesses.";
    if (mode < ILK_READS || mode > ILK_ATOMICS) return "there is no such mode of access.";
    interlock::OperandDraft operand;
    operand.mode = interlock::mode_of_access(mode);
    operand.name = name;
    if (end != ILK_WHOLE) {
      if (begin > end) return "the access ends before it begins.";
      operand.slice = interlock::ByteRange{begin, end};
    } else if (begin != 0) {
      return "the access of a whole memory or tensor begins at 0.";
    }
    auto& operands = builder->dispatch->operands;
    operands.insert(std::upper_bound(operands.begin(), operands.end(), operand,
                                     [](const auto& a, const auto& b) {
                                       return interlock::stands_before(a, b);
                                     }),
                    operand);
    return {};
  });
}

ilk_status ilk_builder_attribute(ilk_builder* builder, const char* key, const char* value,
                                 ilk_error** error) {
  return interlock::add_to(builder, error, [&]() -> std::string {
    std::string wrong = interlock::name_error(key);
    if (!wrong.empty()) return wrong;
    if (!builder->dispatch) return "no dispatch is open: begin one before its attributes.";
    const bool is_value =
        value != nullptr && (interlock::is_word(value) || interlock::number_of(value).has_value());
    if (!is_value) return "the value is neither a word nor a number.";
    builder->dispatch->attributes.emplace_back(key, value);
    return {};
  });
}

ilk_status ilk_builder_barrier(ilk_builder* builder, ilk_barrier barrier, ilk_error** error) {
  return interlock::add_to(builder, error, [&]() -> std::string {
    if (barrier != ILK_FULL && barrier != ILK_EXECUTION) return "there is no such barrier.";
    interlock::add_line(*builder, barrier == ILK_FULL ? "barrier" : "barrier execution");
    return {};
  });
}

ilk_status ilk_builder_line(ilk_builder* builder, const char* line, ilk_error** error) {
  return interlock::add_to(builder, error, [&]() -> std::string {
    if (line == nullptr) return "the line is null.";
    const std::string_view text = line;
    if (text.find('\n') != std::string_view::npos) return "the line has an end in it.";
    interlock::add_line(*builder, text);
    return {};
  });
}

ilk_status ilk_builder_finish(ilk_builder* builder, const ilk_options* options,
                              ilk_program** program, ilk_error** error) {
  return interlock::make(program, options, error, [&]() -> interlock::Made<ilk_program> {
    if (builder == nullptr) return interlock::null_argument("the builder");
    return interlock::program_of(interlock::whole_text(*builder), "<built>", options);
  });
}

const char* ilk_builder_text(ilk_builder* builder) {
  if (builder == nullptr) return nullptr;
  try {
    builder->shown = interlock::whole_text(*builder);
    return builder->shown.c_str();
  } catch (...) {
    return nullptr;
  }
}

}  // extern "C"
