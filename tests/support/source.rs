//! The production code of `src` and of the crates beside it, parsed: which files there are, what they declare and what they import. Tests of the
//! code's structure read it here. Code that is compiled for tests alone is left out.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, Meta, UseTree};

/// The name by which the binary knows the library.
const LIBRARY: &str = "os_screen_observer";

/// The crate of pictures, which is a room like the modules of the library.
const PIXELS: &str = "pixels";

/// A file that is part of the library, of the binary or of the crate of pictures.
pub struct SourceFile {
    /// Below the project, with `/` between the parts: `src/gate/mod.rs`.
    pub path: String,
    /// Where its items are: `["gate", "confirm"]`. The binary's is `["main"]`.
    pub module: Vec<String>,
    pub syntax: syn::File,
}

/// An import, or a path that is written out in code, that leads to an item of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// From the root of the crate: `["gate", "confirm", "Facts"]`.
    pub path: Vec<String>,
    pub line: usize,
}

/// Something that a file declares, in whichever module or block of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub kind: &'static str,
    pub name: String,
    pub is_public: bool,
    pub line: usize,
    pub last_line: usize,
}

/// All production files, found the way the compiler finds them.
pub fn files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    read_module("src/lib.rs".to_owned(), Vec::new(), &mut files);
    read_module("src/main.rs".to_owned(), vec!["main".to_owned()], &mut files);
    read_module("crates/pixels/src/lib.rs".to_owned(), vec![PIXELS.to_owned()], &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

impl SourceFile {
    /// The top-level module that the file belongs to: `gate`. The root itself is `lib`.
    pub fn room(&self) -> &str {
        self.module.first().map_or("lib", String::as_str)
    }

    /// What of this crate the file uses, also inside of macro calls.
    pub fn uses(&self) -> Vec<Use> {
        let module = if self.module == ["main"] { Vec::new() } else { self.module.clone() };
        let root = if self.room() == PIXELS { vec![PIXELS.to_owned()] } else { Vec::new() };
        let mut reader = UseReader { root, module, uses: Vec::new() };
        reader.visit_file(&self.syntax);
        reader.uses
    }

    /// The lines on which a path ends in `owner::name`, as in a call of an associated function.
    pub fn lines_naming(&self, owner: &str, name: &str) -> Vec<usize> {
        let mut reader = PathReader { wanted: [owner.to_owned(), name.to_owned()], lines: Vec::new() };
        reader.visit_file(&self.syntax);
        reader.lines
    }

    /// What the file declares: types, functions, constants, also inside of `impl` blocks and inline modules.
    pub fn declared(&self) -> Vec<Declared> {
        let mut reader = ItemReader::default();
        reader.visit_file(&self.syntax);
        reader.declared
    }
}

fn read_module(path: String, module: Vec<String>, files: &mut Vec<SourceFile>) {
    let full = crate::support::project().join(&path);
    let text = std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let children = child_files(&path, &module, &syntax);
    files.push(SourceFile { path, module, syntax });
    for (path, module) in children {
        // A module may stand twice, once for each state of a feature.
        if !files.iter().any(|file| file.path == path) {
            read_module(path, module, files);
        }
    }
}

fn child_files(path: &str, module: &[String], syntax: &syn::File) -> Vec<(String, Vec<String>)> {
    let declared = syntax.items.iter().filter_map(|item| match item {
        Item::Mod(child) if child.content.is_none() && !is_for_tests(&child.attrs) => Some(child),
        _ => None,
    });
    let inside = |child: &ItemMod| {
        let name = child.ident.to_string();
        let mut inside = if path == "src/main.rs" { Vec::new() } else { module.to_vec() };
        inside.push(name.clone());
        (child_path(path, &name, child), inside)
    };
    declared.map(inside).collect()
}

fn child_path(path: &str, name: &str, child: &ItemMod) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    if let Some(given) = path_attribute(&child.attrs) {
        return format!("{folder}/{given}");
    }
    let folder = match file {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        other => format!("{folder}/{}", other.trim_end_matches(".rs")),
    };
    let flat = format!("{folder}/{name}.rs");
    if crate::support::project().join(&flat).exists() { flat } else { format!("{folder}/{name}/mod.rs") }
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Whether something is compiled for tests alone: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, unix))]`.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<Meta>().is_ok_and(|condition| needs_test(&condition)))
    })
}

fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            let parts = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
            list.parse_args_with(parts).is_ok_and(|parts| parts.iter().any(needs_test))
        }
        _ => false,
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

struct UseReader {
    /// Where `crate` leads to.
    root: Vec<String>,
    /// The module that is read; inline modules are deeper than their file.
    module: Vec<String>,
    uses: Vec<Use>,
}

impl UseReader {
    /// `parts` as they are written; a path that begins with none of the crate's own words leads elsewhere.
    fn note(&mut self, parts: &[String], line: usize) {
        let mut base = match parts.first().map(String::as_str) {
            Some("crate") => self.root.clone(),
            Some(LIBRARY) => Vec::new(),
            // Alone it is a variable.
            Some(PIXELS) if parts.len() > 1 => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            _ => return,
        };
        let mut rest = parts;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "super" => drop(base.pop()),
                "self" | "crate" | LIBRARY => {}
                _ => break,
            }
            rest = others;
        }
        base.extend(rest.iter().cloned());
        if !rest.is_empty() {
            self.uses.push(Use { path: base, line });
        }
    }

    fn note_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| before.iter().cloned().chain([name]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.note_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => self.note(before, name.span().start().line),
            UseTree::Name(name) => self.note(&with(name.ident.to_string()), name.span().start().line),
            UseTree::Rename(name) => self.note(&with(name.ident.to_string()), name.span().start().line),
            UseTree::Glob(star) => self.note(before, star.span().start().line),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_tree(before, tree)),
        }
    }

    /// Paths in what a macro is given, which is no syntax yet.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.note(&std::mem::take(&mut path), line);
                        line = word.span().start().line;
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.note(&std::mem::take(&mut path), line);
                    colons = 0;
                    if group.delimiter() != Delimiter::None || !group.stream().is_empty() {
                        self.note_tokens(group.stream());
                    }
                }
                _ => {
                    self.note(&std::mem::take(&mut path), line);
                    colons = 0;
                }
            }
        }
        self.note(&path, line);
    }
}

impl<'ast> Visit<'ast> for UseReader {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.note(&parts, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.note_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

struct PathReader {
    wanted: [String; 2],
    lines: Vec<usize>,
}

impl<'ast> Visit<'ast> for PathReader {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if parts.ends_with(&self.wanted) {
            self.lines.push(path.span().start().line);
        }
        visit::visit_path(self, path);
    }
}

#[derive(Default)]
struct ItemReader {
    declared: Vec<Declared>,
}

impl ItemReader {
    fn note(
        &mut self,
        kind: &'static str,
        name: &syn::Ident,
        visibility: &syn::Visibility,
        whole: &impl Spanned,
    ) {
        let span = whole.span();
        self.declared.push(Declared {
            kind,
            name: name.to_string(),
            is_public: matches!(visibility, syn::Visibility::Public(_)),
            line: name.span().start().line,
            last_line: span.end().line,
        });
    }
}

impl<'ast> Visit<'ast> for ItemReader {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes_of(item)) {
            return;
        }
        match item {
            Item::Const(it) => self.note("const", &it.ident, &it.vis, it),
            Item::Enum(it) => self.note("enum", &it.ident, &it.vis, it),
            Item::Fn(it) => self.note("fn", &it.sig.ident, &it.vis, it),
            Item::Mod(it) => self.note("mod", &it.ident, &it.vis, it),
            Item::Static(it) => self.note("static", &it.ident, &it.vis, it),
            Item::Struct(it) => self.note("struct", &it.ident, &it.vis, it),
            Item::Trait(it) => self.note("trait", &it.ident, &it.vis, it),
            Item::Type(it) => self.note("type", &it.ident, &it.vis, it),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            self.note("fn", &function.sig.ident, &function.vis, function);
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.note("fn", &function.sig.ident, &syn::Visibility::Inherited, function);
        visit::visit_trait_item_fn(self, function);
    }
}
