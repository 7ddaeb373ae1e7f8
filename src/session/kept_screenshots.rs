//! Pictures that are kept to be compared with later ones. They hold pixels, so there are few of them, and not for long.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::lock;
use crate::config::limits::{FRAME_BYTES, FRAMES};
use crate::observer::vision::KeptFrame;

const LIFE: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub struct Frames {
    kept: Mutex<VecDeque<FrameEntry>>,
}

#[derive(Debug)]
struct FrameEntry {
    id: String,
    frame: Arc<KeptFrame>,
    since: Duration,
}

impl Frames {
    /// The oldest go when there are too many, or too large ones; the newest always stays.
    pub fn store_frame(&self, frame: KeptFrame, now: Duration) -> String {
        let token = crate::random::random_token("");
        let id = format!("frm:{}", token.get(..8).unwrap_or(&token));
        let mut kept = lock(&self.kept);
        kept.retain(|old| now.saturating_sub(old.since) < LIFE);
        kept.push_back(FrameEntry { id: id.clone(), frame: Arc::new(frame), since: now });
        while kept.len() > FRAMES || (kept.len() > 1 && total_bytes(&kept) > FRAME_BYTES) {
            kept.pop_front();
        }
        id
    }

    pub fn get(&self, id: &str, now: Duration) -> Option<Arc<KeptFrame>> {
        let kept = lock(&self.kept);
        let found = kept.iter().find(|kept| kept.id == id)?;
        (now.saturating_sub(found.since) < LIFE).then(|| found.frame.clone())
    }
}

fn total_bytes(kept: &VecDeque<FrameEntry>) -> usize {
    kept.iter().map(|kept| kept.frame.shot.picture.rgba().len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::image::{BLACK, Picture};
    use crate::observer::vision::WatchedRegion;
    use crate::platform::Shot;

    fn frame(width: u32, height: u32) -> KeptFrame {
        let picture = Picture::new(width, height, BLACK).unwrap();
        let area = picture.area();
        KeptFrame { watched: WatchedRegion::default(), shot: Shot { picture, area } }
    }

    #[test]
    fn a_frame_lives_a_while() {
        let frames = Frames::default();
        let id = frames.store_frame(frame(8, 6), Duration::ZERO);
        assert!(id.starts_with("frm:") && id.len() == 12, "{id}");
        assert!(frames.get(&id, LIFE - Duration::from_secs(1)).is_some());
        assert!(frames.get(&id, LIFE).is_none());
        assert!(frames.get("frm:00000000", Duration::ZERO).is_none());
    }

    #[test]
    fn few_are_kept_and_of_large_ones_fewer() {
        let frames = Frames::default();
        let first = frames.store_frame(frame(1, 1), Duration::ZERO);
        for _ in 0..FRAMES {
            frames.store_frame(frame(1, 1), Duration::ZERO);
        }
        assert!(frames.get(&first, Duration::ZERO).is_none());
        let small = frames.store_frame(frame(1, 1), Duration::ZERO);
        let large = frames.store_frame(frame(6000, 4000), Duration::ZERO);
        assert!(frames.get(&small, Duration::ZERO).is_none());
        assert!(frames.get(&large, Duration::ZERO).is_some());
    }
}
