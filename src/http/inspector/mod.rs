//! The files of the page, embedded in the binary. They hold nothing private, so they need no token; what
//! they show comes from the API, with one.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::body::Body;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};

use super::present::{self, HttpRefusal};

struct PageFile {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! file {
    ($name:literal, $kind:expr) => {
        PageFile { path: concat!("/", $name), kind: $kind, bytes: include_bytes!($name) }
    };
}

/// A page, behind the beginning that all pages have.
macro_rules! page {
    ($name:literal) => {
        PageFile {
            path: "/",
            kind: HTML,
            bytes: concat!(include_str!("head.html"), include_str!($name)).as_bytes(),
        }
    };
}

const FILES: &[PageFile] = &[
    page!("index.html"),
    file!("actions.js", JS),
    file!("server.js", JS),
    file!("shell.js", JS),
    file!("approvals.js", JS),
    file!("description.js", JS),
    file!("detail.js", JS),
    file!("dom.js", JS),
    file!("halt.js", JS),
    file!("icon.svg", SVG),
    file!("job.js", JS),
    file!("job_events.js", JS),
    file!("job_form.js", JS),
    file!("jobs.js", JS),
    file!("main.js", JS),
    file!("picture.js", JS),
    file!("search.js", JS),
    file!("sketch.js", JS),
    file!("store.js", JS),
    file!("style.css", CSS),
    file!("timeline.js", JS),
    file!("traces.js", JS),
    file!("tree.js", JS),
    file!("view.js", JS),
    file!("windows.js", JS),
];

/// The jobs alone, to look at, for ScreenJob's listener.
const JOB_FILES: &[PageFile] = &[
    page!("listener.html"),
    file!("dom.js", JS),
    file!("icon.svg", SVG),
    file!("job.js", JS),
    file!("job_events.js", JS),
    file!("jobs.js", JS),
    file!("listener.js", JS),
    file!("server.js", JS),
    file!("shell.js", JS),
    file!("store.js", JS),
    file!("style.css", CSS),
];

/// Only what this server sends runs or is shown; nobody puts the page into a frame.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; object-src 'none'";

/// Whatever is no route of the API.
pub async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response<Body> {
    serve_one_of(FILES, &method, &uri, &headers)
}

/// The same for ScreenJob's listener.
#[cfg(feature = "jobs")]
pub async fn serve_for_jobs(method: Method, uri: Uri, headers: HeaderMap) -> Response<Body> {
    serve_one_of(JOB_FILES, &method, &uri, &headers)
}

/// Whether a path is a file of ScreenJob's page.
pub fn is_for_jobs(path: &str) -> bool {
    JOB_FILES.iter().any(|file| file.path == path)
}

fn serve_one_of(files: &[PageFile], method: &Method, uri: &Uri, headers: &HeaderMap) -> Response<Body> {
    let Some(file) = files.iter().find(|file| file.path == uri.path()) else {
        return HttpRefusal::not_found().into_response();
    };
    if *method != Method::GET && *method != Method::HEAD {
        let mut refused = HttpRefusal::method_not_allowed().into_response();
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET,HEAD"));
        return refused;
    }
    let tag = etag(file.bytes);
    let same = headers.get_all(IF_NONE_MATCH).iter().any(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if same {
        present::typed_response(StatusCode::NOT_MODIFIED, file.kind, Body::empty())
    } else {
        present::typed_response(StatusCode::OK, file.kind, file.bytes)
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Asked for anew each time, and sent only when it is another build's.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn etag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that is found only when another one is read costs a way there and back.
    #[test]
    fn every_module_is_named_in_the_page() {
        // What shows jobs is fetched where there may be some.
        check_links(FILES, |file| file != "/main.js" && !file.starts_with("/job"));
        check_links(JOB_FILES, |file| file != "/listener.js");
    }

    /// H-325 on page: what comes from jobs and screens is put into the page as text.
    #[test]
    fn no_module_makes_markup_of_text() {
        for file in FILES.iter().chain(JOB_FILES).filter(|file| file.kind == JS) {
            let code = str::from_utf8(file.bytes).unwrap();
            for way in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
            {
                assert!(!code.contains(way), "{} uses {way}", file.path);
            }
        }
    }

    fn check_links(files: &[PageFile], linked: impl Fn(&str) -> bool) {
        let page = str::from_utf8(files[0].bytes).unwrap();
        for file in files.iter().filter(|file| file.kind == JS && linked(file.path)) {
            let link = format!("<link rel=\"modulepreload\" href=\"{}\">", &file.path[1..]);
            assert!(page.contains(&link), "{link} is missing");
        }
    }
}
