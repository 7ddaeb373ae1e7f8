//! From text to steps. Does not know the tree: an unknown role is not an error here.
//!
//! Models like to escape quotes once too often (`Button[name=\"OK\"]`). The text is therefore read
//! as it was written first, where `\"` inside quotes is a quote, and only when that fails once more
//! with one level of escapes removed. Canonical text always succeeds at the first reading, so the
//! habit of others cannot break what we print ourselves.

use super::{
    ANY_ROLE, Axis, FlagKey, Literal, MAX_PATTERNS, MAX_PREDICATES, MAX_STEPS, Pattern, Role, Selector,
    SelectorError, SelectorPredicate, SelectorStep, Test, TextKey,
};

type ParseResult<T> = std::result::Result<T, SelectorError>;

const EXCERPT_CHARS: usize = 80;

pub(super) fn parse(text: &str) -> ParseResult<Selector> {
    SelectorError::check_length("text", text.len())?;
    let as_written = read(text);
    if as_written.is_ok() || !(text.contains("\\\"") || text.contains("\\'")) {
        return as_written;
    }
    let unescaped = read(&remove_one_level_of_escapes(text));
    if unescaped.is_ok() || first_quote_is_escaped(text) { unescaped } else { as_written }
}

/// `[A-Za-z_*][\w*]*`
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(starts_identifier) && text.chars().all(continues_identifier)
}

fn starts_identifier(character: char) -> bool {
    character.is_ascii_alphabetic() || matches!(character, '_' | '*')
}

fn continues_identifier(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '*')
}

fn remove_one_level_of_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(escaped_character(character, &mut characters).unwrap_or(character));
    }
    plain
}

/// The character that a backslash stands before, if it is one that can be escaped.
fn escaped_character(character: char, following: &mut std::str::Chars<'_>) -> Option<char> {
    let next = following.clone().next().filter(|next| matches!(next, '"' | '\'' | '\\'))?;
    (character == '\\').then(|| {
        following.next();
        next
    })
}

/// Tells which of two failed readings the caller meant.
fn first_quote_is_escaped(text: &str) -> bool {
    text.split_once(['"', '\'']).is_some_and(|(before, _)| before.ends_with('\\'))
}

fn read(text: &str) -> ParseResult<Selector> {
    let mut parser = Parser { rest: text, predicates: 0, patterns: 0, warnings: Vec::new() };
    let mut next = Some(parser.leading_axis()?);
    let mut steps = Vec::new();
    while let Some(axis) = next {
        if steps.len() == MAX_STEPS {
            return Err(SelectorError::too_many("steps", MAX_STEPS));
        }
        steps.push(parser.step(axis)?);
        next = parser.parse_combinator()?;
    }
    let selector = Selector { steps, warnings: parser.warnings };
    selector.check_limits()?;
    Ok(selector)
}

struct Parser<'a> {
    rest: &'a str,
    predicates: usize,
    patterns: usize,
    warnings: Vec<String>,
}

