//! What a model costs: a dated table of prices, and whole numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;

use super::store::Usage;
use crate::config;

/// From LiteLLM's table; `taken` is its date.
const BUILT_IN: &str = include_str!("prices.json");
const PICO: f64 = 1e12;
const LARGEST_FILE: u64 = 16 << 20;

/// An amount in picodollars: prices per token are exact in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

impl Cost {
    pub fn from_usd(dollars: f64) -> Self {
        Self((dollars.max(0.0) * PICO).round() as u64)
    }

    pub fn usd(self) -> f64 {
        self.0 as f64 / PICO
    }

    pub fn add(&mut self, other: Cost) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "${:.4}", self.usd())
    }
}

/// Picodollars per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    rate: TokenRate,
    /// For requests with more input than this.
    above: Option<(u64, TokenRate)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TokenRate {
    input: u64,
    cached_input: u64,
    cache_write: u64,
    output: u64,
}

impl Price {
    /// Of one answer. Cached tokens, read and written, are part of the input.
    pub fn cost(&self, usage: Usage) -> Cost {
        let rate = match self.above {
            Some((most, rate)) if usage.input > most => rate,
            _ => self.rate,
        };
        let fresh = usage.input.saturating_sub(usage.cached_input).saturating_sub(usage.cache_writes);
        let parts = [
            (fresh, rate.input),
            (usage.cached_input, rate.cached_input),
            (usage.cache_writes, rate.cache_write),
            (usage.output, rate.output),
        ];
        Cost(
            parts
                .into_iter()
                .fold(0_u64, |sum, (tokens, price)| sum.saturating_add(tokens.saturating_mul(price))),
        )
    }
}

#[derive(Clone, Debug)]
pub struct PriceTable {
    models: BTreeMap<String, PriceFields>,
}

/// LiteLLM's fields, in dollars per token.
type PriceFields = BTreeMap<String, serde_json::Value>;

#[derive(Deserialize)]
struct BuiltInPrices {
    models: BTreeMap<String, PriceFields>,
}

impl PriceTable {
    /// The built-in table; the models of the file replace those of the same name.
    pub fn load(file: Option<&Path>) -> Result<Self, String> {
        let mut models = Self::built_in()?.models.clone();
        if let Some(path) = file {
            models.extend(read_prices(path)?);
        }
        Ok(Self { models })
    }

    /// Read once: every job needs it.
    fn built_in() -> Result<&'static BuiltInPrices, String> {
        static READ: OnceLock<Result<BuiltInPrices, String>> = OnceLock::new();
        let read = READ.get_or_init(|| {
            serde_json::from_str(BUILT_IN).map_err(|problem| format!("the built-in prices: {problem}"))
        });
        read.as_ref().map_err(Clone::clone)
    }

    /// By the whole name, by the name behind its provider, or by the name without its date.
    pub fn price_of(&self, model: &str) -> Option<Price> {
        self.find_entry(model).or_else(|| self.find_entry(undated(model)?)).and_then(read_price)
    }

    fn find_entry(&self, model: &str) -> Option<&PriceFields> {
        let behind = |name: &str| name.rsplit_once('/').is_some_and(|(_, name)| name == model);
        self.models.get(model).or_else(|| {
            let mut fitting = self.models.iter().filter(|(name, _)| behind(name));
            fitting.next().map(|(_, entry)| entry)
        })
    }
}

/// `model-20251001`, `model-2025-10-01` and `model-latest` are priced as `model`.
fn undated(model: &str) -> Option<&str> {
    let is_date = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let at = |from_end: usize| model.len().checked_sub(from_end).and_then(|at| model.split_at_checked(at));
    let dashed = at(11).filter(|(_, end)| end.starts_with('-') && is_date(&end.replace('-', "")));
    let plain = at(9).filter(|(_, end)| end.starts_with('-') && is_date(&end[1..]));
    dashed.or(plain).map(|(name, _)| name).or_else(|| model.strip_suffix("-latest"))
}

/// What the models of a job cost, as far as it is known.
pub struct JobPrices {
    /// `None` where nothing costs anything.
    table: Option<PriceTable>,
}

impl JobPrices {
    pub fn load(config: &config::Planner) -> Result<Self, String> {
        let load = || PriceTable::load(config.prices.as_deref());
        Ok(Self { table: (!config.free).then(load).transpose()? })
    }

    /// `None` where the price is not known. Who has no model pays nothing.
    pub fn cost(&self, model: Option<&str>, usage: Usage) -> Option<Cost> {
        match (&self.table, model) {
            (Some(table), Some(model)) => table.price_of(model).map(|price| price.cost(usage)),
            _ => Some(Cost::default()),
        }
    }

    /// What the dearest of them would take; `None` where one of the prices is not known.
    pub fn highest_cost(&self, models: &[String], usage: Usage) -> Option<Cost> {
        let costs: Option<Vec<Cost>> = models.iter().map(|model| self.cost(Some(model), usage)).collect();
        costs.map(|costs| costs.into_iter().max().unwrap_or_default())
    }
}

