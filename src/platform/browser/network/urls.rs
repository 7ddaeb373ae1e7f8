//! Which addresses a browser may be sent to: pages of the web, the blank page, and files below one folder.

use std::path::Path;

use url::Url;

use crate::model::page::PageAddress;

/// The address in its one spelling, or a sentence that says why it is not opened.
pub fn check_url(text: &str, file_root: Option<&Path>) -> Result<Url, String> {
    let address = PageAddress::parse(text)?;
    let url = address.as_url();
    match url.scheme() {
        "file" => check_file(url, file_root).map(|()| url.clone()),
        _ => Ok(url.clone()),
    }
}

/// For a file whose place was looked at: links lead where they lead.
pub fn check_file(url: &Url, file_root: Option<&Path>) -> Result<(), String> {
    let Some(root) = file_root else {
        return Err("file: is not opened; browser.file_root would have to name a folder".to_owned());
    };
    // In the same words whether there is such a file or not.
    let outside = || format!("only files below browser.file_root ({}) are opened", root.display());
    let path = url.to_file_path().map_err(|()| outside())?;
    match path.canonicalize() {
        Ok(path) if path.starts_with(root) => Ok(()),
        _ => Err(outside()),
    }
}

/// Host and port of a page of the web, in the spelling of the proxy.
pub fn host_and_port(url: &str) -> Option<(String, u16)> {
    let url = Url::parse(url).ok()?;
    let host = super::rules::RequestedHost::parse(url.host_str()?)?;
    Some((host.shown(), url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = check_url(text, None).map_or_else(|reason| format!("! {reason}"), |url| url.to_string());
        assert!(shown.starts_with(expected), "{text}: {shown}");
    }

    #[test]
    fn pages_of_the_web_are_opened() {
        check(" https://Example.org/a b ", "https://example.org/a%20b");
        check("http://127.1/", "http://127.0.0.1/");
        check("http://0x7f000001:80/", "http://127.0.0.1/");
        check("about:blank", "about:blank");
    }

    /// H-185 on code: what is no page of the web is not opened.
    #[test]
    fn nothing_else_is() {
        for text in [
            "chrome://settings",
            "data:text/html,<p>x",
            "javascript:alert(1)",
            "view-source:http://a.example/",
            "about:version",
            "about:srcdoc",
            "blob:http://a.example/x",
            "ftp://a.example/",
            "JaVaScRiPt:alert(1)",
            "java\tscript:alert(1)",
            "devtools://x",
            "file:///etc/passwd",
        ] {
            check(text, "! ");
        }
        check("example.org", "! 'example.org' is no URL");
        check("https://user:word@a.example/", "! a URL with a user name");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_opened_below_their_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("page.html"), "x").unwrap();
        std::fs::write(folder.path().join("secret.html"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret.html"), root.join("link.html")).unwrap();
        let opened =
            |name: &str| check_url(&format!("file://{}/{name}", root.display()), Some(&root)).is_ok();
        assert!(opened("page.html"));
        for name in ["../secret.html", "link.html", "..%2fsecret.html", "none.html", "../root2/x"] {
            assert!(!opened(name), "{name}");
        }
        assert!(check_url("file://server/share/x", Some(&root)).is_err());
    }

    #[test]
    fn hosts_are_told_as_the_proxy_tells_them() {
        assert_eq!(host_and_port("https://a.example/x"), Some(("a.example".to_owned(), 443)));
        assert_eq!(host_and_port("http://[::1]:80/"), Some(("[::1]".to_owned(), 80)));
        assert_eq!(host_and_port("about:blank"), None);
    }
}
