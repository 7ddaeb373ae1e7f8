//! The talk with a model, and how much of it is told again: the newest results whole, older ones in a line, and the
//! newest pictures.

use std::borrow::Cow;

use serde_json::Value;

use super::written::CallForm;
use super::{CallResult, PlannerTurn};
use crate::text::shorten;
use crate::tool::Encoded;

/// Results of earlier turns are cut to a line of so many characters.
const OLD_RESULT: usize = 300;
/// Pictures that are sent along, the newest.
const MOST_PICTURES: usize = 2;
const NOT_MADE: &str = "not made, because an earlier call of the same answer failed";
const SEE_BELOW: &str = "see the next message";

#[derive(Debug, Default)]
pub struct Talk {
    parts: Vec<TalkPart>,
    /// The calls that the next results belong to.
    open: Vec<OpenCall>,
}

/// A call of the last answer, and how many results it has.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub id: String,
    pub name: String,
    pub form: CallForm,
    pub steps: usize,
}

#[derive(Debug)]
enum TalkPart {
    Told {
        text: String,
        picture: Option<Encoded>,
    },
    /// The model's own message, as the wire wants it back.
    Answered(Value),
    Result {
        call: OpenCall,
        text: String,
        failed: bool,
        picture: Option<Encoded>,
    },
}

/// A part of the talk as it is sent now.
#[derive(Debug)]
pub enum ShownPart<'a> {
    Told { text: &'a str, picture: Option<&'a Encoded> },
    Answered(&'a Value),
    Result(ShownResult<'a>),
}

#[derive(Debug)]
pub struct ShownResult<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub form: CallForm,
    pub text: Cow<'a, str>,
    pub failed: bool,
    pub picture: Option<&'a Encoded>,
}

impl Talk {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub fn tell(&mut self, text: impl Into<String>, picture: Option<Encoded>) {
        self.parts.push(TalkPart::Told { text: text.into(), picture });
    }

    pub fn note_answer(&mut self, message: Value, open: Vec<OpenCall>) {
        self.parts.push(TalkPart::Answered(message));
        self.open = open;
    }

    /// The results of the last answer's calls, each under its id, and what the runner says.
    pub fn note_turn(&mut self, turn: &PlannerTurn) {
        let mut results = turn.results.iter();
        for call in std::mem::take(&mut self.open) {
            let own: Vec<&CallResult> = results.by_ref().take(call.steps).collect();
            self.parts.push(joined_result(call, &own, turn.remark.is_some()));
        }
        if let Some(remark) = turn.remark {
            self.tell(remark, None);
        }
    }

    /// What is sent now.
    pub fn shown(&self) -> Vec<ShownPart<'_>> {
        let newest = self.parts.iter().rposition(|part| matches!(part, TalkPart::Answered(_))).unwrap_or(0);
        let pictures = self.parts.iter().filter(|part| part.picture().is_some()).count();
        let mut passed = 0;
        let mut show = |(at, part): (usize, &'_ TalkPart)| {
            passed += usize::from(part.picture().is_some());
            (at > newest, passed + MOST_PICTURES > pictures)
        };
        let marks: Vec<(bool, bool)> = self.parts.iter().enumerate().map(&mut show).collect();
        self.parts
            .iter()
            .zip(marks)
            .map(|(part, (is_new, with_picture))| part.shown(is_new, with_picture))
            .collect()
    }
}

/// Writes parts for a wire whose results are texts: pictures stand behind all results of their answer.
pub fn write_parts(
    talk: &[ShownPart],
    mut write: impl FnMut(&ShownPart, &mut Vec<Value>, &mut Vec<Value>),
) -> Vec<Value> {
    let (mut written, mut pictures) = (Vec::new(), Vec::new());
    for part in talk {
        if !matches!(part, ShownPart::Result(_)) {
            written.append(&mut pictures);
        }
        write(part, &mut written, &mut pictures);
    }
    written.append(&mut pictures);
    written
}

