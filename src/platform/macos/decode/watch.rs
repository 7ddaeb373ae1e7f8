//! Whom to listen to: which applications, in which order they are let go, and whether one is worth listening to.

use super::errors::{Code, Meaning};

/// Applications that are listened to; of more, those that were not looked into the longest are let go.
pub const MOST_OBSERVED: usize = 64;

/// Asks an application for each kind of news, and tells whether any will come. One that does not answer is asked no
/// more: each question costs a whole time limit, and a half of them would be trusted like all of them.
pub fn enroll(news: &[&str], mut ask: impl FnMut(&str) -> Result<(), Code>) -> bool {
    let mut any = false;
    for name in news {
        match ask(name).map_err(Code::meaning) {
            Ok(()) => any = true,
            // What is not offered is no loss.
            Err(Meaning::Without | Meaning::Failed) => {}
            Err(Meaning::Silent | Meaning::Gone | Meaning::Forbidden) => return false,
        }
    }
    any
}

/// Who is listened to, in the order in which they were looked into last.
#[derive(Debug)]
pub struct Followed<T> {
    all: Vec<(i32, T)>,
}

impl<T> Default for Followed<T> {
    fn default() -> Self {
        Self { all: Vec::new() }
    }
}

impl<T> Followed<T> {
    /// Listens to an application that was looked into, if it can be listened to and is not yet.
    pub fn follow(&mut self, pid: i32, start: impl FnOnce() -> Option<T>) {
        let known = self.all.iter().position(|(known, _)| *known == pid);
        let observer = known.map(|place| self.all.remove(place).1).or_else(start);
        self.all.extend(observer.map(|observer| (pid, observer)));
        let too_many = self.all.len().saturating_sub(MOST_OBSERVED);
        self.all.drain(..too_many);
    }

    pub fn keep_alive(&mut self, lives: impl Fn(i32) -> bool) {
        self.all.retain(|(pid, _)| lives(*pid));
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answers: &[Result<(), Code>], expected: bool, asked: usize) {
        let mut answer = answers.iter();
        let enrolled = enroll(&["a", "b", "c"], |_| *answer.next().unwrap());
        assert_eq!((enrolled, answers.len() - answer.len()), (expected, asked), "{answers:?}");
    }

    #[test]
    fn an_application_that_hangs_is_asked_once() {
        let unsupported = Err(Code(-25207));
        check(&[Ok(()), unsupported, Ok(())], true, 3);
        check(&[unsupported, Ok(()), unsupported], true, 3);
        check(&[unsupported; 3], false, 3);
        check(&[Err(Code::CANNOT_COMPLETE), Ok(()), Ok(())], false, 1);
        check(&[Ok(()), Err(Code::CANNOT_COMPLETE), Ok(())], false, 2);
        check(&[Err(Code::INVALID_ELEMENT), Ok(()), Ok(())], false, 1);
    }

    #[test]
    fn those_that_were_not_looked_into_the_longest_are_let_go() {
        let mut followed = Followed::default();
        for pid in 0..64 {
            followed.follow(pid, || Some(()));
        }
        followed.follow(0, || panic!("it is listened to already"));
        followed.follow(64, || Some(()));
        let pids = |followed: &Followed<()>| followed.all.iter().map(|(pid, ())| *pid).collect::<Vec<_>>();
        assert_eq!((pids(&followed).len(), &pids(&followed)[61..]), (64, &[63, 0, 64][..]));
        assert!(!pids(&followed).contains(&1));
        followed.follow(99, || None);
        followed.keep_alive(|pid| pid == 0);
        assert_eq!(pids(&followed), [0]);
        assert!(!followed.is_empty());
    }
}
