//! Recipes: what is known of a site beforehand. A recipe sharpens the prompt of a model, and one with steps needs none.
//!
//! A recipe is data from outside, also the user's own: it is read in full, bounded and checked before anything uses it,
//! and it has no way to act but the calls that its planner makes through the gate. Nothing here starts a browser.

pub mod bundled;
mod check;
pub mod completion;
pub mod elements;
pub mod format;
pub mod input;
pub mod learn;
mod learn_expect;
mod learn_result;
pub mod library;
pub mod matching;
pub mod places;
pub mod session;

pub use check::{check_recipe, read_recipe};
pub use completion::{CompletedRun, Completion};
pub use format::{Recipe, RecipeState};
pub use library::{KeptRecipe, RecipeLibrary, RecipeSource};
pub use session::{PROFILE_REQUIRED, SessionFacts};
