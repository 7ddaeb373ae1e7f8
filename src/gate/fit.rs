//! The one place that fits a reply into the tokens that a caller has for it.
//!
//! A tool that knows better shortens by itself (an outline by lines, a tree by depth); what is still too long
//! loses the ends of its lists and texts here. Nothing is cut without a word: `truncated`, what was `dropped`
//! and from where, and in `more` what the whole would take.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::call_events::json_length;
use crate::tokens::{Writing, bytes, tokens_for_bytes};

/// The argument that says how much a caller has.
const ARGUMENT: &str = "max_tokens";

/// What the notes about the cut take themselves.
const NOTES_BYTES: usize = 160;
/// A text that is shorter is not worth cutting.
const SHORTEST_CUT_TEXT: usize = 80;

/// Of the steps of a list the last is the one that matters: it stays, and the first go.
const KEEPS_ITS_END: &str = "/steps";

/// What was taken from one list or text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// Where it stands in the reply, as a JSON pointer.
    path: String,
    /// Entries of a list, bytes of a text.
    kept: usize,
    of: usize,
}

/// Shortens a reply until it fits, and says so in it. The outline beside it has been fitted already and is
/// charged first.
pub fn fit_reply(reply: &mut Value, outline_bytes: usize, max_tokens: usize) {
    let beside = tokens_for_bytes(Writing::Outline, outline_bytes);
    let room = bytes(Writing::Json, max_tokens.saturating_sub(beside));
    let whole = json_length(reply);
    if whole <= room {
        return;
    }
    let cuts = cut_reply(reply, room.saturating_sub(NOTES_BYTES));
    if let (Some(reply), false) = (reply.as_object_mut(), cuts.is_empty()) {
        note_cuts(reply, &cuts, tokens_for_bytes(Writing::Json, whole) + beside);
    }
}

fn note_cuts(reply: &mut Map<String, Value>, cuts: &[Cut], whole: usize) {
    reply.insert("truncated".to_owned(), true.into());
    reply.insert("dropped".to_owned(), json!(cuts));
    // Rounded up, because it is an estimate.
    reply.insert("more".to_owned(), json!({ ARGUMENT: whole.div_ceil(100) * 100 }));
}

fn cut_reply(reply: &mut Value, room: usize) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    loop {
        let now = json_length(reply);
        if now <= room {
            return cuts;
        }
        let Some(place) = CutPlace::to_cut(reply, now - room) else {
            return cuts;
        };
        let Some(cut) =
            reply.pointer_mut(&place.path).and_then(|part| shorten_part(part, &place.path, now - room))
        else {
            return cuts;
        };
        // The same list may lose more in a second round; it had as many as it had at first.
        match cuts.iter_mut().find(|earlier| earlier.path == cut.path) {
            Some(earlier) => earlier.kept = cut.kept,
            None => cuts.push(cut),
        }
    }
}

/// A list or a text that could be shorter.
#[derive(Debug)]
struct CutPlace {
    path: String,
    bytes: usize,
}

impl CutPlace {
    /// The smallest that can pay alone, so that as little as possible goes with it; else the largest.
    fn to_cut(reply: &Value, excess: usize) -> Option<CutPlace> {
        let mut places = Vec::new();
        collect_places(reply, String::new(), &mut places);
        let pays = |place: &&CutPlace| place.bytes > excess;
        let smallest =
            places.iter().filter(pays).min_by_key(|place| place.bytes).map(|place| place.path.clone());
        let at = match smallest {
            Some(path) => places.iter().position(|place| place.path == path),
            None => places.iter().enumerate().max_by_key(|(_, place)| place.bytes).map(|(at, _)| at),
        };
        at.map(|at| places.swap_remove(at))
    }
}

/// Replies are written by us: how deep they go is bounded by the trees that we read.
fn collect_places(value: &Value, path: String, places: &mut Vec<CutPlace>) {
    match value {
        Value::Array(items) => {
            let least = usize::from(path == KEEPS_ITS_END);
            if items.len() > least {
                places.push(CutPlace { path: path.clone(), bytes: json_length(value) });
            }
            for (at, item) in items.iter().enumerate() {
                collect_places(item, format!("{path}/{at}"), places);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                collect_places(item, format!("{path}/{}", crate::text::escape_pointer(name)), places);
            }
        }
        Value::String(text) if text.len() > SHORTEST_CUT_TEXT && !path.contains("/error/") => {
            places.push(CutPlace { path, bytes: text.len() - SHORTEST_CUT_TEXT });
        }
        _ => {}
    }
}

fn take_entry(items: &mut Vec<Value>, keeps_its_end: bool) -> Option<Value> {
    if keeps_its_end { (items.len() > 1).then(|| items.remove(0)) } else { items.pop() }
}

