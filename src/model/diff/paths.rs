//! Where a node stands, as paths of child indices.

use crate::model::Tree;

/// The index of every node among its siblings, found once: counting siblings for each path would make
/// a long list quadratic.
#[derive(Clone, Debug)]
pub struct Paths<'a> {
    tree: &'a Tree,
    positions: Vec<u32>,
}

impl<'a> Paths<'a> {
    pub fn of(tree: &'a Tree) -> Self {
        let mut positions = vec![0; tree.len()];
        for node in 0..tree.len() {
            for (position, child) in (0..).zip(tree.children(node)) {
                positions[child] = position;
            }
        }
        Self { tree, positions }
    }

    pub fn position(&self, node: usize) -> u32 {
        self.positions[node]
    }

    /// `0/3/1`, and nothing for the root.
    pub fn slash_path(&self, node: usize) -> String {
        self.joined(node, "", "/")
    }

    /// `0/3/7`: child 7 of the node at `0/3`.
    pub fn slashed_child(&self, parent: usize, position: u32) -> String {
        match self.slash_path(parent) {
            path if path.is_empty() => position.to_string(),
            path => format!("{path}/{position}"),
        }
    }

    /// `/children/0/children/3`, and nothing for the root.
    pub fn pointer(&self, node: usize) -> String {
        self.joined(node, "/children/", "/children/")
    }

    fn joined(&self, node: usize, first: &str, between: &str) -> String {
        let mut indices = Vec::with_capacity(self.tree.depth(node));
        let mut at = node;
        while let Some(parent) = self.tree.parent(at) {
            indices.push(self.positions[at]);
            at = parent;
        }
        let mut path = String::new();
        for index in indices.into_iter().rev() {
            path.push_str(if path.is_empty() { first } else { between });
            path.push_str(&index.to_string());
        }
        path
    }
}
