//! What holds for every file and every edit.

use std::ops::Range;

use proptest::prelude::*;

use super::*;

/// A file with every line ending, a mark, typography, broken bytes, and often no last line ending.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[abc]{1,3}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "\n", "\r\n", "\r", " ", "\t", "“", "’", "—", "\u{a0}", "\u{feff}", "é", "\"", "'", "-"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        Just(vec![0xff]),
        Just(vec![0xe2, 0x80]),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Every place of a text, found in the most naive way.
fn places(file: &[u8], text: &str) -> Vec<Range<usize>> {
    (0..=file.len())
        .filter(|start| file[*start..].starts_with(text.as_bytes()))
        .map(|start| start..start + text.len())
        .collect()
}

fn run(file: &[u8], edits: &[Edit]) -> Result<Vec<u8>, ToolError> {
    edited("f", file, edits, &Cancel::default()).map(|(text, _)| text)
}

fn edit(old: &str, new: &str) -> Edit {
    Edit { old_text: old.into(), new_text: new.into() }
}

/// A piece of the file that is text, chosen by two numbers.
fn piece(file: &[u8], from: prop::sample::Index, length: usize) -> Option<String> {
    let from = from.index(file.len().max(1));
    let end = (from + length).min(file.len());
    String::from_utf8(file.get(from..end)?.to_vec()).ok().filter(|piece| !piece.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn one_edit_within_a_line_is_what_a_naive_replacement_gives(
        file in file(), from: prop::sample::Index, length in 1_usize..12, new in "[xyz“]{0,5}",
    ) {
        let Some(old) = piece(&file, from, length) else { return Ok(()) };
        prop_assume!(!old.starts_with('\n') && old != new);
        let places = places(&file, &old);
        let result = run(&file, &[edit(&old, &new)]);
        match places.as_slice() {
            [place] => {
                let naive = [&file[..place.start], new.as_bytes(), &file[place.end..]].concat();
                prop_assert_eq!(result.unwrap(), naive);
            }
            _ => prop_assert!(matches!(result, Err(ToolError::Failed(_)))),
        }
    }

    #[test]
    fn whatever_is_edited_every_byte_outside_the_place_stays(
        file in file(), old in "[abc\"'\\- \n]{1,6}", new in "[xyz\n]{0,6}",
    ) {
        let place = match Original::new(&file).find(&old) {
            Place::Once { range, .. } => range,
            Place::Several { .. } | Place::Nowhere => {
                prop_assert!(old == new || run(&file, &[edit(&old, &new)]).is_err());
                return Ok(());
            }
        };
        if let Ok(text) = run(&file, &[edit(&old, &new)]) {
            prop_assert!(text.starts_with(&file[..place.start]), "{:?} {:?}", file, text);
            prop_assert!(text.ends_with(&file[place.end..]));
            let middle = &text[place.start..text.len() - (file.len() - place.end)];
            // Line endings aside, what stands there is the new text.
            let plain = String::from_utf8(middle.to_vec()).unwrap().replace("\r\n", "\n").replace('\r', "\n");
            prop_assert_eq!(plain, new);
        }
    }

    #[test]
    fn several_edits_are_made_in_the_original_whatever_their_order(
        file in file(), first: prop::sample::Index, second: prop::sample::Index, length in 1_usize..6,
        new_first in "[abc]{0,4}", new_second in "[abc]{0,4}",
    ) {
        let (Some(one), Some(two)) = (piece(&file, first, length), piece(&file, second, length)) else { return Ok(()) };
        prop_assume!(!one.starts_with('\n') && !two.starts_with('\n'));
        let ([a], [b]) = (&places(&file, &one)[..], &places(&file, &two)[..]) else { return Ok(()) };
        let edits = [edit(&one, &new_first), edit(&two, &new_second)];
        let result = run(&file, &edits);
        let mut turned = edits;
        turned.reverse();
        let again = run(&file, &turned);
        if a.start.max(b.start) < a.end.min(b.end) {
            prop_assert!(matches!(result, Err(ToolError::InvalidArguments(_))));
            prop_assert!(again.is_err());
        } else if new_first == one || new_second == two {
            prop_assert!(result.is_err());
        } else {
            let ((a, x), (b, y)) =
                if a.start < b.start { ((a, &new_first), (b, &new_second)) } else { ((b, &new_second), (a, &new_first)) };
            let naive = [&file[..a.start], x.as_bytes(), &file[a.end..b.start], y.as_bytes(), &file[b.end..]].concat();
            prop_assert_eq!(&result.unwrap(), &naive);
            prop_assert_eq!(again.unwrap(), naive);
        }
    }

    #[test]
    fn a_text_is_found_though_it_was_typed_on_a_keyboard_with_other_line_endings(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["a", "b", "“", "”", "’", "—", " ", "\u{a0}", "\t", "\n", "\r\n"]), 1..30,
        ),
        from: prop::sample::Index, length in 1_usize..30,
    ) {
        let file = pieces.concat();
        let Some(taken) = piece(file.as_bytes(), from, length) else { return Ok(()) };
        let typed: String = taken
            .replace("\r\n", "\n")
            .chars()
            .map(|character| match character {
                '“' | '”' => '"',
                '’' => '\'',
                '—' => '-',
                '\u{a0}' => ' ',
                other => other,
            })
            .collect();
        prop_assume!(!typed.trim().is_empty() && !taken.ends_with('\r') && !taken.starts_with('\n'));
        let found = Original::new(file.as_bytes()).find(&typed);
        prop_assert!(found != Place::Nowhere, "{typed:?}");
    }

    #[test]
    fn no_file_and_no_edit_make_a_message_or_a_difference_panic(
        file in file(), old in "\\PC{0,4}[abc\r\n ]{1,6}", new in "[a\r\n]{0,6}",
    ) {
        let _ = edited("f", &file, &[edit(&old, &new), edit("a", &new), edit("b", "")], &Cancel::default());
        let _ = edited("f", &file, &[edit("a", &new), edit("b", &old)], &Cancel::default());
        let _ = edited("f", &file, &[edit("c", &old)], &Cancel::default());
    }
}
