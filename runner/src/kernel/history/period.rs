//! The bounds of a time span as a caller writes them. Pure.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::display;
use crate::tool::ToolError;

/// The commits between two times, both included, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) since: i64,
    pub(super) until: i64,
}

impl Period {
    /// Reads `since` and `until`: a day in UTC (the whole of it) or a time with its zone.
    pub(super) fn parse(since: Option<&str>, until: Option<&str>) -> Result<Self, ToolError> {
        Ok(Self {
            since: since.map_or(Ok(i64::MIN), |text| instant("since", text, false))?,
            until: until.map_or(Ok(i64::MAX), |text| instant("until", text, true))?,
        })
    }

    pub(super) const fn holds(self, time: i64) -> bool {
        self.since <= time && time <= self.until
    }
}

fn instant(name: &str, text: &str, is_end: bool) -> Result<i64, ToolError> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_second());
    }
    let day = text.len() == 10;
    text.parse::<Date>()
        .ok()
        .filter(|_| day)
        .and_then(|date| date.to_zoned(TimeZone::UTC).ok())
        .map(|zoned| zoned.timestamp().as_second() + if is_end { 86_399 } else { 0 })
        .ok_or_else(|| {
            let shown = display::name(display::prefix(text, 60).as_bytes());
            ToolError::InvalidArguments(format!(
                "git_log: {name} must be a day like 2026-05-01 or a time like 2026-05-01T12:00:00Z; got the text \"{shown}\""
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_counts_as_a_whole_and_a_time_as_it_is() {
        let parse =
            |since, until| Period::parse(Some(since), Some(until)).map(|Period { since, until }| (since, until));
        assert_eq!(parse("1970-01-02", "1970-01-02"), Ok((86_400, 172_799)));
        assert_eq!(parse("1970-01-01T01:00:00+01:00", "1970-01-01T00:00:09Z"), Ok((0, 9)));
        assert_eq!(
            parse("yesterday", "1970-01-02").unwrap_err().to_string(),
            "git_log: since must be a day like 2026-05-01 or a time like 2026-05-01T12:00:00Z; got the text \"yesterday\""
        );
    }
}