fn shorten_part(part: &mut Value, path: &str, excess: usize) -> Option<Cut> {
    let path = path.to_owned();
    match part {
        Value::Array(items) => {
            let of = items.len();
            let mut gone = 0;
            while gone < excess
                && let Some(item) = take_entry(items, path == KEEPS_ITS_END)
            {
                gone += json_length(&item) + 1;
            }
            Some(Cut { path, kept: items.len(), of })
        }
        Value::String(text) => {
            let of = text.len();
            // The mark at the end takes its room too: without it a cut could leave the text as long as it was.
            let mark = '…'.len_utf8();
            let most = of.saturating_sub(excess + mark).max(SHORTEST_CUT_TEXT - mark);
            let mut end = most.min(of);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            // A whole line is better than half of one.
            if let Some(line) = text[..end].rfind('\n').filter(|line| *line > end / 2) {
                end = line;
            }
            (end < of).then(|| {
                text.truncate(end);
                text.push('…');
                Cut { path, kept: end, of }
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn windows(count: usize) -> Value {
        let window = |number: usize| json!({"title": format!("Window number {number}"), "pid": number});
        json!({"ok": true, "count": count, "windows": (0..count).map(window).collect::<Vec<_>>()})
    }

    fn tokens_of(value: &Value) -> usize {
        tokens_for_bytes(Writing::Json, json_length(value))
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut reply = windows(3);
        fit_reply(&mut reply, 0, 1000);
        assert_eq!(reply, windows(3));
    }

    #[test]
    fn a_list_loses_its_end_and_says_so() {
        let mut reply = windows(50);
        fit_reply(&mut reply, 0, 200);
        let kept = reply["windows"].as_array().unwrap().len();
        assert!((1..50).contains(&kept), "{kept}");
        assert_eq!(reply["truncated"], true);
        assert_eq!(reply["dropped"], json!([{"path": "/windows", "kept": kept, "of": 50}]));
        let whole = reply["more"]["max_tokens"].as_u64().unwrap() as usize;
        let mut again = windows(50);
        fit_reply(&mut again, 0, whole);
        assert_eq!(again, windows(50), "what `more` says is enough");
    }

    #[test]
    fn the_last_step_stays() {
        let step = |number: usize| json!({"step": number, "note": "x".repeat(30)});
        let mut reply = json!({"steps": (0..20).map(step).collect::<Vec<_>>()});
        fit_reply(&mut reply, 0, 100);
        let steps = reply["steps"].as_array().unwrap();
        assert!((1..20).contains(&steps.len()) && steps.last() == Some(&step(19)), "{reply}");
        fit_reply(&mut reply, 0, 1);
        assert_eq!(reply["steps"], json!([step(19)]));
    }

    #[test]
    fn of_two_lists_the_one_that_can_pay_goes() {
        let mut reply = json!({"small": ["a", "b"], "large": vec!["x".repeat(60); 40]});
        fit_reply(&mut reply, 0, 300);
        assert_eq!(reply["small"], json!(["a", "b"]));
        assert!(reply["large"].as_array().unwrap().len() < 40);
    }

    #[test]
    fn a_text_is_cut_at_the_end_of_a_line() {
        let mut reply = json!({"sketch": "0123456789\n".repeat(200)});
        fit_reply(&mut reply, 0, 200);
        assert!(reply["sketch"].as_str().unwrap().ends_with("0123456789…"), "{reply}");
        assert!(tokens_of(&reply) <= 200);
    }

    #[test]
    fn a_text_of_one_line_is_cut_too() {
        let mut reply = json!({"text": "word ".repeat(5000)});
        fit_reply(&mut reply, 0, 200);
        assert!(reply["text"].as_str().unwrap().ends_with('…'), "{reply}");
        assert!(tokens_of(&reply) <= 200);
    }

    #[test]
    fn the_outline_is_charged_first() {
        let mut reply = windows(10);
        let enough = tokens_of(&reply);
        fit_reply(&mut reply, 4000, enough + 10);
        assert_eq!(reply["truncated"], true);
    }

    proptest! {
        #[test]
        fn whatever_can_be_cut_fits(
            lists in prop::collection::vec(prop::collection::vec("[a-zé\\n]{0,200}", 0..20), 0..5),
            most in 150usize..2000,
        ) {
            let mut reply = json!({"ok": true, "lists": lists});
            let whole = reply.clone();
            fit_reply(&mut reply, 0, most);
            prop_assert!(tokens_of(&reply) <= most, "{} tokens of {}", tokens_of(&reply), most);
            prop_assert_eq!(reply.get("truncated").is_some(), reply != whole);
        }
    }
}
