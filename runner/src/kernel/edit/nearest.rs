//! Finds the lines that somebody may have meant whose text does not occur. Pure, over folded text.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Lines that are told.
const TOLD: usize = 3;
/// Lines of the text that are compared one by one, at as many places as begin like it.
const COMPARED: usize = 200;
const BEGINNINGS: usize = 1_000;
/// Likeness from which a line is told, of 1000.
const LIKE: usize = 500;

/// What comes nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Nearest {
    /// All lines of the text, but with other white space before them; the first line.
    Indented(usize),
    /// So many first lines of the text, from this line on, before one that is different.
    Begins { line: usize, same: usize },
    /// Lines that are like the longest line of the text, the most alike first.
    Alike(Vec<usize>),
}

/// What comes nearest to a text in a file; both are folded. Lines are counted from 0.
pub(super) fn nearest(file: &[u8], text: &[u8]) -> Nearest {
    let wanted: Vec<&[u8]> = text.trim_ascii().split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    let lines = file.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    // The longest; of those, the first.
    let mut best: Option<(usize, usize)> = None;
    let mut begun = 0;
    let mut rest = lines.clone().enumerate();
    while begun < BEGINNINGS {
        let from_here = rest.clone();
        let Some((number, line)) = rest.next() else { break };
        if Some(&line) == wanted.first() {
            begun += 1;
            let pairs = from_here.map(|(_, line)| line).zip(wanted.iter().take(COMPARED));
            let same = pairs.take_while(|(there, wanted)| there == *wanted).count();
            if best.is_none_or(|(most, _)| same > most) {
                best = Some((same, number));
            }
        }
    }
    match best {
        Some((same, line)) if same == wanted.len() => Nearest::Indented(line),
        Some((same, line)) => Nearest::Begins { line, same },
        None => Nearest::Alike(alike(lines, wanted.iter().max_by_key(|line| line.len()).copied().unwrap_or_default())),
    }
}

/// The lines that share the most pairs of bytes with one (Dice's coefficient, over the pairs that occur in it).
fn alike<'a>(lines: impl Iterator<Item = &'a [u8]>, wanted: &[u8]) -> Vec<usize> {
    let index = |pair: &[u8]| match pair {
        [a, b] => usize::from(a.to_ascii_lowercase()) << 8 | usize::from(b.to_ascii_lowercase()),
        _ => 0,
    };
    let mut pairs = vec![false; 1 << 16];
    for pair in wanted.windows(2) {
        if let Some(occurs) = pairs.get_mut(index(pair)) {
            *occurs = true;
        }
    }
    // By likeness, then by line: at most three are kept, however many lines there are.
    let mut best: BTreeSet<(Reverse<usize>, usize)> = BTreeSet::new();
    for (number, line) in lines.enumerate() {
        let all = (wanted.len() + line.len()).saturating_sub(2);
        let shared = line.windows(2).filter(|pair| pairs.get(index(pair)) == Some(&true)).count().min(wanted.len());
        let likeness = (2000 * shared).checked_div(all).unwrap_or(0);
        if likeness >= LIKE {
            best.insert((Reverse(likeness), number));
            if best.len() > TOLD {
                best.pop_last();
            }
        }
    }
    best.into_iter().map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"fn main() {\n    let a = 1;\n    let b = 2;\n}\n\nfn other() {\n    let a = 1;\n}\n";

    #[test]
    fn the_place_where_a_text_begins_or_is_indented_otherwise_is_found() {
        assert_eq!(nearest(FILE, b"let a = 1;\nlet b = 2;"), Nearest::Indented(1));
        assert_eq!(nearest(FILE, b"  let a = 1;\n  let b = 3;"), Nearest::Begins { line: 1, same: 1 });
        assert_eq!(nearest(FILE, b"fn other() {\n    let a = 1;\n    let c;"), Nearest::Begins { line: 5, same: 2 });
    }

    #[test]
    fn lines_that_are_alike_are_found_and_others_are_not() {
        assert_eq!(nearest(FILE, b"let bb = 22;"), Nearest::Alike(vec![2, 1, 6]));
        assert_eq!(nearest(FILE, b"fn mian() {"), Nearest::Alike(vec![0]));
        assert_eq!(nearest(FILE, "völlig".as_bytes()), Nearest::Alike(vec![]));
        assert_eq!(nearest(b"", b"x"), Nearest::Alike(vec![]));
    }
}