/// Steps and what stands between them.
impl Parser<'_> {
    fn leading_axis(&mut self) -> ParseResult<Axis> {
        self.skip_blanks();
        // `.//Button` and `./Button`: the dot is where every selector starts anyway.
        if self.rest.starts_with("./") {
            self.eat_char('.');
        }
        let axis = axis_of(self.count_slashes());
        if self.rest.is_empty() {
            return fail("the selector is empty; write for example Window/Button[name=\"OK\"]");
        }
        Ok(axis)
    }

    /// What leads to the next step; `None` at the end. A slash after the last step means nothing.
    fn parse_combinator(&mut self) -> ParseResult<Option<Axis>> {
        let blank = self.skip_blanks();
        let slashes = self.count_slashes();
        if self.rest.is_empty() {
            return Ok(None);
        }
        if slashes > 0 {
            return Ok(Some(axis_of(slashes)));
        }
        if self.eat_char('>') {
            self.skip_blanks();
            return Ok(Some(Axis::Child));
        }
        if blank { Ok(Some(Axis::Descendant)) } else { self.unexpected_character() }
    }

    fn unexpected_character<T>(&self) -> ParseResult<T> {
        fail(format!(
            "unexpected '{}'; join steps by / or //, and write a role with other characters as *[role=\"…\"]",
            error_excerpt(self.rest)
        ))
    }

    fn count_slashes(&mut self) -> usize {
        let mut count = 0;
        while self.eat_char('/') {
            count += 1;
            self.skip_blanks();
        }
        count
    }

    fn step(&mut self, axis: Axis) -> ParseResult<SelectorStep> {
        let role = self.role()?;
        let mut step = SelectorStep { axis, role, predicates: Vec::new() };
        while self.parse_suffix(&mut step)? {}
        Ok(step)
    }

    fn role(&mut self) -> ParseResult<Option<Role>> {
        let start = self.rest;
        self.eat_char('.');
        if self.rest.starts_with(starts_identifier) {
            let role = self.take_while(continues_identifier);
            return Ok((role != ANY_ROLE).then(|| Role::parse(role)));
        }
        if TEXT_PSEUDO_CLASSES.iter().any(|word| starts_with_call(self.rest, word)) {
            return Ok(None);
        }
        let hint = if start.len() > 1 && start.starts_with('[') { "; write * for any role" } else { "" };
        fail(format!("cannot parse step role from '{}'{hint}", error_excerpt(start)))
    }

    /// One predicate in any of its spellings; false when the step has ended.
    fn parse_suffix(&mut self, step: &mut SelectorStep) -> ParseResult<bool> {
        let before = self.rest;
        let blank = self.skip_blanks();
        let predicate = match self.rest.chars().next() {
            Some('[') => Some(self.parse_bracket()?),
            Some('"' | '\'') => Some(name_test(Test::Equals(Literal::new(self.parse_quoted()?)))),
            Some(':') if !blank => self.pseudo_class()?,
            _ => {
                self.rest = before;
                return Ok(false);
            }
        };
        self.count(predicate.is_some())?;
        step.predicates.extend(predicate);
        Ok(true)
    }

    fn count(&mut self, one_more: bool) -> ParseResult<()> {
        self.predicates += usize::from(one_more);
        if self.predicates > MAX_PREDICATES {
            return Err(SelectorError::too_many("predicates", MAX_PREDICATES));
        }
        Ok(())
    }
}

fn axis_of(slashes: usize) -> Axis {
    if slashes > 1 { Axis::Descendant } else { Axis::Child }
}

fn name_test(test: Test) -> SelectorPredicate {
    SelectorPredicate::Text(TextKey::Name, test)
}

