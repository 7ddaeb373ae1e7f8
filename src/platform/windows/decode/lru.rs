//! A few things by the windows that they are of; what was used longest ago makes room.

#[derive(Debug)]
pub struct Recent<T> {
    most: usize,
    /// The one that was used last stands at the end.
    kept: Vec<(String, T)>,
}

impl<T> Recent<T> {
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), kept: Vec::new() }
    }

    pub fn get(&mut self, uid: &str) -> Option<&mut T> {
        let place = self.kept.iter().position(|(known, _)| known == uid)?;
        let used = self.kept.remove(place);
        self.kept.push(used);
        self.kept.last_mut().map(|(_, thing)| thing)
    }

    pub fn put(&mut self, uid: &str, thing: T) {
        self.kept.retain(|(known, _)| known != uid);
        if self.kept.len() >= self.most {
            self.kept.remove(0);
        }
        self.kept.push((uid.to_owned(), thing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let mut recent = Recent::new(2);
        recent.put("a", 1);
        recent.put("b", 2);
        assert_eq!(recent.get("a"), Some(&mut 1));
        recent.put("c", 3);
        assert_eq!((recent.get("b").copied(), recent.get("a").copied()), (None, Some(1)));
        recent.put("a", 4);
        assert_eq!((recent.get("a").copied(), recent.get("c").copied()), (Some(4), Some(3)));
    }
}
