//! Why HTTP is not served: the same in builds with and without it.

/// Why HTTP is not served.
#[derive(Debug)]
pub enum NotServed {
    /// A port that is taken, a build without it: whoever has another surface can do without this one.
    Unavailable(String),
    /// Serving would open what the owner shut, or what nobody meant to open.
    Refused(String),
}

impl From<NotServed> for String {
    fn from(reason: NotServed) -> String {
        match reason {
            NotServed::Unavailable(why) | NotServed::Refused(why) => why,
        }
    }
}
