//! What PowerShell printed, made into windows, monitors and pictures. It is text of a foreign process: counted, bounded
//! and checked before it is believed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::error::{Error, Kind, Result};
use crate::model::app::Ended;
use crate::model::png_file::Png;
use crate::model::{Monitor, Rect, Window};
use crate::platform::{Shot, gone};

const UID: &str = "hwnd:";
/// More windows than that are not listed; the rearmost are left out.
const MOST_WINDOWS: usize = 500;
const MOST_MONITORS: usize = 64;
const TITLE_CHARACTERS: usize = 1024;
/// How much of what it says about a failure is passed on.
const COMPLAINT_CHARACTERS: usize = 300;

/// One look at the desktop of Windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WslLook {
    /// From the front to the back.
    pub windows: Vec<Window>,
    pub monitors: Vec<Monitor>,
    pub screen: Option<Rect>,
}

#[derive(Debug, Deserialize)]
struct WslRawLook {
    windows: Vec<WslRawWindow>,
    monitors: Vec<WslRawMonitor>,
}

#[derive(Debug, Deserialize)]
struct WslRawWindow {
    handle: i64,
    title: String,
    process: String,
    pid: u32,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    focused: bool,
    minimized: bool,
    cloaked: bool,
    tool: bool,
}

#[derive(Debug, Deserialize)]
struct WslRawMonitor {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    primary: bool,
    /// Dots for an inch; 96 is a scale of one, and anything odd too.
    #[serde(default)]
    dots: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WslRawPicture {
    gone: bool,
    minimized: bool,
    refused: bool,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    png: String,
}

/// What was printed, if all of it came and came in time.
pub fn answer(ended: Ended, patience: Duration, most: usize) -> Result<String> {
    if ended.timed_out {
        let message = format!("PowerShell did not answer within {} s and was stopped", patience.as_secs());
        return Err(Error::new(Kind::Timeout, message).with("phase", "powershell"));
    }
    if ended.stdout.truncated {
        return Err(Error::internal(format!(
            "PowerShell printed more than {most} bytes, which is not a valid answer"
        )));
    }
    let printed = String::from_utf8_lossy(&ended.stdout.bytes).into_owned();
    if ended.exit_code == Some(0) {
        return Ok(printed);
    }
    let said = String::from_utf8_lossy(&ended.stderr.bytes);
    let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed no error");
    let said: String = said.chars().take(COMPLAINT_CHARACTERS).collect();
    Err(Error::new(Kind::PlatformUnsupported, format!("PowerShell failed: {said}")))
}

pub fn look(printed: &str) -> Result<WslLook> {
    let raw: WslRawLook = read(printed)?;
    let windows: Vec<Window> =
        raw.windows.into_iter().filter(is_window).take(MOST_WINDOWS).map(window).collect();
    let monitors: Vec<Monitor> = raw.monitors.into_iter().take(MOST_MONITORS).map(monitor).collect();
    let screen = monitors.iter().map(|monitor| monitor.physical).reduce(|all, next| all.around(&next));
    Ok(WslLook { windows, monitors, screen })
}

/// Tool windows without a title are tooltips and helpers; a cloaked window is one that nobody sees.
fn is_window(raw: &WslRawWindow) -> bool {
    let empty = raw.width <= 0 || raw.height <= 0;
    !raw.cloaked && !raw.title.is_empty() && !raw.tool && (!empty || raw.minimized)
}

fn window(raw: WslRawWindow) -> Window {
    Window {
        uid: format!("{UID}{:x}", raw.handle),
        handle: raw.handle.to_string(),
        title: raw.title.chars().take(TITLE_CHARACTERS).collect(),
        process: raw.process.chars().take(TITLE_CHARACTERS).collect(),
        pid: raw.pid,
        bounds: Rect::new(raw.x, raw.y, raw.width.max(0), raw.height.max(0)),
        focused: raw.focused,
        minimized: raw.minimized,
        url: None,
    }
}

/// The scripts count in real pixels, and what Windows shows larger is larger in them.
fn monitor(raw: WslRawMonitor) -> Monitor {
    let area = Rect::new(raw.x, raw.y, raw.width.max(0), raw.height.max(0));
    Monitor::scaled(area, raw.primary, scale(raw.dots))
}

fn scale(dots: u32) -> f64 {
    if (48..=960).contains(&dots) { f64::from(dots) / 96.0 } else { 1.0 }
}

/// The number that a uid stands for.
pub fn handle_of(uid: &str) -> Result<i64> {
    let number = uid.strip_prefix(UID).and_then(|hex| i64::from_str_radix(hex, 16).ok());
    number.ok_or_else(|| gone(uid))
}

/// A picture, if it has the size that was said of it.
pub fn shot(printed: &str, uid: Option<&str>) -> Result<Shot> {
    let raw: WslRawPicture = read(printed)?;
    if raw.gone {
        return Err(gone(uid.unwrap_or_default()));
    }
    let refused = |why: &str| Err(Error::new(Kind::PlatformUnsupported, why));
    if raw.minimized {
        return refused("the window is minimized, so Windows draws nothing of it");
    }
    if raw.refused {
        return refused(
            "the window did not let Windows draw it (PrintWindow); take the whole screen instead",
        );
    }
    let png = STANDARD.decode(raw.png.trim()).map_err(|problem| garbled(&problem.to_string()))?;
    let picture = Png::open(&png).and_then(Png::decode).map_err(|problem| garbled(&problem.message))?;
    let area = Rect::new(raw.x, raw.y, raw.width, raw.height);
    if picture.area() != (Rect { x: 0, y: 0, ..area }) {
        return Err(garbled("the image does not have the announced size"));
    }
    Ok(Shot { picture, area })
}

fn read<T: for<'a> Deserialize<'a>>(printed: &str) -> Result<T> {
    let printed = printed.trim_start_matches('\u{feff}').trim();
    serde_json::from_str(printed).map_err(|problem| garbled(&problem.to_string()))
}

fn garbled(why: &str) -> Error {
    Error::internal(format!("PowerShell's output is not a valid answer: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::app::Printed;
    use crate::model::image::Picture;
    use serde_json::{Value, json};

    fn raw(handle: i64, title: &str) -> Value {
        json!({"handle": handle, "title": title, "process": "notepad", "pid": 42, "x": 10, "y": 20, "width": 300,
               "height": 200, "focused": false, "minimized": false, "cloaked": false, "tool": false})
    }

    fn with(mut window: Value, key: &str, value: Value) -> Value {
        window[key] = value;
        window
    }

    fn titles(windows: Vec<Value>) -> Vec<String> {
        let printed = json!({"windows": windows, "monitors": []}).to_string();
        look(&printed).unwrap().windows.into_iter().map(|window| window.title).collect()
    }

    #[test]
    fn windows_that_a_person_sees_are_listed_from_the_front_to_the_back() {
        let listed = titles(vec![
            raw(1, "front"),
            raw(2, ""),
            with(raw(3, "cloaked"), "cloaked", json!(true)),
            with(raw(4, "palette"), "tool", json!(true)),
            with(raw(5, "flat"), "width", json!(0)),
            with(with(raw(6, "away"), "width", json!(0)), "minimized", json!(true)),
            raw(7, "back"),
        ]);
        assert_eq!(listed, ["front", "away", "back"]);
    }

    #[test]
    fn a_window_is_found_again_by_its_uid() {
        let printed = json!({"windows": [raw(0x20b1c, "Notes")], "monitors": []}).to_string();
        let window = look(&printed).unwrap().windows.remove(0);
        assert_eq!((window.uid.as_str(), window.handle.as_str(), window.pid), ("hwnd:20b1c", "133916", 42));
        assert_eq!(handle_of(&window.uid).unwrap(), 0x20b1c);
        for foreign in ["x11:4a", "hwnd:", "hwnd:$(calc)", "20b1c"] {
            assert_eq!(handle_of(foreign).unwrap_err().kind, Kind::WindowGone, "{foreign}");
        }
    }

    #[test]
    fn the_screen_is_around_all_monitors() {
        let monitors = json!([
            {"x": 0, "y": 0, "width": 1920, "height": 1080, "primary": true},
            {"x": -1280, "y": 100, "width": 1280, "height": 1024, "primary": false},
        ]);
        let look = look(&json!({"windows": [], "monitors": monitors}).to_string()).unwrap();
        assert_eq!(look.screen, Some(Rect::new(-1280, 0, 3200, 1124)));
        assert_eq!(look.monitors.iter().map(|monitor| monitor.primary).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_monitor_has_the_scale_that_it_tells() {
        let check = |dots: serde_json::Value, scale: f64| {
            let monitor =
                json!({"x": 0, "y": 0, "width": 3840, "height": 2160, "primary": true, "dots": dots});
            let look = look(&json!({"windows": [], "monitors": [monitor]}).to_string()).unwrap();
            let monitor = &look.monitors[0];
            assert_eq!((monitor.scale_factor, monitor.physical), (scale, Rect::new(0, 0, 3840, 2160)));
        };
        check(json!(192), 2.0);
        check(json!(96), 1.0);
        check(json!(0), 1.0);
        check(json!(100_000), 1.0);
    }

    #[test]
    fn a_flood_of_windows_and_letters_is_cut() {
        let windows = (0..2_000).map(|handle| raw(handle, &"x".repeat(5_000))).collect();
        let listed = titles(windows);
        assert_eq!((listed.len(), listed[0].len()), (MOST_WINDOWS, TITLE_CHARACTERS));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for garbage in ["", "null", "[]", "{}", "{\"windows\": 3}", "Access denied", "\u{feff}{\"windows\":"]
        {
            assert_eq!(look(garbage).unwrap_err().kind, Kind::Internal, "{garbage:?}");
        }
    }

    fn ended(exit_code: Option<i32>, stdout: &str, stderr: &str) -> Ended {
        let printed = |text: &str| Printed { bytes: text.as_bytes().to_vec(), truncated: false };
        Ended {
            exit_code,
            timed_out: exit_code.is_none(),
            took: Duration::ZERO,
            stdout: printed(stdout),
            stderr: printed(stderr),
        }
    }

    fn check_answer(ended: Ended, expected: Result<&str, (Kind, &str)>) {
        let answer = answer(ended, Duration::from_secs(15), 100);
        match (answer, expected) {
            (Ok(text), Ok(wanted)) => assert_eq!(text, wanted),
            (Err(error), Err((kind, part))) => {
                assert!(error.kind == kind && error.message.contains(part), "{error}");
            }
            (answer, _) => panic!("{answer:?}"),
        }
    }

    #[test]
    fn an_answer_is_whole_in_time_and_without_failure() {
        check_answer(ended(Some(0), "{}", "warning"), Ok("{}"));
        check_answer(ended(None, "{}", ""), Err((Kind::Timeout, "15 s")));
        check_answer(
            ended(Some(1), "{}", "\n At line 3\nmore"),
            Err((Kind::PlatformUnsupported, "failed: At line 3")),
        );
        check_answer(ended(Some(1), "", ""), Err((Kind::PlatformUnsupported, "printed no error")));
        let mut flood = ended(Some(0), "{}", "");
        flood.stdout.truncated = true;
        check_answer(flood, Err((Kind::Internal, "more than 100 bytes")));
    }

    fn picture(size: (u32, u32), said: (i32, i32)) -> String {
        let png = Picture::new(size.0, size.1, [9, 8, 7, 255]).unwrap().to_png().unwrap();
        json!({"x": -5, "y": 6, "width": said.0, "height": said.1, "png": STANDARD.encode(png)}).to_string()
    }

    #[test]
    fn a_picture_is_where_it_was_taken() {
        let shot = shot(&picture((4, 3), (4, 3)), None).unwrap();
        assert_eq!((shot.area, shot.picture.pixel(3, 2)), (Rect::new(-5, 6, 4, 3), Some([9, 8, 7, 255])));
    }

    #[test]
    fn a_picture_that_is_none_is_refused() {
        assert_eq!(shot(&picture((4, 3), (4, 4)), None).unwrap_err().kind, Kind::Internal);
        assert_eq!(shot(r#"{"png": "!"}"#, None).unwrap_err().kind, Kind::Internal);
        assert_eq!(shot(r#"{"png": "AAAA"}"#, None).unwrap_err().kind, Kind::Internal);
        assert_eq!(shot(r#"{"gone": true}"#, Some("hwnd:1")).unwrap_err().kind, Kind::WindowGone);
        assert_eq!(shot(r#"{"minimized": true}"#, None).unwrap_err().kind, Kind::PlatformUnsupported);
        assert_eq!(shot(r#"{"refused": true}"#, None).unwrap_err().kind, Kind::PlatformUnsupported);
    }
}