/// `[key op value]`
impl Parser<'_> {
    fn parse_bracket(&mut self) -> ParseResult<SelectorPredicate> {
        let start = self.rest;
        self.eat_char('[');
        self.skip_blanks();
        let key = self.key(start)?;
        self.skip_blanks();
        let operator = self.parse_operator(start)?;
        self.count_pattern(operator)?;
        self.skip_blanks();
        let value = self.value()?;
        self.skip_blanks();
        if !self.eat_char(']') {
            return fail(format!("missing ']' after the value in '{}'", error_excerpt(start)));
        }
        build_predicate(&key, operator, value)
    }

    /// Before it is compiled, which is what costs.
    fn count_pattern(&mut self, operator: Operator) -> ParseResult<()> {
        self.patterns += usize::from(operator == Operator::Matches);
        if self.patterns > MAX_PATTERNS {
            return Err(SelectorError::too_many("regular expressions", MAX_PATTERNS));
        }
        Ok(())
    }

    fn key(&mut self, start: &str) -> ParseResult<String> {
        // XPath writes attributes with @; here it makes no difference.
        self.eat_char('@');
        let word = self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if word.is_empty() {
            return fail(format!("cannot parse predicate key from '{}'", error_excerpt(start)));
        }
        let call = if self.eat_text("()") { "()" } else { "" };
        Ok(format!("{word}{call}"))
    }

    fn parse_operator(&mut self, start: &str) -> ParseResult<Operator> {
        for (text, operator) in OPERATORS {
            if self.eat_text(text) {
                return Ok(*operator);
            }
        }
        if self.rest.starts_with(']') {
            return fail(format!(
                "predicate '{}' has no operator; write [key=\"value\"] or [index=0]",
                error_excerpt(start)
            ));
        }
        fail(format!(
            "unknown operator in '{}'; use = (equal), *= (contains) or ~= (regex)",
            error_excerpt(start)
        ))
    }

    fn value(&mut self) -> ParseResult<String> {
        if self.rest.starts_with(['"', '\'']) {
            return self.parse_quoted();
        }
        let word = self.take_while(|character| character != ']' && !character.is_whitespace());
        let digits = word.strip_prefix('-').unwrap_or(word);
        let number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if number || matches!(word, "true" | "false") {
            return Ok(word.to_owned());
        }
        fail(format!("value '{}' must be in quotes, or be a number, true or false", error_excerpt(word)))
    }

    /// A text in either kind of quotes. A backslash before anything else than a quote or a
    /// backslash stands for itself, as in `\d`.
    fn parse_quoted(&mut self) -> ParseResult<String> {
        let mut characters = self.rest.chars();
        let quote = characters.next();
        let mut text = String::new();
        while let Some(character) = characters.next() {
            match escaped_character(character, &mut characters) {
                Some(escaped) => text.push(escaped),
                None if Some(character) == quote => {
                    self.rest = characters.as_str();
                    return Ok(text);
                }
                None => text.push(character),
            }
        }
        fail(format!("unclosed quote at '{}'", error_excerpt(self.rest)))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Equals,
    Contains,
    Matches,
}

const OPERATORS: &[(&str, Operator)] =
    &[("=", Operator::Equals), ("*=", Operator::Contains), ("~=", Operator::Matches)];

fn build_predicate(key: &str, operator: Operator, value: String) -> ParseResult<SelectorPredicate> {
    Ok(match key {
        "name" | "text" | "text()" | "aria-label" | "label" => name_test(test(operator, value)?),
        "value" => SelectorPredicate::Text(TextKey::Value, test(operator, value)?),
        "role" => SelectorPredicate::Text(TextKey::Role, test(operator, value)?),
        "keyboard_shortcut" => SelectorPredicate::Text(TextKey::Shortcut, test(operator, value)?),
        "index" => SelectorPredicate::Index(index(operator, &value)?),
        "id" => {
            only_equals(key, operator)?;
            SelectorPredicate::Id(value)
        }
        _ => match FlagKey::parse(key) {
            Some(state) => SelectorPredicate::Flag(state, flag(key, operator, &value)?),
            None => return unknown_key(key),
        },
    })
}

