//! Points in time as text. Always in UTC, so no time zone data is needed in the step's image.

use std::time::{SystemTime, UNIX_EPOCH};

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: u64,
    millisecond: u32,
}

/// `2006-01-02T15:04:05.000Z`, the form of start times in termination messages.
pub(crate) fn started_at(time: SystemTime) -> String {
    let Civil {
        year,
        month,
        day,
        second_of_day: s,
        millisecond,
    } = civil(time);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millisecond:03}Z",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// `2006/01/02 15:04:05`, the form of log lines.
pub(crate) fn log_time(time: SystemTime) -> String {
    let Civil {
        year,
        month,
        day,
        second_of_day: s,
        ..
    } = civil(time);
    format!(
        "{year:04}/{month:02}/{day:02} {:02}:{:02}:{:02}",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// Days to date by the usual arithmetic on eras of 400 years that begin in March.
fn civil(time: SystemTime) -> Civil {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let days = i64::try_from(since.as_secs() / 86_400).unwrap_or_default() + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    Civil {
        year: era * 400 + year_of_era + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
        second_of_day: since.as_secs() % 86_400,
        millisecond: since.subsec_millis(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_right() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_868_799_001, "2000-02-29T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_764_547_200_500, "2025-12-01T00:00:00.500Z"),
        ] {
            assert_eq!(started_at(UNIX_EPOCH + Duration::from_millis(millis)), text);
        }
    }
}
