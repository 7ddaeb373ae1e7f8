//! The recipes that come with the program.

use super::check::read_recipe;
use super::format::Recipe;

/// Name of the file, and what is in it.
const FILES: [(&str, &str); 4] = [
    ("dexscreener-token-read.json", include_str!("bundled/dexscreener-token-read.json")),
    ("gmgn-token-read.json", include_str!("bundled/gmgn-token-read.json")),
    ("fixture-catalog.json", include_str!("bundled/fixture-catalog.json")),
    ("generic-search.json", include_str!("bundled/generic-search.json")),
];

/// Read like those of a user; the test below holds that all of them are.
pub fn bundled_recipes() -> Vec<Recipe> {
    FILES.iter().filter_map(|(name, text)| read_recipe(text.as_bytes(), name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_recipe_is_read_and_named_as_its_file() {
        for (name, text) in FILES {
            let recipe = read_recipe(text.as_bytes(), name).unwrap();
            assert_eq!(format!("{}.json", recipe.id), name);
            assert!(!recipe.prompt_hints.is_empty() && !recipe.url_patterns.is_empty(), "{name}");
        }
        assert_eq!(bundled_recipes().len(), FILES.len());
    }
}
