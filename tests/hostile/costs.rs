//! What calls may cost others: memory, places, guesses, and a server that works for nobody.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::{Client, World};

/// A PNG of one colour: few bytes for many pixels.
fn plain_png(width: u32, height: u32) -> String {
    let mut bytes = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    let pixels = vec![0; width as usize * height as usize];
    image::ImageEncoder::write_image(encoder, &pixels, width, height, image::ExtendedColorType::L8).unwrap();
    BASE64_STANDARD.encode(bytes)
}

/// The most that the process ever had in memory, in megabytes.
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

const MOST_MEGABYTES: u64 = 300;

/// H-121 on stdio: twenty calls at once with pictures of five million pixels each share one budget of memory.
#[test]
fn pictures_of_callers_share_a_budget() {
    let mut client = Client::mock(&[]);
    let picture = plain_png(2500, 2000);
    let call = json!({"name": "vision_diff", "arguments": {"before_b64": picture, "after_b64": picture}});
    for _ in 0..20 {
        client.post("tools/call", call.clone());
    }
    for _ in 0..20 {
        let answer = client.receive();
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    }
    let peak = peak_memory(client.process_id());
    assert!(peak <= MOST_MEGABYTES, "{peak} MB");
}

/// H-121 on stdio: what can never fit is refused by the head of the picture, at once.
#[test]
fn pictures_that_never_fit_are_refused() {
    let mut client = Client::mock(&[]);
    let picture = plain_png(7990, 7990);
    let refused = client.data("vision_diff", json!({"before_b64": picture, "after_b64": picture}));
    assert!(
        refused["error"]["message"].as_str().unwrap_or_default().contains("at most 134217728"),
        "{refused}"
    );
    let peak = peak_memory(client.process_id());
    assert!(peak <= MOST_MEGABYTES, "{peak} MB");
}

/// H-70 on stdio: the secret of a locked tool cannot be tried thousands of times.
#[test]
fn wrong_secrets_cost_time() {
    const SECRET: &str = "S3NT1NEL correct horse";
    let settings = [("OSO_EXEC__ENABLED", "true"), ("OSO_EXEC__SECRET", SECRET)];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &settings);
    client.initialize("2025-11-25");
    let mut compared = 0;
    for n in 0..200 {
        let args = json!({"command": "true", "secret": format!("a wrong one {n}")});
        let refused = client.data("exec_command", args);
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{refused}");
        compared +=
            u64::from(refused["error"]["message"].as_str().unwrap().contains("this is not the secret"));
    }
    assert!(compared < 20, "{compared} of 200 were compared");
    client.until_says("wrong tries of the secret");
    // The right one is not compared either while that lasts.
    let refused = client.data("exec_command", json!({"command": "true", "secret": SECRET}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("nothing is compared for"), "{refused}");
}

