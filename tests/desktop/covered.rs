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

/// H-66 on desktop: a menu that hangs out of its window is judged by what it says, not by what it hangs over
#[test]
fn a_menu_over_another_window_is_judged_as_a_menu() {
    let desk = desk();
    // The terminal has no elements at all: judged by it, everything would need consent for another reason.
    let rule = r#"[{"role": "MenuItem", "name_regex": "(?i)^delete"}]"#;
    let mut server = desk.server_with(&[("OSO_CONFIRMATION_REQUIRED", rule)]);
    let mut app = desk.start("zenity", &["--entry", "--title=Small", "--entry-text=kept"]);
    let uid = server.ready(&app, "Small", 4);
    let entry = until("the entry", || {
        server.tree(&uid).into_iter().find(|element| element["value"] == "kept" || element["role"] == "Edit")
    });
    server.ok("click_element", json!({"window_uid": uid, "element_id": entry["id"], "button": "right"}));
    let menu = |server: &mut Server, name: &str| {
        until(name, || {
            let all = server.tree(&uid);
            let item =
                all.into_iter().find(|element| element["role"] == "MenuItem" && element["name"] == name)?;
            item["bounds"]["width"].as_i64().filter(|width| *width > 10).map(|_| item)
        })
    };
    let centre = |item: &Value| {
        let side = |name: &str| item["bounds"][name].as_i64().unwrap();
        (side("x") + side("width") / 2, side("y") + side("height") / 2)
    };
    let delete = menu(&mut server, "Delete");
    let (x, y) = centre(&delete);
    let bottom = server.window(&app, "Small")["bounds"].clone();
    let outside = y > bottom["y"].as_i64().unwrap() + bottom["height"].as_i64().unwrap();
    assert!(outside, "the menu hangs out of its window: {delete} {bottom}");
    let reply = server.call("click_at", json!({"x": x, "y": y}));
    assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{reply}");
    assert_eq!(reply["error"]["context"]["target"]["window_uid"], uid.as_str(), "{reply}");
    assert!(reply["error"]["context"]["on_unread"].is_null(), "{reply}");
    // What no rule is about is clicked, there as elsewhere.
    let (x, y) = centre(&menu(&mut server, "Select All"));
    server.ok("click_at", json!({"x": x, "y": y}));
    assert!(!app.has_ended());
}
