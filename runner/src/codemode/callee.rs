//! What a failed call tried to call, read from the source: the engine says "not a function" and nothing more.

/// Longest text that is quoted.
const LONGEST: usize = 60;

/// The expression before the parenthesis at a place that the engine gave, and what it is not: line from 1, column from 1.
/// `new x()` of something undefined is "not a function" to the engine. `None` when nothing sensible is there.
pub(super) fn callee<'a>(line: &str, column: u32, problem: &'a str) -> Option<(String, &'a str)> {
    let chars: Vec<char> = line.chars().collect();
    let start = usize::try_from(column).ok()?.checked_sub(1)?.min(chars.len().checked_sub(1)?);
    let before: String = chars.get(..start)?.iter().collect();
    let is_new = before.trim_end().ends_with("new") && before.ends_with(char::is_whitespace);
    let end = if is_new { chain_end(&chars, start) } else { part_end(&chars, start) };
    let begin = if is_new { start } else { chain_start(&chars, start) };
    let text: String = chars.get(begin..end)?.iter().collect();
    let text = text.trim().trim_start_matches('.').to_owned();
    let is_name =
        text.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$' | '[' | '(' | '"' | '\''));
    let problem = if is_new { "not a constructor" } else { problem };
    (is_name && text.chars().count() <= LONGEST).then_some((text, problem))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '#')
}

/// The end of one name or one bracket that begins at `start`.
fn part_end(chars: &[char], start: usize) -> usize {
    match chars.get(start) {
        Some('[') => closing(chars, start).map_or(chars.len(), |at| at + 1),
        Some(c) if is_word(*c) => {
            let mut end = start + chars.iter().skip(start).take_while(|c| is_word(**c)).count();
            // `o["x"]()`: the engine points at `o`.
            while chars.get(end) == Some(&'[') {
                end = closing(chars, end).map_or(chars.len(), |at| at + 1);
            }
            end
        }
        // The engine points behind a bracket or at the parenthesis in some forms.
        _ => start,
    }
}

/// The end of a chain of names and brackets that begins at `start`.
fn chain_end(chars: &[char], start: usize) -> usize {
    let mut end = part_end(chars, start);
    loop {
        let next = match chars.get(end) {
            Some('.') => part_end(chars, end + 1),
            Some('[') => part_end(chars, end),
            _ => return end,
        };
        if next <= end + 1 {
            return end;
        }
        end = next;
    }
}

/// The beginning of the chain of names, brackets and calls that ends where `start` begins.
fn chain_start(chars: &[char], start: usize) -> usize {
    let mut at = start;
    loop {
        let mut before = at;
        let is_bracket = chars.get(at) == Some(&'[') || chars.get(at) == Some(&'(');
        if !is_bracket {
            match before.checked_sub(1).and_then(|index| chars.get(index)) {
                Some('.') => before -= 1,
                _ => return at,
            }
            if before.checked_sub(1).and_then(|index| chars.get(index)) == Some(&'?') {
                before -= 1;
            }
        }
        let Some(previous) = before.checked_sub(1).and_then(|index| chars.get(index)) else { return at };
        at = match previous {
            ']' | ')' => match opening(chars, before - 1) {
                Some(open) => open,
                None => return at,
            },
            c if is_word(*c) => before - chars.iter().take(before).rev().take_while(|c| is_word(**c)).count(),
            '"' | '\'' => match quote_start(chars, before - 1) {
                Some(open) => return open,
                None => return at,
            },
            _ => return at,
        };
    }
}

/// The bracket that closes the one at `open`.
fn closing(chars: &[char], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, c) in chars.iter().enumerate().skip(open) {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// The bracket that opens the one at `close`.
fn opening(chars: &[char], close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for index in (0..=close).rev() {
        match chars.get(index)? {
            ']' | ')' => depth += 1,
            '[' | '(' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

fn quote_start(chars: &[char], close: usize) -> Option<usize> {
    let quote = chars.get(close)?;
    (0..close).rev().find(|index| chars.get(*index) == Some(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_14_the_expression_that_was_called_is_quoted() {
        for (line, column, expected) in [
            ("o.foo(1);", 3, "o.foo"),
            ("  const a = o[\"x y\"](1, 2)", 13, "o[\"x y\"]"),
            ("return q();", 8, "q"),
            ("[1,2].foo().map(x => x)", 7, "[1,2].foo"),
            ("a.b?.c.d(1)", 8, "a.b?.c.d"),
            ("f(1)(2).g(3)", 9, "f(1)(2).g"),
            ("await tools.nope({})", 13, "tools.nope"),
        ] {
            let found = callee(line, column, "not a function");
            assert_eq!(found, Some((expected.to_owned(), "not a function")), "{line}");
        }
        let found = callee("return new o.a(1, 2)", 12, "not a function");
        assert_eq!(found, Some(("o.a".to_owned(), "not a constructor")));
        assert_eq!(callee("", 1, "not a function"), None);
        assert_eq!(callee("(0, 5)()", 6, "not a function"), None);
    }
}
