//! What changed between two views of a window, in the format that a caller asked for.
//!
//! Made of what may be shown. A change of redacted text is reported, with the replacement as value.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};

use super::View;
use super::structure::Structure;
use crate::model::Tree;
use crate::model::diff::{self, NodeField, NodeFields, Patch, Paths, TreeChange};
use crate::privacy::scrub::OwnWord;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, DeriveSerialize, JsonSchema)]
pub enum DiffFormat {
    #[default]
    #[serde(rename = "custom")]
    Custom,
    #[serde(rename = "json-patch")]
    JsonPatch,
}

/// The way from one view to another. It copies no node: it holds the views.
#[derive(Debug)]
pub struct Changes {
    old: Arc<View>,
    new: Arc<View>,
    list: List,
}

#[derive(Debug)]
enum List {
    Custom(Vec<TreeChange>),
    JsonPatch(Vec<Patch>),
}

impl Changes {
    pub fn diff_views(old: Arc<View>, new: Arc<View>, format: DiffFormat) -> Self {
        let list = match format {
            // The same capture, out of the cache: there is nothing to compare.
            DiffFormat::Custom if Arc::ptr_eq(&old, &new) => List::Custom(Vec::new()),
            DiffFormat::JsonPatch if Arc::ptr_eq(&old, &new) => List::JsonPatch(Vec::new()),
            DiffFormat::Custom => {
                List::Custom(diff::diff_trees(old.comparable_trees(), new.comparable_trees()))
            }
            DiffFormat::JsonPatch => {
                List::JsonPatch(diff::json_patch(old.comparable_trees(), new.comparable_trees()))
            }
        };
        Self { old, new, list }
    }

    pub fn is_empty(&self) -> bool {
        match &self.list {
            List::Custom(changes) => changes.is_empty(),
            List::JsonPatch(patches) => patches.is_empty(),
        }
    }

    pub fn format(&self) -> DiffFormat {
        match &self.list {
            List::Custom(_) => DiffFormat::Custom,
            List::JsonPatch(_) => DiffFormat::JsonPatch,
        }
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        if self.is_empty() {
            return out.serialize_seq(Some(0))?.end();
        }
        let writer = ChangeWriter {
            view: &self.new,
            old: Paths::of(self.old.tree()),
            new: Paths::of(self.new.tree()),
        };
        match &self.list {
            List::Custom(changes) => {
                out.collect_seq(changes.iter().map(|&change| ChangeLine(&writer, change)))
            }
            List::JsonPatch(patches) => {
                out.collect_seq(patches.iter().map(|&patch| ChangeLine(&writer, patch)))
            }
        }
    }
}

struct ChangeWriter<'a> {
    view: &'a Arc<View>,
    old: Paths<'a>,
    new: Paths<'a>,
}

/// One change with what is needed to write it.
struct ChangeLine<'a, T>(&'a ChangeWriter<'a>, T);

impl Serialize for ChangeLine<'_, TreeChange> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let ChangeLine(writer, change) = self;
        let mut line = out.serialize_map(None)?;
        match *change {
            TreeChange::Replace { node, fields } => {
                line.serialize_entry("op", "replace")?;
                line.serialize_entry("path", &OwnWord(&writer.new.slash_path(node)))?;
                line.serialize_entry("fields", &FieldsJson { tree: writer.view.tree(), node, fields })?;
            }
            TreeChange::Move { from, to } => {
                let parent = writer.view.tree().parent(to).unwrap_or(Tree::ROOT);
                line.serialize_entry("op", "move")?;
                line.serialize_entry("from", &OwnWord(&writer.old_child(parent, from)))?;
                line.serialize_entry("to", &OwnWord(&writer.new.slash_path(to)))?;
            }
            TreeChange::Remove { node, under } => {
                line.serialize_entry("op", "remove")?;
                line.serialize_entry("path", &OwnWord(&writer.old_child(under, node)))?;
            }
            TreeChange::Add { node } => {
                line.serialize_entry("op", "add")?;
                line.serialize_entry("path", &OwnWord(&writer.new.slash_path(node)))?;
                line.serialize_entry("node", &writer.whole_subtree(node))?;
            }
        }
        line.end()
    }
}

impl ChangeWriter<'_> {
    fn old_child(&self, new_parent: usize, old_node: usize) -> String {
        self.new.slashed_child(new_parent, self.old.position(old_node))
    }

    fn whole_subtree(&self, node: usize) -> Structure {
        Structure::whole_subtree(Arc::clone(self.view), node)
    }

    fn field_pointer(&self, node: usize, field: NodeField) -> String {
        format!("{}/{}", self.new.pointer(node), field.name())
    }

    fn child_pointer(&self, under: usize, index: usize) -> String {
        format!("{}/children/{index}", self.new.pointer(under))
    }
}

struct FieldsJson<'a> {
    tree: &'a Tree,
    node: usize,
    fields: NodeFields,
}

impl Serialize for FieldsJson<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(
            self.fields
                .iter()
                .map(|field| (field.name(), FieldJson { tree: self.tree, node: self.node, field })),
        )
    }
}

/// A fact that is not known (any more) is null.
struct FieldJson<'a> {
    tree: &'a Tree,
    node: usize,
    field: NodeField,
}

impl Serialize for FieldJson<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.field {
            NodeField::Id => OwnWord(&self.tree.id(self.node)).serialize(out),
            field => field.of(&self.tree[self.node]).serialize(out),
        }
    }
}

impl Serialize for ChangeLine<'_, Patch> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let ChangeLine(writer, patch) = self;
        let mut line = out.serialize_map(None)?;
        match *patch {
            Patch::Everything => {
                line.serialize_entry("op", "replace")?;
                line.serialize_entry("path", "")?;
                line.serialize_entry("value", &writer.whole_subtree(Tree::ROOT))?;
            }
            Patch::AddField { node, field } => write_field(&mut line, "add", writer, node, field)?,
            Patch::ReplaceField { node, field } => write_field(&mut line, "replace", writer, node, field)?,
            Patch::RemoveField { node, field } => {
                line.serialize_entry("op", "remove")?;
                line.serialize_entry("path", &OwnWord(&writer.field_pointer(node, field)))?;
            }
            Patch::Remove { under, index } => {
                line.serialize_entry("op", "remove")?;
                line.serialize_entry("path", &OwnWord(&writer.child_pointer(under, index)))?;
            }
            Patch::Move { under, from, to } => {
                line.serialize_entry("op", "move")?;
                line.serialize_entry("from", &OwnWord(&writer.child_pointer(under, from)))?;
                line.serialize_entry("path", &OwnWord(&writer.child_pointer(under, to)))?;
            }
            Patch::Add { under, index, node } => {
                line.serialize_entry("op", "add")?;
                line.serialize_entry("path", &OwnWord(&writer.child_pointer(under, index)))?;
                line.serialize_entry("value", &writer.whole_subtree(node))?;
            }
        }
        line.end()
    }
}

fn write_field<M: SerializeMap>(
    line: &mut M,
    op: &str,
    writer: &ChangeWriter,
    node: usize,
    field: NodeField,
) -> Result<(), M::Error> {
    line.serialize_entry("op", op)?;
    line.serialize_entry("path", &OwnWord(&writer.field_pointer(node, field)))?;
    line.serialize_entry("value", &FieldJson { tree: writer.view.tree(), node, field })
}

#[cfg(test)]
mod tests;
