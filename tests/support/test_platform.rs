//! The mock desktop with a part replaced, for tests of what goes wrong.

use std::sync::Arc;
use std::time::Duration;

use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::error::Result;
use os_screen_observer::model::input::Handle;
use os_screen_observer::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::*;

/// The mock, except for the parts that a test sets.
pub struct TestPlatform {
    pub mock: Arc<Mock>,
    pub coordinates: Coordinates,
    pub limitations: Vec<String>,
    pub has_stage: bool,
    pub desktop: Option<TestDesktop>,
    pub accessibility: Option<Box<dyn Accessibility>>,
    pub watch: Option<Box<dyn Watch>>,
}

impl TestPlatform {
    pub fn new(mock: Arc<Mock>) -> Self {
        Self {
            mock,
            coordinates: Coordinates::Screen,
            limitations: Vec::new(),
            has_stage: true,
            desktop: None,
            accessibility: None,
            watch: None,
        }
    }

    /// On the default desktop of the mock.
    pub fn on(clock: &Clock) -> Self {
        Self::new(Arc::new(Mock::new(clock.clone())))
    }

    /// Lets a test change the answers of the desktop.
    pub fn with_desktop(mut self, change: impl FnOnce(&mut TestDesktop)) -> Self {
        let mut desktop = TestDesktop::like(&self.mock);
        change(&mut desktop);
        self.desktop = Some(desktop);
        self
    }

    /// Trees come from this, which is given the mock.
    pub fn with_tree(
        mut self,
        tree: impl Fn(&Mock, &Window, &Patience) -> Result<Tree> + Send + Sync + 'static,
    ) -> Self {
        self.accessibility =
            Some(Box::new(TestAccessibility { mock: self.mock.clone(), tree: Box::new(tree) }));
        self
    }

    pub fn with_watch(mut self, watch: impl Watch + 'static) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }
}

impl Platform for TestPlatform {
    fn facts(&self) -> Facts {
        Facts { coordinates: self.coordinates, limitations: self.limitations.clone(), ..self.mock.facts() }
    }

    fn health(&self) -> Health {
        self.mock.health()
    }

    fn stage(&self) -> Option<&dyn Stage> {
        self.mock.stage().filter(|_| self.has_stage)
    }

    fn desktop(&self) -> &dyn Desktop {
        self.desktop.as_ref().map_or(self.mock.desktop(), |desktop| desktop)
    }

    fn accessibility(&self) -> &dyn Accessibility {
        self.accessibility.as_deref().unwrap_or(self.mock.accessibility())
    }

    fn input(&self) -> &dyn Input {
        self.mock.input()
    }

    fn capture(&self) -> &dyn Capture {
        self.mock.capture()
    }

    fn clipboard(&self) -> &dyn Clipboard {
        self.mock.clipboard()
    }

    fn apps(&self) -> &dyn Apps {
        self.mock.apps()
    }

    fn watch(&self) -> &dyn Watch {
        self.watch.as_deref().unwrap_or(self.mock.watch())
    }
}

/// Answers a question in the place of the mock, which it is given.
pub type Answer<T> = Box<dyn Fn(&Mock) -> Result<T> + Send + Sync>;
type AnswerOf<T> = Box<dyn Fn(&Mock, &Window) -> Result<T> + Send + Sync>;

/// The windows of the mock, except for the answers that a test sets.
pub struct TestDesktop {
    mock: Arc<Mock>,
    pub windows: Answer<Vec<Window>>,
    pub stacking: Answer<Option<Vec<String>>>,
    pub monitors: Answer<Vec<Monitor>>,
    pub activate: AnswerOf<Activation>,
    pub popup_areas: AnswerOf<Vec<Rect>>,
}

impl TestDesktop {
    fn like(mock: &Arc<Mock>) -> Self {
        Self {
            mock: mock.clone(),
            windows: Box::new(|mock| mock.windows()),
            stacking: Box::new(|mock| mock.stacking()),
            monitors: Box::new(|mock| mock.monitors()),
            activate: Box::new(|mock, window| mock.activate(window)),
            popup_areas: Box::new(|mock, window| mock.popup_areas(window)),
        }
    }
}

impl Desktop for TestDesktop {
    fn windows(&self) -> Result<Vec<Window>> {
        (self.windows)(&self.mock)
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        (self.stacking)(&self.mock)
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        self.mock.menu_at(point)
    }

    fn popup_areas(&self, window: &Window) -> Result<Vec<Rect>> {
        (self.popup_areas)(&self.mock, window)
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        (self.monitors)(&self.mock)
    }

    fn screen(&self) -> Result<Option<Rect>> {
        self.mock.screen()
    }

    fn pointer(&self) -> Result<Option<Point>> {
        self.mock.pointer()
    }

    fn owner(&self, window: &Window) -> Result<Option<String>> {
        self.mock.owner(window)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        (self.activate)(&self.mock, window)
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        self.mock.change(window, change, at_most, cancel)
    }
}

type ReadTree = dyn Fn(&Mock, &Window, &Patience) -> Result<Tree> + Send + Sync;

struct TestAccessibility {
    mock: Arc<Mock>,
    tree: Box<ReadTree>,
}

impl Accessibility for TestAccessibility {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        (self.tree)(&self.mock, window, patience)
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        self.mock.field(element, cancel)
    }
}
