//! How an element of a page is found again: its frame, the document in it, and the browser's number of the node.

/// Names one node of one document. In another document of the same frame the number may be another node's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeHandle {
    pub frame: String,
    /// The document, which the browser calls by its loader.
    pub document: String,
    pub backend_node: i64,
}

impl NodeHandle {
    pub fn parse(native: &str) -> Option<Self> {
        let mut parts = native.split('/');
        let (frame, document, node) = (parts.next()?, parts.next()?, parts.next()?);
        let whole = parts.next().is_none() && !frame.is_empty();
        whole.then_some(())?;
        Some(Self {
            frame: frame.to_owned(),
            document: document.to_owned(),
            backend_node: node.parse().ok()?,
        })
    }
}

impl std::fmt::Display for NodeHandle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}/{}", self.frame, self.document, self.backend_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_read_as_it_is_written() {
        let handle = NodeHandle { frame: "F1".to_owned(), document: "L2".to_owned(), backend_node: 7 };
        assert_eq!(NodeHandle::parse(&handle.to_string()), Some(handle));
        for wrong in ["", "F1", "F1/L2", "F1/L2/x", "F1/L2/7/8", "/L2/7"] {
            assert_eq!(NodeHandle::parse(wrong), None, "{wrong}");
        }
    }
}
