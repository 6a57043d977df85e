//! Images that a script hands over: what they are is read from their bytes, not from what the script says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::wire::Image;

/// Bytes of one image; what model providers take.
pub(super) const LARGEST: usize = 5 << 20;
/// Images of one script.
pub(super) const MOST: usize = 8;

/// A data URL, or base64 by itself. The error says what is wrong with it.
pub(super) fn parse(data: &str, declared: Option<&str>) -> Result<Image, String> {
    let (data, declared) = match data.strip_prefix("data:") {
        Some(rest) => {
            let (header, data) = rest.split_once(',').ok_or("the data URL has no comma before its data")?;
            let mime = header.strip_suffix(";base64").ok_or("the data URL is not in base64")?;
            (data, Some(mime))
        }
        None => (data, declared),
    };
    if data.len() / 4 * 3 > LARGEST + 3 {
        return Err(format!("the image has more than {LARGEST} bytes"));
    }
    let compact: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(&compact).map_err(|error| format!("the image's data is not base64: {error}"))?;
    if bytes.len() > LARGEST {
        return Err(format!("the image has {} bytes; at most {LARGEST} are taken", bytes.len()));
    }
    let Some(mime_type) = sniff(&bytes) else {
        let what = declared.map(|declared| format!(" ({declared:?} was declared)")).unwrap_or_default();
        return Err(format!("the image is neither PNG, JPEG, GIF nor WebP{what}"));
    };
    Ok(Image { mime_type: mime_type.to_owned(), data: compact })
}

fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_that_of_the_bytes() {
        let gif = STANDARD.encode(b"GIF89a......");
        let image = Image { mime_type: "image/gif".into(), data: gif.clone() };
        assert_eq!(parse(&gif, Some("image/png")), Ok(image.clone()));
        assert_eq!(parse(&format!("data:image/png;base64,{gif}"), None), Ok(image));
    }

    #[test]
    fn what_is_no_image_is_said() {
        let text = STANDARD.encode("hello");
        for (data, problem) in [
            (text.as_str(), "the image is neither PNG, JPEG, GIF nor WebP"),
            ("???", "the image's data is not base64"),
            ("data:image/png,abc", "the data URL is not in base64"),
            ("data:image/png", "the data URL has no comma"),
        ] {
            assert!(parse(data, None).unwrap_err().starts_with(problem), "{data}");
        }
        assert!(parse(&"A".repeat(8 << 20), None).unwrap_err().starts_with("the image has more than"));
    }
}
