//! Desktops for tests that are the mock but for what a test writes out: these macros write the rest, so that a new
//! question to platforms is answered here once.

/// `like_the_mock!(Odd.mock: Platform Watch)`: these traits of `Odd` ask its field `mock`.
#[macro_export]
macro_rules! like_the_mock {
    ($name:ident.$field:tt:) => {};
    ($name:ident.$field:tt: $part:ident $($more:ident)*) => {
        impl os_screen_observer::platform::$part for $name {
            $crate::ask_the_mock!($field: $part);
        }
        $crate::like_the_mock!($name.$field: $($more)*);
    };
}

/// `ask_the_mock!(mock: windows screen)`, inside an `impl`: these methods ask the field `mock`. The name of a trait
/// stands for all of its methods.
#[macro_export]
macro_rules! ask_the_mock {
    ($field:tt:) => {};
    ($field:tt: Platform) => { $crate::ask_the_mock!($field: facts stage surroundings health); };
    ($field:tt: Desktop) => { $crate::ask_the_mock!($field: windows stacking monitors screen activate change); };
    ($field:tt: Accessibility) => { $crate::ask_the_mock!($field: tree); };
    ($field:tt: Input) => { $crate::ask_the_mock!($field: act claim give_back release_all); };
    ($field:tt: Capture) => { $crate::ask_the_mock!($field: window_picture screen_picture region_picture); };
    ($field:tt: Watch) => { $crate::ask_the_mock!($field: generation wait_change); };

    ($field:tt: facts $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field facts() -> os_screen_observer::platform::Facts; $($more)*);
    };
    ($field:tt: stage $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field stage() -> Option<&dyn os_screen_observer::platform::Stage>; $($more)*);
    };
    ($field:tt: surroundings $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field surroundings() -> &dyn os_screen_observer::platform::Surroundings; $($more)*);
    };
    ($field:tt: health $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field health() -> os_screen_observer::platform::Health; $($more)*);
    };
    ($field:tt: windows $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field windows() -> os_screen_observer::error::Result<Vec<os_screen_observer::model::Window>>; $($more)*);
    };
    ($field:tt: stacking $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field stacking() -> os_screen_observer::error::Result<Option<Vec<String>>>; $($more)*);
    };
    ($field:tt: monitors $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field monitors() -> os_screen_observer::error::Result<Vec<os_screen_observer::model::Monitor>>; $($more)*);
    };
    ($field:tt: screen $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field screen() -> os_screen_observer::error::Result<Option<os_screen_observer::model::Rect>>; $($more)*);
    };
    ($field:tt: activate $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field activate(window: &os_screen_observer::model::Window)
            -> os_screen_observer::error::Result<os_screen_observer::platform::Activation>; $($more)*);
    };
    ($field:tt: change $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field change(
            window: &os_screen_observer::model::Window,
            change: &os_screen_observer::model::WindowChange,
            at_most: std::time::Duration,
            cancel: &os_screen_observer::clock::Cancel
        ) -> os_screen_observer::error::Result<os_screen_observer::model::Reached>; $($more)*);
    };
    ($field:tt: tree $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field tree(
            window: &os_screen_observer::model::Window,
            patience: &os_screen_observer::platform::Patience
        ) -> os_screen_observer::error::Result<os_screen_observer::model::Tree>; $($more)*);
    };
    ($field:tt: act $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field act(
            act: &os_screen_observer::model::action::Act,
            cancel: &os_screen_observer::clock::Cancel
        ) -> os_screen_observer::error::Result<os_screen_observer::platform::Done>; $($more)*);
    };
    ($field:tt: claim $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field claim(claimant: &os_screen_observer::platform::Claimant)
            -> os_screen_observer::error::Result<()>; $($more)*);
    };
    ($field:tt: give_back $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field give_back(claimant: &os_screen_observer::platform::Claimant) -> (); $($more)*);
    };
    ($field:tt: release_all $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field release_all() -> (); $($more)*);
    };
    ($field:tt: window_picture $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field window_picture(window: &os_screen_observer::model::Window)
            -> os_screen_observer::error::Result<os_screen_observer::platform::Shot>; $($more)*);
    };
    ($field:tt: screen_picture $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field screen_picture()
            -> os_screen_observer::error::Result<os_screen_observer::platform::Shot>; $($more)*);
    };
    ($field:tt: region_picture $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field region_picture(area: os_screen_observer::model::Rect)
            -> os_screen_observer::error::Result<os_screen_observer::platform::Shot>; $($more)*);
    };
    ($field:tt: generation $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field generation() -> os_screen_observer::error::Result<u64>; $($more)*);
    };
    ($field:tt: wait_change $($more:ident)*) => {
        $crate::ask_the_mock!(@ $field wait_change(
            seen: u64,
            at_most: std::time::Duration,
            cancel: &os_screen_observer::clock::Cancel
        ) -> os_screen_observer::error::Result<os_screen_observer::platform::Wake>; $($more)*);
    };

    (@ $field:tt $method:ident($($name:ident: $kind:ty),*) -> $answer:ty; $($more:ident)*) => {
        fn $method(&self, $($name: $kind),*) -> $answer {
            self.$field.$method($($name),*)
        }
        $crate::ask_the_mock!($field: $($more)*);
    };
}
