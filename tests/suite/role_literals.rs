//! Roles are values: no production code spells one. A literal that is a role's whole name is found with its file and
//! line, in code for every system.

use std::path::{Path, PathBuf};

use os_screen_observer::model::Role;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// AT-SPI has names of its own, and some of them are ours.
const TABLES: &[&str] = &["platform/roles.rs"];

/// Words that mean something else where they stand.
const OTHER_WORDS: &[(&str, &str)] = &[
    // What the sketch prints over an area.
    ("observer/sketch/role.rs", "Dialog"),
    ("observer/sketch/role.rs", "MenuBar"),
    ("observer/sketch/role.rs", "StatusBar"),
    // Keys and values of desktop entries.
    ("platform/linux/apps.rs", "Application"),
    ("platform/linux/apps.rs", "Terminal"),
    // How PowerShell prints.
    ("platform/linux/wsl/ask.rs", "Text"),
    // What Chromium calls an element.
    ("platform/browser/decode/accessible.rs", "Canvas"),
    // What browsers call a key.
    ("platform/browser/keys.rs", "Tab"),
    // Names of the elements of an editor.
    ("platform/mock/notepad.rs", "Edit"),
    ("platform/mock/notepad.rs", "File"),
    ("platform/mock/notepad.rs", "MenuBar"),
];

/// A literal that is a role's name: the file below `src`, the line, the name.
type Spelled = (String, usize, String);

#[test]
fn no_production_code_spells_a_role() {
    let files = production_files(&source_dir());
    assert!(files.len() > 300, "only {} files were found", files.len());
    let all: Vec<Spelled> = files.iter().flat_map(|file| spelled_in(file)).collect();
    let excused = |file: &str, name: &str| TABLES.contains(&file) || OTHER_WORDS.contains(&(file, name));
    let left: Vec<String> = all
        .iter()
        .filter(|(file, _, name)| !excused(file, name))
        .map(|(file, line, name)| format!("src/{file}:{line}: \"{name}\" is Role::{name}"))
        .collect();
    assert!(left.is_empty(), "{}", left.join("\n"));
    for (file, name) in OTHER_WORDS {
        assert!(
            all.iter().any(|(at, _, word)| at == file && word == name),
            "{name} is not in {file} any more"
        );
    }
}

#[test]
fn roles_are_found_wherever_they_stand() {
    let code = r#"
        const ROLES: &[&str] = &["Button", "button", "a Button"];
        fn f(role: &str) -> bool { matches!(role, "Edit" | "x") || assert!([("MenuItem", 1)].len() > 1) }
        #[doc = "Window"]
        #[cfg(test)]
        mod tests { const NAME: &str = "Slider"; }
        fn g(role: &str) -> u8 { match role { r"Text" => 1, _ => 0 } }
    "#;
    let found = literals(&syn::parse_file(code).unwrap());
    let found: Vec<(usize, &str)> = found.iter().map(|(line, name)| (*line, name.as_str())).collect();
    assert_eq!(found, [(2, "Button"), (3, "Edit"), (3, "MenuItem"), (7, "Text")]);
}

fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of all modules that are not only for tests, by their declarations.
fn production_files(source: &Path) -> Vec<PathBuf> {
    let mut files = vec![source.join("lib.rs"), source.join("main.rs")];
    let mut next = 0;
    while let Some(file) = files.get(next).cloned() {
        let modules = declared_modules(&parse(&file), &file);
        files.extend(modules);
        next += 1;
    }
    files
}

fn declared_modules(parsed: &syn::File, file: &Path) -> Vec<PathBuf> {
    let stem = file.file_stem().unwrap().to_string_lossy();
    let dir = file.parent().unwrap();
    let below = match &*stem {
        "mod" | "lib" | "main" => dir.to_owned(),
        stem => dir.join(stem),
    };
    let module = |item: &syn::Item| match item {
        syn::Item::Mod(module) if module.content.is_none() && !is_for_tests(&module.attrs) => {
            let name = module.ident.to_string();
            let places = [below.join(format!("{name}.rs")), below.join(&name).join("mod.rs")];
            Some(places.into_iter().find(|place| place.exists()).expect("a file of the module"))
        }
        _ => None,
    };
    parsed.items.iter().filter_map(module).collect()
}

fn parse(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap();
    syn::parse_file(&text).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()))
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

fn spelled_in(file: &Path) -> Vec<Spelled> {
    let below = file.strip_prefix(source_dir()).unwrap();
    let path = below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
    let found = literals(&parse(file)).into_iter();
    found.map(|(line, name)| (path.clone(), line, name)).collect()
}

fn literals(parsed: &syn::File) -> Vec<(usize, String)> {
    let mut literals = Literals::default();
    literals.visit_file(parsed);
    literals.found
}

#[derive(Default)]
struct Literals {
    found: Vec<(usize, String)>,
}

impl Literals {
    fn note(&mut self, text: &str, span: Span) {
        if Role::ALL.iter().any(|role| role.name() == text) {
            self.found.push((span.start().line, text.to_owned()));
        }
    }

    /// What is inside a macro is no syntax yet.
    fn note_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.note_tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.note(&text.value(), text.span());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.note(&literal.value(), literal.span());
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.note_tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_const(&mut self, constant: &'ast syn::ItemConst) {
        if !is_for_tests(&constant.attrs) {
            visit::visit_item_const(self, constant);
        }
    }

    fn visit_item_impl(&mut self, implemented: &'ast syn::ItemImpl) {
        if !is_for_tests(&implemented.attrs) {
            visit::visit_item_impl(self, implemented);
        }
    }
}