fn read_prices(path: &Path) -> Result<BTreeMap<String, PriceFields>, String> {
    let named = |problem: String| format!("planner.prices {}: {problem}", path.display());
    let length = path.metadata().map_err(|problem| named(problem.to_string()))?.len();
    if length > LARGEST_FILE {
        return Err(named(format!("it has {length} bytes, the limit is {LARGEST_FILE}")));
    }
    let text = std::fs::read_to_string(path).map_err(|problem| named(problem.to_string()))?;
    serde_json::from_str(&text).map_err(|problem| named(problem.to_string()))
}

fn read_price(entry: &PriceFields) -> Option<Price> {
    let rate = read_rate(entry, "")?;
    let above = ["100k", "128k", "200k", "256k", "272k"].into_iter().find_map(|most| {
        let higher = read_rate(entry, &format!("_above_{most}_tokens"))?;
        let thousands: u64 = most.trim_end_matches('k').parse().ok()?;
        Some((thousands * 1000, higher))
    });
    Some(Price { rate, above })
}

/// A model without a price for what is read from the cache, or written into it, takes its full price.
fn read_rate(entry: &PriceFields, suffix: &str) -> Option<TokenRate> {
    let field = |name: &str| {
        let dollars = entry.get(&format!("{name}{suffix}"))?.as_f64()?;
        (0.0..1.0).contains(&dollars).then(|| Cost::from_usd(dollars).0)
    };
    let input = field("input_cost_per_token")?;
    let cached_input = field("cache_read_input_token_cost").unwrap_or(input);
    // A table that has 0 there means that the vendor does not charge for writing, not for reading the words.
    let cache_write = field("cache_creation_input_token_cost").filter(|price| *price > 0).unwrap_or(input);
    Some(TokenRate { input, cached_input, cache_write, output: field("output_cost_per_token")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(model: &str, (input, cached_input, output): (u64, u64, u64), dollars: &str) {
        let price = PriceTable::load(None).unwrap().price_of(model).expect(model);
        let usage = Usage { input, cached_input, output, ..Usage::default() };
        assert_eq!(price.cost(usage).to_string(), dollars, "{model}");
    }

    #[test]
    fn a_cost_is_the_sum_of_its_parts() {
        check("gpt-5.4-mini", (1_000_000, 0, 0), "$0.7500");
        check("gpt-5.4-mini", (1_000_000, 1_000_000, 0), "$0.0750");
        check("gpt-5.4-mini", (100_000, 40_000, 10_000), "$0.0930");
        check("gpt-5.4-mini", (0, 0, 0), "$0.0000");
    }

    #[test]
    fn what_is_written_into_a_cache_has_its_own_price() {
        let table = PriceTable::load(None).unwrap();
        let usage =
            Usage { input: 1_000_000, cached_input: 400_000, cache_writes: 200_000, ..Usage::default() };
        // 0.4 million at 3 dollars, 0.4 at 0.3, 0.2 at 3.75.
        let cost = table.price_of("claude-sonnet-4-5").unwrap().cost(usage);
        assert_eq!(cost.to_string(), "$2.0700");
        let cost = table.price_of("gpt-5.4-mini").unwrap().cost(usage);
        assert_eq!(cost.to_string(), "$0.4800", "no price of its own: as fresh input");
    }

    #[test]
    fn a_model_with_a_date_costs_what_it_costs_without() {
        for dated in ["claude-haiku-4-5-20251001", "gpt-5.4-mini-2026-03-17", "gpt-5-latest"] {
            assert!(PriceTable::load(None).unwrap().price_of(dated).is_some(), "{dated}");
        }
        for other in ["gpt-5-2026", "gpt-5-turbo", "-20251001", "é-20251001"] {
            assert_eq!(PriceTable::load(None).unwrap().price_of(other), None, "{other}");
        }
    }

    #[test]
    fn long_requests_cost_more_where_the_table_says_so() {
        check("gpt-5.4", (272_000, 0, 0), "$0.6800");
        check("gpt-5.4", (300_000, 0, 0), "$1.5000");
    }

    #[test]
    fn a_model_is_found_behind_its_provider() {
        check("gemini-2.5-flash", (1_000_000, 0, 0), "$0.3000");
        assert_eq!(PriceTable::load(None).unwrap().price_of("no-such-model"), None);
    }

    #[test]
    fn every_built_in_model_has_a_price() {
        let table = PriceTable::load(None).unwrap();
        assert!(table.models.len() >= 40);
        for model in table.models.keys() {
            assert!(table.price_of(model).is_some_and(|price| price != Price::default()), "{model}");
        }
    }

    #[test]
    fn a_file_replaces_prices_and_a_bad_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.json");
        let with = |text: &str| {
            std::fs::write(&path, text).unwrap();
            PriceTable::load(Some(&path))
        };
        let mine = r#"{"gpt-5.4-mini": {"input_cost_per_token": 0.00001, "output_cost_per_token": 0}}"#;
        let price = with(mine).unwrap().price_of("gpt-5.4-mini").unwrap();
        assert_eq!(price.cost(Usage { input: 100, ..Usage::default() }), Cost::from_usd(0.001));
        for broken in ["{", r#"{"m": 5}"#] {
            assert!(with(broken).unwrap_err().contains("planner.prices"));
        }
        let negative = r#"{"m": {"input_cost_per_token": -1, "output_cost_per_token": 1}}"#;
        assert_eq!(with(negative).unwrap().price_of("m"), None);
    }
}
