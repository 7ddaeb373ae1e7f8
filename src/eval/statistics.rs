//! The figures of several runs: how often they succeed, how sure that is, and the run in the middle.

/// How many standard deviations hold 95 of 100.
const Z: f64 = 1.959_963_984_540_054;

/// Between which shares the true one lies, in 95 of 100 evaluations: Wilson's interval, which also holds for few runs and
/// for shares near 0 and 1. <https://doi.org/10.1080/01621459.1927.10502953>
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WilsonInterval {
    pub low: f64,
    pub high: f64,
}

impl WilsonInterval {
    pub fn of_runs(succeeded: usize, runs: usize) -> Self {
        if runs == 0 {
            return Self { low: 0.0, high: 1.0 };
        }
        let (count, share) = (runs as f64, succeeded as f64 / runs as f64);
        let spread = Z * Z / count;
        let middle = (share + spread / 2.0) / (1.0 + spread);
        let half = Z * (share * (1.0 - share) / count + spread / (4.0 * count)).sqrt() / (1.0 + spread);
        // Rounding must not hide that none failed, or none succeeded.
        let low = if succeeded == 0 { 0.0 } else { middle - half };
        let high = if succeeded >= runs { 1.0 } else { middle + half };
        Self { low, high }
    }
}

/// The value in the middle, between the two in the middle where there is none.
pub fn median_of(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)?;
    Some(lower.midpoint(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(succeeded: usize, runs: usize, low: f64, high: f64) {
        let interval = WilsonInterval::of_runs(succeeded, runs);
        let near = |left: f64, right: f64| (left - right).abs() < 0.0005;
        assert!(near(interval.low, low) && near(interval.high, high), "{succeeded}/{runs}: {interval:?}");
    }

    /// Against values that are printed in textbooks and by other programs.
    #[test]
    fn the_interval_is_wilsons() {
        check(0, 10, 0.0, 0.2775);
        check(10, 10, 0.7225, 1.0);
        check(5, 10, 0.2366, 0.7634);
        check(1, 1, 0.2065, 1.0);
        check(81, 263, 0.2553, 0.3662);
        check(0, 0, 0.0, 1.0);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let check = |values: &[u64], expected: Option<u64>| {
            assert_eq!(median_of(values.iter().copied()), expected, "{values:?}");
        };
        check(&[], None);
        check(&[3], Some(3));
        check(&[9, 1, 5], Some(5));
        check(&[1, 2, 9, 4], Some(3));
    }

    proptest::proptest! {
        #[test]
        fn the_share_lies_in_its_interval(succeeded in 0usize..200, failed in 0usize..200) {
            proptest::prop_assume!(succeeded + failed > 0);
            let interval = WilsonInterval::of_runs(succeeded, succeeded + failed);
            let share = succeeded as f64 / (succeeded + failed) as f64;
            proptest::prop_assert!(interval.low <= share + 1e-12 && share <= interval.high + 1e-12);
            proptest::prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
        }
    }
}
