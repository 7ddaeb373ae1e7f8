//! Windows behind others: that they are covered is known, their picture is theirs, and clicks do not go astray.

use serde_json::{Value, json};

use crate::desk::{App, Desk, Server, desk, until};

/// Two plain terminals of known colours at the same place; the second covers the first.
fn stacked(desk: &Desk, server: &mut Server) -> (App, String, App, String) {
    let start = |title: &str, colour: &str| {
        desk.start("xterm", &["-T", title, "-bg", colour, "-geometry", "60x20+200+200", "-e", "sleep 600"])
    };
    let below = start("Below", "#0000ff");
    let below_uid = server.uid(&below, "Below");
    let above = start("Above", "#00ff00");
    let above_uid = server.uid(&above, "Above");
    server.ok("bring_to_foreground", json!({"window_uid": above_uid}));
    (below, below_uid, above, above_uid)
}

fn area(reply: &Value) -> i64 {
    let regions = reply["visible_regions"].as_array().unwrap_or_else(|| panic!("{reply}"));
    regions.iter().map(|region| region["width"].as_i64().unwrap() * region["height"].as_i64().unwrap()).sum()
}

#[test]
fn what_is_covered_is_known() {
    let desk = desk();
    let mut server = desk.server();
    let (_below, below_uid, _above, above_uid) = stacked(&desk, &mut server);
    let seen =
        |server: &mut Server, uid: &str| area(&server.ok("get_visible_areas", json!({"window_uid": uid})));
    until("the lower window covered", || {
        let (below, above) = (seen(&mut server, &below_uid), seen(&mut server, &above_uid));
        (below * 5 < above).then_some(())
    });
    server.ok("bring_to_foreground", json!({"window_uid": below_uid}));
    until("the other one covered", || {
        let (below, above) = (seen(&mut server, &below_uid), seen(&mut server, &above_uid));
        (above * 5 < below).then_some(())
    });
}

#[test]
fn a_covered_window_is_pictured_as_it_is() {
    let desk = desk();
    let mut server = desk.server();
    let (_below, below_uid, _above, above_uid) = stacked(&desk, &mut server);
    for (uid, colour) in [(&below_uid, [0, 0, 255]), (&above_uid, [0, 255, 0])] {
        until("its own colour", || {
            let picture = server.picture(uid)?;
            let own = picture.pixels().filter(|pixel| pixel.0[..3] == colour).count();
            (own * 10 > picture.pixels().count() * 7).then_some(())
        });
    }
}

#[test]
fn a_click_on_a_covered_element_does_not_hit_what_covers_it() {
    let desk = desk();
    let mut server = desk.server();
    let mut app = desk.start("zenity", &["--entry", "--title=Hidden", "--entry-text=kept"]);
    let uid = server.ready(&app, "Hidden", 4);
    let bounds = server.window(&app, "Hidden")["bounds"].clone();
    let place =
        format!("100x40+{}+{}", bounds["x"].as_i64().unwrap() - 50, bounds["y"].as_i64().unwrap() - 50);
    let cover = desk.start("xterm", &["-T", "Cover", "-geometry", &place, "-e", "cat > clicked"]);
    let cover_uid = server.uid(&cover, "Cover");
    server.ok("bring_to_foreground", json!({"window_uid": cover_uid}));
    let ok = server.element(&uid, "Button", "OK");
    let reply = server.call("click_element", json!({"window_uid": uid, "element_id": ok["id"]}));
    // Either the element itself was asked, or the window was raised first, or the call says why not.
    if reply["ok"] == true {
        assert_eq!(app.printed(), "kept\n", "{reply}");
    } else {
        assert_eq!(reply["error"]["code"], "ElementOccluded", "{reply}");
    }
}
