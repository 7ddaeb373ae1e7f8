//! Any list of steps that `act` takes leaves a text editor with exactly what the steps say. The document is read from the
//! file that the editor saved.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::{Stage, own_desk, runs};
use crate::keys::Seeded;

/// A text with a caret in it, as an editor has it.
#[derive(Default)]
struct Page {
    signs: Vec<char>,
    caret: usize,
}

impl Page {
    fn insert(&mut self, text: &str) {
        let signs: Vec<char> = text.chars().collect();
        let end = self.caret + signs.len();
        self.signs.splice(self.caret..self.caret, signs);
        self.caret = end;
    }

    fn replace(&mut self, text: &str) {
        *self = Self::default();
        self.insert(text);
    }

    /// What one key does.
    fn press(&mut self, keys: &str) {
        match keys {
            "enter" => self.insert("\n"),
            "ctrl+home" => self.caret = 0,
            "ctrl+end" => self.caret = self.signs.len(),
            "left" => self.caret = self.caret.saturating_sub(1),
            "right" => self.caret = (self.caret + 1).min(self.signs.len()),
            "backspace" if self.caret > 0 => {
                self.caret -= 1;
                self.signs.remove(self.caret);
            }
            "delete" if self.caret < self.signs.len() => {
                self.signs.remove(self.caret);
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        self.signs.iter().collect()
    }
}

const KEYS: &[&str] = &["enter", "ctrl+home", "ctrl+end", "left", "right", "backspace", "delete"];

fn key(keys: &str) -> Value {
    json!({"do": "press_key", "keys": keys})
}

/// A step or a few that belong together, done to the page as well.
fn random_step(seeded: &mut Seeded, page: &mut Page) -> Vec<Value> {
    let text = seeded.text();
    match seeded.below(8) {
        0 => {
            page.replace(&text);
            // Where the caret is after it is the toolkit's own matter.
            vec![json!({"do": "set_value", "selector": "//Document", "value": text}), key("ctrl+end")]
        }
        1 => {
            page.insert(&text);
            vec![json!({"do": "clipboard_set", "text": text}), key("ctrl+v")]
        }
        2 => {
            page.replace(&text);
            vec![key("ctrl+a"), json!({"do": "type_text", "text": text})]
        }
        3 => {
            page.press("ctrl+end");
            vec![key("ctrl+a"), key("ctrl+c"), key("ctrl+end")]
        }
        4 | 5 => {
            let keys = KEYS[seeded.below(KEYS.len())];
            page.press(keys);
            vec![key(keys)]
        }
        _ => {
            page.insert(&text);
            vec![json!({"do": "type_text", "text": text})]
        }
    }
}

#[test]
fn gedit_saves_exactly_what_random_steps_make() {
    let desk = own_desk();
    let path = desk.write("steps.txt", "");
    let mut stage = Stage::new(&desk, "gedit", &[path.to_str().unwrap()], "steps", 20);
    for seed in 0..runs(3) {
        let (mut seeded, mut page) = (Seeded(1_000 + seed), Page::default());
        let mut steps = vec![key("ctrl+a"), key("delete")];
        for _ in 0..10 {
            steps.extend(random_step(&mut seeded, &mut page));
        }
        // The last letter tells one run from the next.
        let last = format!("#{seed}");
        page.press("ctrl+end");
        page.insert(&last);
        steps.extend([key("ctrl+end"), json!({"do": "type_text", "text": last}), key("ctrl+s")]);
        stage.ok("act", json!({"steps": steps}));
        // The editor ends its last line.
        let wanted = format!("{}\n", page.text());
        let began = Instant::now();
        let mut saved = String::new();
        while saved != wanted && began.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
            saved = std::fs::read_to_string(&path).unwrap_or_default();
        }
        assert_eq!(saved, wanted, "seed {seed}: {}", json!(steps));
    }
}
