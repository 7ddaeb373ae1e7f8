//! Fields that take a date in parts, one for each of year, month and day, in the order of the locale: as Firefox does for
//! `<input type=date>`. A date that is typed there as it is written goes into the wrong parts.

use crate::error::{Error, Kind, Result};
use crate::model::input::Handle;

/// One part of a date field.
#[derive(Clone, Debug, PartialEq)]
pub struct DatePart {
    pub handle: Handle,
    /// In the language of the application: `Month`, `Monat`.
    pub name: String,
    /// Digits, or letters in their place: `mm`.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateUnit {
    Year,
    Month,
    Day,
}

/// How months begin in the languages of applications, in small letters.
const MONTHS: &[&str] =
    &["mon", "moi", "mes", "mês", "maa", "mån", "mie", "měs", "mje", "mán", "ay", "мес", "міс", "月", "월"];
/// What stands for a month that is not filled in.
const MONTH_LETTERS: &[char] = &['m', 'м', '月', '월'];

/// What to type into each part, for a date as it is written everywhere. Nothing has been typed when this is refused.
pub fn digits_of_parts(name: &str, parts: &[DatePart], text: &str) -> Result<Vec<String>> {
    let (year, month, day) = parse_date(text).ok_or_else(|| {
        Error::bad_request(format!("'{name}' takes a date, written YYYY-MM-DD; '{text}' is none"))
    })?;
    let units = units_of(parts).ok_or_else(|| {
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        let message = format!(
            "which part of the date '{name}' is the month is not known ({}); set each part by itself",
            names.join(", ")
        );
        Error::new(Kind::PatternUnsupported, message)
    })?;
    let digits = |unit: DateUnit| match unit {
        DateUnit::Year => format!("{year:04}"),
        DateUnit::Month => format!("{month:02}"),
        DateUnit::Day => format!("{day:02}"),
    };
    Ok(units.into_iter().map(digits).collect())
}

/// Whether a text is a date as a date field takes it.
pub fn is_date(text: &str) -> bool {
    parse_date(text).is_some()
}

/// `2026-02-28`, and a day that there is.
fn parse_date(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.trim().split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| part.parse::<u32>().ok()).flatten()
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (parts.next().is_none() && year > 0 && (1..=days).contains(&day)).then_some((year, month, day))
}

/// Of three parts, which is which: the year is the long one, and the month says so.
fn units_of(parts: &[DatePart]) -> Option<Vec<DateUnit>> {
    let is_year = |part: &DatePart| part.text.chars().count() >= 4;
    let (years, others): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(|&at| is_year(&parts[at]));
    let ([year], [one, other]) = (&years[..], &others[..]) else { return None };
    let month = match (is_month(&parts[*one]), is_month(&parts[*other])) {
        (true, false) => one,
        (false, true) => other,
        _ => return None,
    };
    let unit = |at: usize| match at {
        _ if at == *year => DateUnit::Year,
        _ if at == *month => DateUnit::Month,
        _ => DateUnit::Day,
    };
    Some((0..parts.len()).map(unit).collect())
}

fn is_month(part: &DatePart) -> bool {
    let name = part.name.to_lowercase();
    MONTHS.iter().any(|word| name.starts_with(word)) || part.text.to_lowercase().starts_with(MONTH_LETTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(written: &[(&str, &str)]) -> Vec<DatePart> {
        let part = |(name, text): &(&str, &str)| DatePart {
            handle: Handle { window_uid: "w".to_owned(), native: (*name).to_owned() },
            name: (*name).to_owned(),
            text: (*text).to_owned(),
        };
        written.iter().map(part).collect()
    }

    #[track_caller]
    fn check(written: &[(&str, &str)], expected: &[&str]) {
        let digits = digits_of_parts("Day", &parts(written), "2026-03-09").unwrap();
        assert_eq!(digits, expected, "{written:?}");
    }

    #[test]
    fn parts_are_known_in_the_order_of_the_locale() {
        check(&[("Month", "mm"), ("Day", "dd"), ("Year", "yyyy")], &["03", "09", "2026"]);
        check(&[("Day", "31"), ("Month", "12"), ("Year", "1999")], &["09", "03", "2026"]);
        check(&[("Tag", "TT"), ("Monat", "MM"), ("Jahr", "JJJJ")], &["09", "03", "2026"]);
        check(&[("年", "2020"), ("月", "02"), ("日", "03")], &["2026", "03", "09"]);
        check(&[("x", "jj"), ("y", "mm"), ("z", "aaaa")], &["09", "03", "2026"]);
    }

    #[test]
    fn what_is_not_sure_is_refused_before_anything_is_typed() {
        for unknown in [
            &[("a", "01"), ("b", "02"), ("c", "2020")][..],
            &[("Month", "mm"), ("Mon", "mm"), ("Year", "yyyy")],
            &[("Month", "mm"), ("Day", "dd"), ("Hour", "hh")],
        ] {
            let refused = digits_of_parts("Day", &parts(unknown), "2026-03-09").unwrap_err();
            assert_eq!(refused.kind, Kind::PatternUnsupported, "{unknown:?}");
        }
    }

    #[test]
    fn only_a_day_that_there_is_is_a_date() {
        let english = parts(&[("Month", "mm"), ("Day", "dd"), ("Year", "yyyy")]);
        for wrong in [
            "",
            "tomorrow",
            "3/9/2026",
            "2026-2-3",
            "2026-02-30",
            "2026-13-01",
            "2026-01-01-01",
            "0000-01-01",
        ] {
            let refused = digits_of_parts("Day", &english, wrong).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{wrong}");
        }
        assert!(digits_of_parts("Day", &english, "2024-02-29").is_ok());
        assert!(digits_of_parts("Day", &english, "1900-02-29").is_err());
    }
}
