//! What a call would touch.

use std::sync::Arc;

use super::identity::Certainty;
use super::{Chosen, Observer, Ref, View};
use crate::error::Result;
use crate::model::{Point, Rect};

/// What a call would touch: found before it acts, judged by the gate, used by the tool.
#[derive(Clone, Debug)]
pub struct Target {
    pub chosen: Chosen,
    pub view: Arc<View>,
    pub node: usize,
    /// The caller's selector in its canonical form; an element named by id has a derived one.
    selector: Option<String>,
    /// The ref that the caller named it by, and how sure it is that this is its element.
    known_as: Option<(Ref, Option<Certainty>)>,
    /// Where a pointer would meet it: judged with it, so that no other place is clicked.
    at: Option<Point>,
    starting: Option<Starting>,
    unread: bool,
}

/// A program that would be started: the config may allow it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starting {
    /// As the caller wrote it.
    pub program: String,
    /// The desktop offers it to people.
    pub installed: bool,
    /// What is run for it.
    pub command: Vec<String>,
}

impl Target {
    pub fn element(chosen: Chosen, view: Arc<View>, node: usize, selector: Option<String>) -> Self {
        Self { chosen, view, node, selector, known_as: None, at: None, starting: None, unread: false }
    }

    /// The same, where the input may as well reach something that could not be read.
    pub fn unread_if(self, unread: bool) -> Self {
        Self { unread, ..self }
    }

    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// The same, named by a ref; without a certainty there is no doubt.
    pub fn known_as(self, reference: Ref, certainty: Option<Certainty>) -> Self {
        Self { known_as: Some((reference, certainty)), ..self }
    }

    /// The same, met by a pointer there.
    pub fn met_at(self, at: Option<Point>) -> Self {
        Self { at, ..self }
    }

    pub fn at(&self) -> Option<Point> {
        self.at
    }

    /// The same, which stands for a program.
    pub fn starting(self, starting: Starting) -> Self {
        Self { starting: Some(starting), ..self }
    }

    pub fn program(&self) -> Option<&Starting> {
        self.starting.as_ref()
    }

    pub fn certainty(&self) -> Option<Certainty> {
        self.known_as.and_then(|(_, certainty)| certainty)
    }

    /// The element's ref, which from here on stands for what is shown of it now.
    pub fn show_ref(&self, observer: &Observer) -> Result<Ref> {
        match self.known_as {
            Some((reference, _)) => {
                observer.rebind(reference, self)?;
                Ok(reference)
            }
            None => observer.show_ref(&self.chosen, &self.view, self.node),
        }
    }

    /// Another element of the same capture.
    pub fn beside(&self, node: usize) -> Self {
        Self { node, selector: None, known_as: None, at: None, starting: None, unread: false, ..self.clone() }
    }

    pub fn bounds(&self) -> Rect {
        self.view.tree()[self.node].bounds
    }

    pub fn element_id(&self) -> String {
        self.view.tree().id(self.node)
    }

    pub fn selector(&self) -> String {
        self.selector.clone().unwrap_or_else(|| self.view.derived_selector(self.node))
    }
}
