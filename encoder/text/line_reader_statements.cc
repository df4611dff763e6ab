// The grammar of dispatches, barriers, witnesses and expectations.
#include "encoder/program/names.h"
#include "encoder/program/words.h"
#include "encoder/text/line_reader.h"

namespace interlock {
bool LineReader::read_rest(DispatchDraft& dispatch) {
  dispatch.label = label_;
  return take_name("the name of a kernel", ItemPart::kKernel, dispatch.kernel) &&
         read_stage(dispatch) && read_order(dispatch) && read_operands(dispatch);
}

// Reads "in copy" if it stands there.
bool LineReader::read_stage(DispatchDraft& dispatch) {
  const Token word = lexer_.peek();
  if (!word.is(kStageWord) || !word.is_spaced) return true;
  Lexer rest = lexer_;
  rest.next();
  if (rest.peek().is('=')) return true;  // An attribute.
  lexer_.next();
  const Token stage = lexer_.next();
  const auto found = stage_of_dispatches(stage.text);
  if (stage.kind != TokenKind::kName || !found) {
    return fail_expecting(stage, "the stage of an opaque dispatch: compute, copy or graphics");
  }
  dispatch.stage = *found;
  return true;
}

bool LineReader::read_order(DispatchDraft& dispatch) {
  if (!lexer_.peek().is("order")) return true;
  mark(ItemPart::kOrder, lexer_.next());
  return take('=', "after 'order'") && take_number("a number", dispatch.order.emplace());
}

// Reads the clauses after the kernel and its order. Their sequence is fixed, so that a text has
// one meaning for kernels that know their operands by position.
bool LineReader::read_operands(DispatchDraft& dispatch) {
  int clause = -1;  // Of kClauseWords; after `actual` they begin anew.
  bool clause_is_empty = false;
  bool is_actual = false;
  std::optional<bool> has_queue;  // Looked for once.
  for (;;) {
    const Token token = lexer_.next();
    const bool is_name = token.kind == TokenKind::kName;
    const bool is_key = is_name && lexer_.peek().is('=');
    const bool is_word = is_name && is_reserved(token.text);
    bool begins_edges = token.is(kEdgesWord) && !is_key;
    if (begins_edges && after_is_a_name_) {
      if (!has_queue) has_queue = stands_before_queue();
      begins_edges = *has_queue;
    }
    if (clause_is_empty && (begins_edges || !is_name || is_key || is_word)) {
      return fail_expecting(token, fmt::format("an operand after '{}'", kClauseWords[clause]));
    }
    if (is_actual && clause < 0 && !is_one_of(kClauseWords, token.text)) {
      return fail_expecting(token, "reads, writes, updates or another clause after 'actual'");
    }
    if (token.kind == TokenKind::kEnd) return true;
    if (begins_edges && token.is_spaced) return read_edges(dispatch);
    if (token.is("on") && token.is_spaced) return read_queue(dispatch.queue) && take_end();
    if (!is_name || !token.is_spaced) {
      return fail_expecting(
          token, is_name ? "a space before this word" : "a clause, an operand or KEY=VALUE");
    }
    const bool has_operands_only =
        !dispatch.is_partial && !dispatch.is_approximate && dispatch.attributes.empty();
    if (!is_word && !is_key && clause >= 0 && has_operands_only) {
      OperandDraft& operand = dispatch.operands.emplace_back();
      operand.mode = static_cast<AccessMode>(clause);
      operand.is_undeclared = is_actual;
      if (!read_operand(token, operand)) return false;
      clause_is_empty = false;
      continue;
    }
    if (token.text == "order") {
      return fail(token, "'order=' stands after other clauses; it stands right after the kernel.");
    }
    if (token.text == "actual" && !is_actual && has_operands_only) {
      is_actual = true;
      clause = -1;
      continue;
    }
    if (const auto found = position_in(kClauseWords, token.text)) {
      const int next = static_cast<int>(*found);
      if (next <= clause || !has_operands_only) return fail_out_of_order(token);
      clause = next;
      clause_is_empty = true;
    } else if (token.text == "partial" && has_operands_only) {
      dispatch.is_partial = true;
    } else if (token.text == "approximate" && !dispatch.is_approximate &&
               dispatch.attributes.empty()) {
      dispatch.is_approximate = true;
    } else if (is_key) {
      if (!read_attribute(token, dispatch)) return false;
    } else if (token.is("partial") || token.is("approximate") || token.is("actual")) {
      return fail_out_of_order(token);
    } else {
      return fail_expecting(
          token, clause < 0 && has_operands_only
                     ? "uniform, reads, writes, updates, atomics, partial, approximate or KEY=VALUE"
                     : "KEY=VALUE, 'after', 'on' or the end of the line");
    }
  }
}

bool LineReader::fail_out_of_order(const Token& clause) {
  return fail(
      clause,
      "found {} out of order; the clauses stand once each, as indirect, uniform, reads, writes, updates, atomics, actual with the same again, partial, approximate, KEY=VALUE, after, on.",
      in_quotes(clause.text));
}

bool LineReader::read_operand(const Token& name, OperandDraft& operand) {
  operand_columns_.push_back(name.column);
  operand.name = name.text;
  return !lexer_.peek().is('[') || read_slice(operand);
}

bool LineReader::read_attribute(const Token& key, DispatchDraft& dispatch) {
  lexer_.next();
  const Token value = lexer_.next_word();
  if (value.kind != TokenKind::kName && value.kind != TokenKind::kNumber) {
    return fail_expecting(value, fmt::format("a value of {}", in_quotes(key.text)));
  }
  attribute_columns_.push_back(key.column);
  dispatch.attributes.emplace_back(key.text, value.text);
  return true;
}

// Whether the rest of the line names a queue. Where something is named 'after', that alone tells.
bool LineReader::stands_before_queue() const {
  for (Lexer rest = lexer_; rest.peek().kind != TokenKind::kEnd; rest.next()) {
    if (rest.peek().is("on")) return true;
  }
  return false;
}

// Reads "A B programmatic on Q" after 'after'.
bool LineReader::read_edges(DispatchDraft& dispatch) {
  for (;;) {
    const Token token = lexer_.next();
    if (token.kind == TokenKind::kEnd && !dispatch.after.empty()) return true;
    if (token.is("on") && !dispatch.after.empty()) {
      return read_queue(dispatch.queue) && take_end();
    }
    const bool is_reference = token.kind == TokenKind::kName || token.kind == TokenKind::kNumber;
    if (!is_reference || !token.is_spaced || token.is("on") || dispatch.is_programmatic) {
      return fail_expecting(token, dispatch.is_programmatic ? "'on' and a graph queue"
                                   : dispatch.after.empty()
                                       ? "a dispatch, by label or index"
                                       : "a dispatch, 'programmatic', or 'on' and a graph queue");
    }
    const Token& after = lexer_.peek();
    const bool is_last = after.is("on") || after.kind == TokenKind::kEnd;
    if (token.is(kProgrammaticWord) && !dispatch.after.empty() && is_last) {
      dispatch.is_programmatic = true;
      continue;
    }
    if (after.is('=')) {
      return fail(token, "the attribute {} stands after the edges; expected it before 'after'.",
                  in_quotes(token.text));
    }
    after_columns_.push_back(token.column);
    dispatch.after.emplace_back(token.text);
  }
}

bool LineReader::read_rest(BarrierDraft& barrier) {
  barrier.label = label_;
  return read_barrier_rest(barrier.kind, barrier.dependencies, barrier.queue);
}

// Reads "[execution | DEPENDENCY, …] [on QUEUE]": of a barrier, or of an event.
bool LineReader::read_barrier_rest(BarrierKind& kind, std::vector<DependencyDraft>& dependencies,
                                   std::string& queue) {
  const Token word = lexer_.peek();
  if (word.kind == TokenKind::kEnd || word.is("on")) return read_queue_and_end(queue);
  if (word.is("execution")) {
    lexer_.next();
    kind = BarrierKind::kExecution;
    return read_queue_and_end(queue);
  }
  if (word.kind != TokenKind::kName || !names_a_stage(word.text)) {
    return fail_expecting(
        word, "'execution', a scope such as compute.write, 'on' or the end of the line");
  }
  kind = BarrierKind::kScoped;
  while (read_dependency(dependencies.emplace_back())) {
    const Token& end = lexer_.peek();
    if (end.kind == TokenKind::kEnd || end.is("on")) return read_queue_and_end(queue);
    if (!end.is(',')) return fail_expecting(end, "',', an operand, 'on' or the end of the line");
    lexer_.next();
  }
  return false;
}

// Reads "SCOPE -> SCOPE OPERANDS".
bool LineReader::read_dependency(DependencyDraft& dependency) {
  if (!read_scope(dependency.source)) return false;
  const Token dash = lexer_.next();
  const Token arrow = lexer_.next();
  if (!dash.is('-') || !arrow.is('>') || arrow.is_spaced) {
    return fail_expecting(dash, "'->' between the two scopes of a dependency");
  }
  if (!read_scope(dependency.destination)) return false;
  if (const auto kind = position_in<TransitionKind>(kTransitionWords, lexer_.peek().text);
      kind && *kind != TransitionKind::kNone) {
    const Token word = lexer_.next();
    if (!word.is_spaced) return fail_expecting(word, "a space before this word");
    dependency.transition = *kind;
    if (lexer_.peek().kind != TokenKind::kName || is_reserved(lexer_.peek().text)) {
      return fail_expecting(lexer_.next(), fmt::format("an operand after '{}'", word.text));
    }
  }
  while (lexer_.peek().kind == TokenKind::kName && !is_reserved(lexer_.peek().text)) {
    const Token name = lexer_.next();
    if (!name.is_spaced) return fail_expecting(name, "a space before this word");
    if (!read_operand(name, dependency.operands.emplace_back())) return false;
  }
  return true;
}

// Reads "compute.write|copy".
bool LineReader::read_scope(Scope& scope) {
  for (;;) {
    const Token word = lexer_.next();
    const auto part = word.kind == TokenKind::kName ? scope_of(word.text) : std::nullopt;
    if (!part && word.kind == TokenKind::kName && names_a_stage(word.text)) {
      return fail(
          word,
          "{} is no scope: compute and graphics have the accesses read, write and uniform; copy and host have read and write; indirect has read; all and device have all of them; none has none.",
          in_quotes(word.text));
    }
    if (!part) {
      return fail_expecting(
          word,
          "a scope: compute, copy, indirect, graphics, host, device, all or none, as in compute.write or copy|compute.read");
    }
    const bool is_joined = lexer_.peek().is('|') || scope != Scope{};
    if (*part == Scope{} && is_joined) {
      return fail(word, "'none' is joined with another scope; it stands alone.");
    }
    scope.stages |= part->stages;
    scope.accesses |= part->accesses;
    if (!lexer_.peek().is('|')) return true;
    lexer_.next();
  }
}

bool LineReader::read_rest(LifetimeDraft& lifetime, LifetimeKind kind) {
  lifetime.label = label_;
  lifetime.kind = kind;
  const bool is_reset = kind == LifetimeKind::kReset;
  if (!take_name(is_reset ? "the name of a memory" : "the name of a tensor", ItemPart::kName,
                 lifetime.name)) {
    return false;
  }
  if (kind == LifetimeKind::kAdopt) {
    if (!take('=', "and the tensor whose bytes are adopted")) return false;
    if (!take_name("the name of a tensor", ItemPart::kBase, lifetime.source)) return false;
  }
  return read_queue_and_end(lifetime.queue);
}

bool LineReader::read_rest(WitnessDraft& witness) {
  if (!take_reference(ItemPart::kFirst, witness.moved)) return false;
  if (lexer_.peek().is('[')) {
    mark(ItemPart::kSlices, lexer_.peek());
    witness.slices.emplace();
    if (!take_range(witness.slices->first, witness.slices->second)) return false;
  }
  const Token word = lexer_.next();
  if (word.is("before")) {
    witness.kind = DisplacementKind::kBefore;
  } else if (word.is("after")) {
    witness.kind = DisplacementKind::kAfter;
  } else if (word.is("commits")) {
    witness.kind = DisplacementKind::kCommitsAfter;
    if (!take_word("after", "'after' after 'commits'")) return false;
  } else if (word.is("fetches")) {
    witness.kind = DisplacementKind::kFetchesBefore;
    if (!take_word("before", "'before' after 'fetches'")) return false;
  } else {
    return fail_expecting(word, "'before', 'after', 'commits after' or 'fetches before'");
  }
  return take_reference(ItemPart::kSecond, witness.anchor) &&
         (witness.kind != DisplacementKind::kFetchesBefore ||
          take_word("commits", "'commits' after the dispatch that writes")) &&
         take_end();
}

bool LineReader::read_rest(ExpectDraft& expect) {
  Token word = lexer_.next_word();
  if (word.is("encoder") && lexer_.peek().is('=')) {
    lexer_.next();
    const Token name = lexer_.next_word();
    if (name.kind != TokenKind::kName) return fail_expecting(name, "the name of an encoder");
    mark(ItemPart::kEncoder, name);
    expect.encoder = name.text;
    word = lexer_.next_word();
  }
  expect.is_clean = word.is("clean");
  return (expect.is_clean || read_expected_finding(word, expect)) && take_end();
}

bool LineReader::read_expected_finding(const Token& word, ExpectDraft& expect) {
  const auto kind = finding_kind_of(word.text);
  if (!kind || !is_checkable(*kind)) {
    return fail_expecting(
        word,
        "'clean' or what a check finds: RAW, WAR, WAW, reordered, clobber, uninitialized, use-after-free, alias, gradient, undeclared, deadlock or redundant");
  }
  expect.kind = *kind;
  if (expect.kind == FindingKind::kDeadlock) {
    do {
      operand_columns_.push_back(lexer_.peek().column);
      if (!take_reference(ItemPart::kFirst, expect.waiting.emplace_back())) return false;
    } while (lexer_.peek().kind != TokenKind::kEnd);
    return true;
  }
  if (!take_reference(ItemPart::kFirst, expect.first)) return false;
  return lexer_.peek().kind == TokenKind::kEnd || take_reference(ItemPart::kSecond, expect.second);
}

}  // namespace interlock
