//! What a job that runs at the terminal asks its person: shown when it is asked, and answered there with y or n, or by
//! the command that is named with it.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use serde_json::{Value, json};

use super::job_text::on_one_line;
use super::say;
use crate::clock::{Cancel, Clock};
use crate::jobs::lease::unix_ms;
use crate::jobs::store::{JobQuestion, Store};

/// How often the store is asked for questions.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Where questions are shown, and whether they are answered there.
pub struct QuestionDesk {
    pub json: bool,
    /// Lines of the person at the terminal.
    pub answers: Option<Receiver<String>>,
}

/// Reads lines of the terminal on a thread that ends with the process: nobody can take a read back.
pub fn read_lines(input: impl BufRead + Send + 'static) -> Receiver<String> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in input.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

impl QuestionDesk {
    /// Until the job is over.
    pub fn serve_job(&self, store: &dyn Store, job_id: &str, over: &Cancel) {
        let clock = Clock::real();
        let mut asked: Option<String> = None;
        while clock.sleep(LOOK_EVERY, over).is_ok() {
            let open = store.open_questions(Some(job_id)).unwrap_or_default();
            let Some(question) = open.first() else {
                asked = None;
                continue;
            };
            if asked.as_ref() != Some(&question.id) {
                self.forget_lines();
                self.show_question(question);
                asked = Some(question.id.clone());
            }
            if let Some(allowed) = self.read_answer() {
                let answered = store.answer(&question.id, allowed, unix_ms(&clock));
                if let Err(problem) = answered {
                    tracing::error!("the answer could not be kept: {}", problem.message);
                }
            }
        }
    }

    /// What was typed before the question is no answer to it.
    fn forget_lines(&self) {
        if let Some(answers) = &self.answers {
            while answers.try_recv().is_ok() {}
        }
    }

    fn show_question(&self, question: &JobQuestion) {
        // A reader that has gone away does not stop the job.
        let _ = if self.json {
            say(&question_event(question).to_string())
        } else {
            let text = question_text(question, self.answers.is_some());
            write!(std::io::stderr().lock(), "{text}").map_err(|problem| problem.to_string())
        };
    }

    fn read_answer(&self) -> Option<bool> {
        let line = match self.answers.as_ref()?.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return None,
        };
        let answer = yes_or_no(&line);
        if answer.is_none() {
            let _ = write!(std::io::stderr().lock(), "     answer y or n: ");
        }
        answer
    }
}

fn yes_or_no(line: &str) -> Option<bool> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

fn asked_text(question: &JobQuestion) -> String {
    on_one_line(question.shown.get("question").and_then(Value::as_str).unwrap_or_default())
}

fn question_text(question: &JobQuestion, is_answered_here: bool) -> String {
    let asked = asked_text(question);
    if is_answered_here {
        return format!("  ?  {asked} [y/n] ");
    }
    let id = &question.id;
    format!(
        "  ?  {asked}\n     answer in another terminal: os-screen-observer jobs answer {id} allow   (or deny)\n"
    )
}

fn question_event(question: &JobQuestion) -> Value {
    json!({
        "event": "question", "id": question.id, "question": asked_text(question),
        "answer": format!("os-screen-observer jobs answer {} allow|deny", question.id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> JobQuestion {
        let shown = json!({"question": "Click\n'Pay'\u{1b}[2J?"});
        JobQuestion { id: "ap:1".to_owned(), job_id: "job_1".to_owned(), shown, expires_at: 0 }
    }

    #[test]
    fn a_question_says_how_it_is_answered_and_nothing_that_a_terminal_obeys() {
        let here = question_text(&question(), true);
        assert!(
            here.contains("Click 'Pay'") && here.ends_with("[y/n] ") && !here.contains('\u{1b}'),
            "{here}"
        );
        let elsewhere = question_text(&question(), false);
        assert!(elsewhere.contains("jobs answer ap:1 allow"), "{elsewhere}");
        assert_eq!(question_event(&question())["event"], "question");
    }

    #[test]
    fn only_y_and_n_are_answers() {
        for (line, expected) in
            [("y", Some(true)), (" Yes ", Some(true)), ("n", Some(false)), ("", None), ("maybe", None)]
        {
            assert_eq!(yes_or_no(line), expected, "{line}");
        }
    }

    #[test]
    fn what_was_typed_before_a_question_is_no_answer() {
        let (send, receive) = std::sync::mpsc::channel();
        let desk = QuestionDesk { json: false, answers: Some(receive) };
        send.send("y".to_owned()).unwrap();
        desk.forget_lines();
        assert_eq!(desk.read_answer(), None);
        send.send("n".to_owned()).unwrap();
        assert_eq!(desk.read_answer(), Some(false));
    }
}
