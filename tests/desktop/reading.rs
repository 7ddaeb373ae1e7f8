//! Text that is only pixels to the server: found, and clicked where it stands. What came of a click is read from the
//! program itself.

use serde_json::{Value, json};

use crate::desk::{Server, Stage, desk, until};

/// A window that has just been made is listed before it shows and has a picture, so the first tries may find nothing.
fn click(server: &mut Server, arguments: Value) -> Value {
    until(&format!("a click by {arguments}"), || {
        let reply = server.call("click_text", arguments.clone());
        let code = &reply["error"]["code"];
        assert!(reply["ok"] == true || code == "ElementNotFound" || code == "WindowOccluded", "{reply}");
        (reply["ok"] == true).then_some(reply)
    })
}

#[test]
fn a_button_of_gtk_is_clicked_by_its_label() {
    let desk = desk();
    let arguments = ["--list", "--title=Pick", "--column=Place", "Harbour", "Meadow", "Lantern"];
    let mut stage = Stage::new(&desk, "zenity", &arguments, "Pick", 4);
    let window = json!(stage.uid);
    let found = until("the label", || {
        let found = stage.ok("ocr_find", json!({"text": "meadow"}));
        (found["count"] == 1).then_some(found)
    });
    let row = &found["matches"][0];
    let reply = click(&mut stage.server, json!({"text": "Meadow", "match": "exact", "window_uid": window}));
    assert_eq!((&reply["found"]["x"], &reply["found"]["y"]), (&row["x"], &row["y"]), "{reply}");
    assert!(reply["target"]["ref"].is_string(), "{reply}");
    click(&mut stage.server, json!({"text": "OK", "match": "exact", "window_uid": window}));
    assert_eq!(stage.app.printed(), "Meadow\n");
}

#[test]
fn a_region_of_the_screen_is_read_whoever_draws_it() {
    let desk = desk();
    let mut server = desk.server();
    let font = ["-fa", "DejaVu Sans Mono", "-fs", "18", "-geometry", "40x8+200+200"];
    let script = "echo Harbour lights; echo Meadow path; sleep 600";
    let app = desk.start("xterm", &[&font[..], &["-T", "Dark", "-e", "sh", "-c", script]].concat());
    let uid = server.uid(&app, "Dark");
    let window = server.window(&app, "Dark");
    let region = json!({"region": window["bounds"], "text": "^meadow", "match": "regex"});
    let line = until("the line", || {
        let found = server.ok("ocr_find", region.clone());
        (found["count"] == 1).then(|| found["matches"][0].clone())
    });
    assert_eq!(line["line"], "Meadow path", "{line}");
    // A double click selects the word, which turns its colours around.
    let reply = click(&mut server, json!({"text": "lights", "window_uid": uid, "count": 2}));
    assert_eq!((&reply["found"]["text"], &reply["changed"]), (&json!("lights"), &json!(true)), "{reply}");
}

#[test]
fn a_page_is_worked_by_what_it_shows() {
    let desk = desk();
    let page = "<!doctype html><html lang=en><meta charset=utf-8><title>Canvas</title><body style='margin:40px'>\
                <canvas id=c width=600 height=300></canvas><script>\
                const c=document.getElementById('c'),d=c.getContext('2d');d.font='28px sans-serif';\
                d.fillText('Harbour',40,60);d.fillText('Lantern',40,180);\
                c.onclick=e=>document.title=e.offsetY<120?'picked Harbour':'picked Lantern'</script></html>";
    let path = desk.write("canvas.html", page);
    let profile = format!("--user-data-dir={}", desk.home().join("canvas").display());
    let address = format!("--app=file://{}", path.display());
    let arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--password-store=basic",
        &profile,
        &address,
    ];
    let app = desk.start("chromium", &arguments);
    let mut server = desk.server();
    let uid = server.uid(&app, "Canvas");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    click(&mut server, json!({"text": "Lantern", "window_uid": uid}));
    server.window(&app, "picked Lantern");
    click(&mut server, json!({"text": "harbour", "match": "exact", "window_uid": uid}));
    server.window(&app, "picked Harbour");
}