/// Waiting for what no element has would be waiting in vain.
fn unknown_key<T>(key: &str) -> ParseResult<T> {
    let known: Vec<&str> = TEXT_KEYS.iter().copied().chain(FlagKey::ALL.map(FlagKey::name)).collect();
    let near = crate::text::nearest(key, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    fail(format!("unknown key '{}'{near}; known keys are {}", error_excerpt(key), known.join(", ")))
}

const TEXT_KEYS: &[&str] = &["name", "value", "role", "keyboard_shortcut", "index", "id"];

fn test(operator: Operator, value: String) -> ParseResult<Test> {
    Ok(match operator {
        Operator::Equals => Test::Equals(Literal::new(value)),
        Operator::Contains => Test::Contains(Literal::new(value)),
        Operator::Matches => Test::Matches(compile_pattern(&value)?),
    })
}

fn flag(key: &str, operator: Operator, value: &str) -> ParseResult<bool> {
    only_equals(key, operator)?;
    value.parse().or_else(|_| fail(format!("{key} must be true or false, not '{}'", error_excerpt(value))))
}

fn index(operator: Operator, value: &str) -> ParseResult<u32> {
    only_equals("index", operator)?;
    whole_number(value).ok_or(()).or_else(|()| {
        fail(format!("index must be a whole number from 0 to {}, not '{}'", u32::MAX, error_excerpt(value)))
    })
}

/// Digits only: the standard parser would let a plus sign through.
fn whole_number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn only_equals(key: &str, operator: Operator) -> ParseResult<()> {
    if operator == Operator::Equals {
        return Ok(());
    }
    fail(format!("{key} can only be compared with ="))
}

fn compile_pattern(source: &str) -> ParseResult<Pattern> {
    Pattern::compile_whole(source)
        .or_else(|problem| fail(format!("regex '{}' is invalid: {problem}", error_excerpt(source))))
}

const TEXT_PSEUDO_CLASSES: &[&str] = &["has-text", "text", "contains"];

fn starts_with_call(text: &str, word: &str) -> bool {
    text.strip_prefix(':').and_then(|text| text.strip_prefix(word)).is_some_and(|text| text.starts_with('('))
}

/// `:word(…)`
impl<'a> Parser<'a> {
    fn pseudo_class(&mut self) -> ParseResult<Option<SelectorPredicate>> {
        let start = self.rest;
        self.eat_char(':');
        let word = self.take_while(|character| character.is_alphanumeric() || matches!(character, '_' | '-'));
        let argument = self.parse_argument(start)?;
        let written = start.strip_suffix(self.rest).unwrap_or(start);
        match word {
            "" => fail(format!("cannot parse pseudo-class from '{}'", error_excerpt(start))),
            _ if TEXT_PSEUDO_CLASSES.contains(&word) => text_argument(written, argument).map(Some),
            "nth-of-type" => nth_of_type(written, argument).map(Some),
            // Reading over this one would select exactly what the caller wanted to leave out.
            "not" => {
                fail(format!("'{}' is not supported; write what to match instead", error_excerpt(written)))
            }
            _ => {
                self.warnings
                    .push(format!("'{}' has no effect here and was ignored", error_excerpt(written)));
                Ok(None)
            }
        }
    }

    fn parse_argument(&mut self, start: &str) -> ParseResult<Option<&'a str>> {
        let Some(inside) = self.rest.strip_prefix('(') else { return Ok(None) };
        let Some(length) = closing_parenthesis(inside) else {
            return fail(format!("missing ')' in '{}'", error_excerpt(start)));
        };
        let (argument, after) = inside.split_at(length);
        self.rest = after;
        self.eat_char(')');
        Ok(Some(argument.trim()))
    }
}

fn closing_parenthesis(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => return Some(at),
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

fn text_argument(written: &str, argument: Option<&str>) -> ParseResult<SelectorPredicate> {
    let mut parser =
        Parser { rest: argument.unwrap_or(""), predicates: 0, patterns: 0, warnings: Vec::new() };
    if parser.rest.starts_with(['"', '\'']) {
        let text = parser.parse_quoted()?;
        if parser.rest.is_empty() {
            return Ok(name_test(Test::Contains(Literal::new(text))));
        }
    }
    fail(format!("'{}' needs one string in quotes", error_excerpt(written)))
}

fn nth_of_type(written: &str, argument: Option<&str>) -> ParseResult<SelectorPredicate> {
    match argument.and_then(whole_number).and_then(|number| number.checked_sub(1)) {
        Some(index) => Ok(SelectorPredicate::Index(index)),
        None => fail(format!("'{}' needs a whole number from 1", error_excerpt(written))),
    }
}

/// The characters themselves.
impl<'a> Parser<'a> {
    fn eat_char(&mut self, character: char) -> bool {
        let after = self.rest.strip_prefix(character);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn eat_text(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn skip_blanks(&mut self) -> bool {
        !self.take_while(char::is_whitespace).is_empty()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let after = self.rest.trim_start_matches(accept);
        let (taken, after) = self.rest.split_at(self.rest.len() - after.len());
        self.rest = after;
        taken
    }
}

fn fail<T>(message: impl Into<String>) -> ParseResult<T> {
    Err(SelectorError(message.into()))
}

/// The place of an error, cut with a mark so that a message stays a line.
fn error_excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", text.split_at(end).0),
        None => text.to_owned(),
    }
}
