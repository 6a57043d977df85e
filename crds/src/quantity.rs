//! Reads amounts as Kubernetes writes them (`1Gi`, `500M`, `1e9`, `1500m`): the operator to bound volumes, the command line
//! to bound what a job may write on a laptop.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// The amount in whole units, rounded up as Kubernetes does. `None` when it is malformed, negative or beyond 2^63.
#[must_use]
pub fn whole(quantity: &Quantity) -> Option<u64> {
    let text = quantity.0.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(digits)?;
    let (numerator, denominator) = scale(suffix)?;
    let (integer, fraction) = number.strip_prefix('+').unwrap_or(number).split_once('.').unwrap_or((number, ""));
    let integer = integer.strip_prefix('+').unwrap_or(integer);
    // 18 digits are more than an amount can be precise to, and their product with a scale fits.
    if integer.len() > 18 || fraction.len() > 18 || (integer.is_empty() && fraction.is_empty()) {
        return None;
    }
    let digits = format!("{integer}{fraction}");
    let value: u128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let tenths = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let amount = value.checked_mul(numerator)?.div_ceil(tenths.checked_mul(denominator)?);
    u64::try_from(amount).ok().filter(|amount| *amount <= i64::MAX.unsigned_abs())
}

/// What a suffix multiplies with, as a fraction.
fn scale(suffix: &str) -> Option<(u128, u128)> {
    Some(match suffix {
        "n" => (1, 1_000_000_000),
        "u" => (1, 1_000_000),
        "m" => (1, 1_000),
        "" => (1, 1),
        "k" => (1_000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        "Ei" => (1 << 60, 1),
        exponent => {
            let exponent: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            let power =
                10_u128.checked_pow(exponent.unsigned_abs()).filter(|power| *power <= 1_000_000_000_000_000_000)?;
            if exponent < 0 { (1, power) } else { (power, 1) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<u64> {
        whole(&Quantity(text.into()))
    }

    #[test]
    fn amounts_are_read_as_kubernetes_reads_them() {
        for (text, amount) in [
            ("0", 0),
            ("1", 1),
            ("1Gi", 1 << 30),
            ("64Mi", 64 << 20),
            ("500M", 500_000_000),
            ("1.5Gi", 3 << 29),
            ("1500m", 2),
            ("100m", 1),
            ("1e9", 1_000_000_000),
            ("1E3", 1_000),
            ("2E", 2_000_000_000_000_000_000),
            ("+5k", 5_000),
            (".5Ki", 512),
            ("1.", 1),
        ] {
            assert_eq!(read(text), Some(amount), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_none() {
        for text in ["", "Gi", "-1", "1 Gi", "1gi", "1e", "ten", "1.2.3", "8Ei", "1e40", "99999999999999999999"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
