//! Whether a text is a clock that went on: nothing of it differs but a time of day or a duration, and that by as much
//! time as passed. An appointment that jumps by five hours in three seconds is no clock.

use std::time::Duration;

/// Windows are read a little before and after the question and the answer.
const SLACK_SECONDS: u64 = 2;
const HOUR: u64 = 3_600;

/// A text in pieces: what stands around its times, and the times, each as its numbers.
#[derive(Debug, Default, PartialEq, Eq)]
struct TimedText<'a> {
    around: Vec<&'a str>,
    times: Vec<Vec<u64>>,
}

/// Whether the text went on by the time that passed, forwards or, as a countdown does, backwards.
pub fn is_tick(then: &str, now: &str, passed: Duration) -> bool {
    let (then, now) = (TimedText::of(then), TimedText::of(now));
    let pairs = || then.times.iter().zip(&now.times);
    then.around == now.around
        && then.times.len() == now.times.len()
        && !then.times.is_empty()
        && pairs().all(|(then, now)| went_on(then, now, passed.as_secs()))
}

/// `7:59` may be minutes and seconds or hours and minutes.
fn went_on(then: &[u64], now: &[u64], passed: u64) -> bool {
    let units: &[(u64, u64)] = match then.len() {
        2 => &[(1, 1), (60, 60)],
        _ => &[(1, 1)],
    };
    let seconds = |numbers: &[u64], last: u64| numbers.iter().fold(0, |sum, part| sum * 60 + part) * last;
    then.len() == now.len()
        && units.iter().any(|&(last, coarse)| {
            let (then, now) = (seconds(then, last), seconds(now, last));
            let now = now + begun_anew(then, now);
            then.abs_diff(now).abs_diff(passed) <= coarse + SLACK_SECONDS
        })
}

/// What a clock dropped when it began anew: at midnight after 23, and at one after 12 where it counts to twelve. Any
/// other step by half a day or a whole one is another time.
fn begun_anew(then: u64, now: u64) -> u64 {
    match (then / HOUR, now / HOUR) {
        (23, 0) => 24 * HOUR,
        (12, 1) => 12 * HOUR,
        _ => 0,
    }
}

impl<'a> TimedText<'a> {
    fn of(text: &'a str) -> Self {
        let mut found = Self::default();
        let mut rest = text;
        let mut from = 0;
        while let Some(start) = rest[from..].find(|letter: char| letter.is_ascii_digit()) {
            let start = from + start;
            let length = word_length(&rest[start..]);
            match read_time(&rest[start..start + length]) {
                Some(time) => {
                    found.around.push(&rest[..start]);
                    found.times.push(time);
                    rest = &rest[start + length..];
                    from = 0;
                }
                None => from = start + length,
            }
        }
        found.around.push(rest);
        found
    }
}

/// Of digits and colons, as many as stand together.
fn word_length(text: &str) -> usize {
    text.find(|letter: char| !letter.is_ascii_digit() && letter != ':').unwrap_or(text.len())
}

/// `23:59`, `23:59:07`: two or three numbers, all but the first of two digits below 60.
fn read_time(word: &str) -> Option<Vec<u64>> {
    let parts: Vec<&str> = word.split(':').collect();
    let (first, others) = parts.split_first()?;
    let is_time = (1..=2).contains(&first.len())
        && (1..=2).contains(&others.len())
        && others.iter().all(|part| part.len() == 2 && *part < "60");
    is_time.then(|| parts.iter().filter_map(|part| part.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(then: &str, now: &str, seconds: u64, expected: bool) {
        assert_eq!(is_tick(then, now, Duration::from_secs(seconds)), expected, "{then:?} {now:?}");
    }

    #[test]
    fn a_clock_goes_on_by_the_time_that_passed() {
        check("12:04:31", "12:04:36", 5, true);
        check("Tue 17 Nov, 23:59", "Tue 17 Nov, 0:00", 5, true);
        check("12:59:59 PM", "1:00:04 PM", 5, true);
        check("4:58 of 9:00 left", "4:53 of 9:00 left", 5, true);
        check("ends in 4:58", "ends in 4:53", 5, true);
        check("01:00:00", "00:59:50", 10, true);
        check("12:04", "12:05", 3, true);
    }

    #[test]
    fn whatever_else_differs_is_a_change() {
        check("12:04:31", "12:04:31", 5, false);
        check("12:04:31", "12:09:31", 5, false);
        check("10:00", "15:00", 5, false);
        for (then, now) in [("09:30", "21:30"), ("21:30", "09:30"), ("12:30", "0:30"), ("0:10", "12:10")] {
            check(&format!("Run at {then}"), &format!("Run at {now}"), 1, false);
            check(&format!("Run at {then}:07"), &format!("Run at {now}:08"), 1, false);
        }
        check("Pay 10 EUR", "Pay 15 EUR", 5, false);
        check("10:00 to Alice", "10:00 to Mallory", 5, false);
        check("1000:05", "9000:10", 5, false);
        check("10:99", "10:94", 5, false);
        check("at 12:04:31", "12:04:36", 5, false);
        check("", "", 0, false);
        check("12:00:01é", "12:00:06é", 5, true);
    }
}