#[test]
fn a_few_mistakes_cost_nothing() {
    const SECRET: &str = "S3NT1NEL correct horse";
    let world = World::with(json!({"exec": {"enabled": true, "secret": SECRET}}));
    let ask = |secret: &str| world.call("exec_command", json!({"command": "true", "secret": secret}));
    (0..5).for_each(|_| assert_eq!(ask("a wrong one 12")["ok"], false));
    let message = ask(SECRET)["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(!message.contains("secret"), "{message}");
}

/// H-37 on stdio: a server whose output nobody reads any more ends, although its input stays open.
#[test]
fn a_server_that_nobody_reads_ends() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .args(["--mode", "mcp", "--mock"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    std::io::Write::write_all(&mut input, format!("{greeting}\n").as_bytes()).unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(30), "it goes on for nobody");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(input);
}

/// H-81 on stdio: programs that the server starts get no key, neither ours nor another program's.
#[test]
fn programs_get_no_keys() {
    use std::os::unix::fs::PermissionsExt;
    const SECRET: &str = "S3NT1NEL correct horse";
    let folder = tempfile::tempdir().unwrap();
    let (program, told) = (folder.path().join("tesseract"), folder.path().join("told"));
    std::fs::write(&program, format!("#!/bin/sh\nenv >> {}\n", told.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = [
        ("OSO_EXEC__ENABLED", "true"),
        ("CLICKTHROUGH_EXEC_SECRET", SECRET),
        ("OSO_OCR__TESSERACT_CMD", program.to_str().unwrap()),
        ("OSO_TOKEN", "S3NT1NEL-token"),
        ("OWUI_API_KEY", "S3NT1NEL-key"),
        ("ANTHROPIC_API_KEY", "S3NT1NEL-key"),
        ("AWS_SECRET_ACCESS_KEY", "S3NT1NEL-key"),
        ("LC_TIME", "C"),
    ];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &settings);
    client.initialize("2025-11-25");
    client.data("get_ocr", json!({}));
    let told = std::fs::read_to_string(told).unwrap();
    assert!(told.contains("LC_TIME=C") && told.contains("PATH="), "{told}");
    assert!(!told.contains("S3NT1NEL"), "{told}");
}

#[cfg(feature = "http")]
mod over_http {
    use std::io::Write;
    use std::net::TcpStream;

    use super::*;
    use crate::support::http::Site;

    /// H-123 on REST: three hundred connections that say half a sentence do not keep the stop switch out.
    #[test]
    fn half_open_connections_give_way() {
        let site = Site::with(json!({"web_ui": {"token": "0123456789abcdef"}}));
        let half = |_: u32| -> TcpStream {
            let mut stream = site.connect();
            let _ = write!(stream, "POST /api/halt HTTP/1.1\r\nhost: {}\r\nx:", site.address);
            stream
        };
        let _crowd: Vec<TcpStream> = (0..300).map(half).collect();
        let token = [("authorization", "Bearer 0123456789abcdef"), ("content-type", "application/json")];
        for _ in 0..50 {
            assert_eq!(site.ask("POST", "/api/halt", &token, "{}").status, 200);
        }
        assert_eq!(site.ask("GET", "/api/windows", &token, "").status, 200);
    }

    /// H-123 on REST: with every place in use, places are left for the stop switch and for approvals, and for nothing
    /// else.
    #[test]
    fn places_are_kept_for_the_person() {
        let site = Site::new();
        let wait =
            json!({"timeout_ms": 30_000, "any_of": [{"type": "window_appears", "title_regex": "never"}]})
                .to_string();
        let asking = |_: u32| -> TcpStream {
            let mut stream = site.connect();
            let length = wait.len();
            let head = format!(
                "POST /api/wait_for HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n",
                site.address
            );
            stream.write_all(format!("{head}{wait}").as_bytes()).unwrap();
            stream
        };
        let _crowd: Vec<TcpStream> = (0..256).map(asking).collect();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(site.get("/api/windows").status, 503);
        assert_eq!(site.get("/api/approvals").status, 200);
        assert_eq!(site.post("/api/halt", json!({})).status, 200);
    }

    /// H-127 on REST: waits hold up no other call.
    #[test]
    fn waits_hold_up_nobody() {
        let site = Site::new();
        let wait =
            json!({"timeout_ms": 20_000, "any_of": [{"type": "window_appears", "title_regex": "never"}]});
        std::thread::scope(|scope| {
            for _ in 0..150 {
                scope.spawn(|| site.post("/api/wait_for", wait.clone()));
            }
            std::thread::sleep(Duration::from_secs(1));
            let began = Instant::now();
            assert_eq!(site.get("/api/windows").status, 200);
            let took = began.elapsed();
            site.shutdown.cancel();
            assert!(took < Duration::from_secs(8), "{took:?}");
        });
    }

    /// H-70 on REST: wrong tokens are answered later and later; the right one at once.
    #[test]
    fn wrong_tokens_cost_time() {
        let site = Site::with(json!({"web_ui": {"token": "0123456789abcdef"}}));
        let ask = |token: &str| {
            site.ask("GET", "/api/windows", &[("authorization", &format!("Bearer {token}"))], "")
        };
        let began = Instant::now();
        for n in 0..9 {
            assert_eq!(ask(&format!("wrong-{n}")).status, 401);
        }
        // 0.1, 0.2, 0.4 and 0.8 s.
        assert!(began.elapsed() >= Duration::from_millis(1500), "{:?}", began.elapsed());
        let began = Instant::now();
        let answer: Value = ask("0123456789abcdef").json();
        assert!(answer["windows"].is_array() && began.elapsed() < Duration::from_secs(1), "{answer}");
    }
}