/// What stands before a screenshot that a call took.
pub const SCREENSHOT_BELOW: &str = "The screenshot of the last call:";

impl TalkPart {
    fn picture(&self) -> Option<&Encoded> {
        match self {
            TalkPart::Told { picture, .. } | TalkPart::Result { picture, .. } => picture.as_ref(),
            TalkPart::Answered(_) => None,
        }
    }

    fn shown(&self, is_new: bool, with_picture: bool) -> ShownPart<'_> {
        let shown_picture = self.picture().filter(|_| with_picture);
        match self {
            TalkPart::Told { text, .. } => ShownPart::Told { text, picture: shown_picture },
            TalkPart::Answered(message) => ShownPart::Answered(message),
            TalkPart::Result { call, text, failed, .. } => ShownPart::Result(ShownResult {
                id: &call.id,
                name: &call.name,
                form: call.form,
                text: if is_new { Cow::Borrowed(text) } else { Cow::Owned(in_one_line(text)) },
                failed: *failed,
                picture: shown_picture,
            }),
        }
    }
}

fn in_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&line, OLD_RESULT).into_owned()
}

/// What came of a call; one that was not made is answered too, because servers want an answer to each.
fn joined_result(call: OpenCall, results: &[&CallResult], has_remark: bool) -> TalkPart {
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    let text = match (texts.is_empty(), has_remark) {
        (false, _) => texts.join("\n"),
        (true, true) => SEE_BELOW.to_owned(),
        (true, false) => NOT_MADE.to_owned(),
    };
    let failed = results.is_empty() || results.iter().any(|result| result.error.is_some());
    let picture = results.iter().rev().find_map(|result| result.picture.clone());
    TalkPart::Result { call, text, failed, picture }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Kind;

    fn result(text: &str, error: Option<Kind>) -> CallResult {
        CallResult { tool: "look".to_owned(), error, reply: json!({}), text: text.to_owned(), picture: None }
    }

    fn open(id: &str, steps: usize) -> OpenCall {
        OpenCall { id: id.to_owned(), name: "look".to_owned(), form: CallForm::Function, steps }
    }

    fn results(talk: &Talk) -> Vec<(String, String, bool)> {
        let read = |part: ShownPart| match part {
            ShownPart::Result(result) => {
                Some((result.id.to_owned(), result.text.into_owned(), result.failed))
            }
            _ => None,
        };
        talk.shown().into_iter().filter_map(read).collect()
    }

    fn note(talk: &mut Talk, calls: Vec<OpenCall>, given: &[CallResult]) {
        talk.note_answer(json!({}), calls);
        talk.note_turn(&PlannerTurn { goal: "", results: given, remark: None });
    }

    #[test]
    fn each_call_gets_the_results_of_its_steps() {
        let mut talk = Talk::default();
        let given = [result("one", None), result("two", None), result("three", Some(Kind::BadRequest))];
        note(&mut talk, vec![open("a", 2), open("b", 1), open("c", 1)], &given);
        let told = |id: &str, text: &str, failed| (id.to_owned(), text.to_owned(), failed);
        assert_eq!(
            results(&talk),
            [told("a", "one\ntwo", false), told("b", "three", true), told("c", NOT_MADE, true)]
        );
    }

    #[test]
    fn only_the_newest_results_are_whole() {
        let mut talk = Talk::default();
        let long = format!("first\n{}", "x".repeat(500));
        note(&mut talk, vec![open("a", 1)], &[result(&long, None)]);
        assert_eq!(results(&talk)[0].1, long);
        note(&mut talk, vec![open("b", 1)], &[result(&long, None)]);
        let told = results(&talk);
        assert!(told[0].1.starts_with("first x") && told[0].1.chars().count() == OLD_RESULT + 1, "{told:?}");
        assert_eq!(told[1].1, long);
    }
}
