//! Pictures with grids, and what can be read in them.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::displays::{Area, Display, Part, screen_field};
use super::fields::Form;
use super::{Answer, Failure, Outcome, RouteAnswer, call};
use crate::config::Clickthrough;
use crate::http::surface::Surface;

/// How many pieces of text one answer has at most.
const MOST_PIECES: usize = 1000;

/// A picture that was asked for.
#[derive(Debug, PartialEq)]
pub struct Wish {
    screen: i64,
    shows: Shows,
    grid: Option<GridFields>,
    labels: bool,
    format: &'static str,
    quality: i64,
    ocr: Option<ReadingFields>,
    as_image: bool,
}

#[derive(Debug, PartialEq)]
enum Shows {
    Display,
    Region(Area),
    Around { x: i64, y: i64, width: i64, height: i64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct GridFields {
    rows: i64,
    cols: i64,
}

/// How text is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadingFields {
    pub least: Option<i64>,
    pub psm: Option<i64>,
}

impl ReadingFields {
    /// The engine here reads English; whoever asks for something else is told.
    pub fn read(form: &mut Form) -> Self {
        if let Some(language) = form.text("ocr_lang", 1..=64).filter(|language| language != "eng") {
            form.fault("ocr_lang", "enum", format!("only eng is supported, not {language}"));
        }
        let least = form.number("ocr_min_confidence", 0.0..=100.0).map(|least| least.round() as i64);
        Self { least, psm: form.int("ocr_psm", 0..=13) }
    }
}

pub fn read_see(mut form: Form, config: &Clickthrough) -> Result<Wish, Failure> {
    let screen = screen_field(&mut form);
    let shows = Area::read(&mut form).map_or(Shows::Display, Shows::Region);
    let grid = (config.grid_rows, config.grid_cols);
    read_rest(form, screen, shows, grid, 85)
}

pub fn read_zoom(mut form: Form) -> Result<Wish, Failure> {
    let screen = screen_field(&mut form);
    let [x, y] = ["center_x", "center_y"].map(|name| form.require(name).int(name, 0..=32_767).unwrap_or(0));
    let width = form.int("width", 10..=9999).unwrap_or(500);
    let height = form.int("height", 10..=9999).unwrap_or(350);
    read_rest(form, screen, Shows::Around { x, y, width, height }, (20, 20), 90)
}

fn read_rest(
    mut form: Form,
    screen: i64,
    shows: Shows,
    (rows, cols): (u32, u32),
    quality: i64,
) -> Result<Wish, Failure> {
    let with_grid = form.flag("with_grid").unwrap_or(true);
    let rows = form.int("grid_rows", 1..=300).unwrap_or(rows.into());
    let cols = form.int("grid_cols", 1..=300).unwrap_or(cols.into());
    let wants_text = form.flag("ocr").unwrap_or(false);
    let reading = ReadingFields::read(&mut form);
    let wish = Wish {
        screen,
        shows,
        grid: with_grid.then_some(GridFields { rows, cols }),
        labels: form.flag("include_labels").unwrap_or(true),
        format: form.one_of("image_format", &["png", "jpeg"]).unwrap_or("png"),
        quality: form.int("jpeg_quality", 1..=100).unwrap_or(quality),
        ocr: wants_text.then_some(reading),
        as_image: form.flag("asImage").unwrap_or(false),
    };
    form.finish(wish)
}

pub async fn see(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let wish = read_see(form, &surface.app.config.clickthrough)?;
    shown(&surface, wish).await
}

pub async fn zoom(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    shown(&surface, read_zoom(form)?).await
}

/// Pictures are told in the envelope, or as they are.
async fn shown(surface: &Surface, wish: Wish) -> RouteAnswer {
    let data = take(surface, &wish).await?;
    if !wish.as_image {
        return Ok(Answer::Seen(data));
    }
    let kind = if wish.format == "jpeg" { "image/jpeg" } else { "image/png" };
    let bytes = BASE64_STANDARD.decode(data["image"]["base64"].as_str().unwrap_or_default());
    Ok(Answer::Picture(kind, bytes.unwrap_or_default()))
}

async fn take(surface: &Surface, wish: &Wish) -> Outcome {
    let display = Display::find(surface, wish.screen).await?;
    let (tool, mut args) = match &wish.shows {
        Shows::Display => ("get_screenshot", json!({"region": display.area.map(Area::json)})),
        Shows::Region(area) => ("get_screenshot", json!({"region": display.check_region(*area)?.json()})),
        Shows::Around { x, y, width, height } => {
            display.check_region(Area { x: *x, y: *y, width: 1, height: 1 })?;
            ("zoom", json!({"x": x, "y": y, "width": width, "height": height}))
        }
    };
    let grid = wish.grid.map(|grid| json!({"rows": grid.rows, "cols": grid.cols, "labels": wish.labels}));
    args["grid"] = json!(grid);
    args["format"] = wish.format.into();
    args["quality"] = json!((wish.format == "jpeg").then_some(wish.quality));
    let reply = call(surface, tool, args).await?;
    let area = Area::of(&reply["source_bbox"]).or(display.area).unwrap_or_default();
    let mut meta = json!({
        "screen": display.screen,
        "display": display.facts,
        "region": area.json(),
        "grid": wish.grid.map(|grid| grid_facts(grid, area)),
    });
    if let Some(reading) = wish.ocr {
        meta["ocr"] = read_area(surface, area, reading).await?;
    }
    Ok(json!({
        "image": {
            "format": wish.format, "base64": reply["data"], "width": reply["width"], "height": reply["height"],
            "image_id": reply["image_id"],
        },
        "meta": meta,
    }))
}

fn grid_facts(grid: GridFields, area: Area) -> Value {
    let short = |length: f64| (length * 1000.0).round() / 1000.0;
    json!({
        "rows": grid.rows,
        "cols": grid.cols,
        "cell_width": short(area.width as f64 / grid.cols as f64),
        "cell_height": short(area.height as f64 / grid.rows as f64),
        "indexing": "zero-based",
        "point_formula": {
            "x": "region.x + (col + 0.5 + dx * 0.5) * cell_width",
            "y": "region.y + (row + 0.5 + dy * 0.5) * cell_height",
            "dx": "-1 to 1",
            "dy": "-1 to 1",
        },
    })
}

/// Every word in a part of the screen.
async fn read_area(surface: &Surface, area: Area, reading: ReadingFields) -> Outcome {
    let args = json!({
        "region": area.json(), "group_lines": false, "max_results": MOST_PIECES,
        "min_confidence": reading.least, "psm": reading.psm,
    });
    let reply = call(surface, "ocr_find", args).await?;
    Ok(json!({
        "engine": "tesseract", "lang": "eng", "items": items(&reply["matches"], area),
        "truncated": reply["not_listed"] != 0,
    }))
}

fn items(matches: &Value, area: Area) -> Vec<Value> {
    let found = matches.as_array().map(Vec::as_slice).unwrap_or_default();
    found.iter().map(|piece| item(piece, area)).collect()
}

/// A piece of text as this face tells it.
pub fn item(piece: &Value, area: Area) -> Value {
    let place = &piece["bounds"];
    let beside = |name: &str, origin: i64| place[name].as_i64().unwrap_or(0) - origin;
    json!({
        "text": piece["text"],
        "confidence": piece["confidence"],
        "bbox": place,
        "center": {"x": piece["x"], "y": piece["y"]},
        "region_relative_bbox": {
            "x": beside("x", area.x), "y": beside("y", area.y), "width": place["width"], "height": place["height"],
        },
    })
}

pub async fn ocr(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (part, reading) = form.whole(read_ocr)?;
    let (display, area) = part.find(&surface).await?;
    let mut read = read_area(&surface, area, reading).await?;
    read["screen"] = display.screen;
    read["region"] = area.json();
    Ok(Answer::Seen(read))
}

fn read_ocr(form: &mut Form) -> (Part, ReadingFields) {
    (Part::read(form), ReadingFields::read(form))
}

/// The text that is looked for, and how it is compared.
pub fn text_fields(form: &mut Form) -> Value {
    json!({
        "text": form.require("text").text("text", 1..=1000),
        "match": form.one_of("match", &["contains", "exact", "regex"]),
        "case_sensitive": form.flag("case_sensitive"),
    })
}

pub async fn ocr_find(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (part, mut args) = form.whole(read_find)?;
    let (display, area) = part.find(&surface).await?;
    args["region"] = area.json();
    let reply = call(&surface, "ocr_find", args).await?;
    Ok(Answer::Seen(json!({
        "screen": display.screen, "region": area.json(), "count": reply["count"],
        "truncated": reply["not_listed"] != 0, "matches": items(&reply["matches"], area),
        "nearest": items(&reply["nearest"], area),
    })))
}

fn read_find(form: &mut Form) -> (Part, Value) {
    let (part, reading) = read_ocr(form);
    let mut args = text_fields(form);
    args["group_lines"] = form.flag("group_lines").unwrap_or(false).into();
    args["max_results"] = form.int("max_results", 1..=1000).into();
    args["min_confidence"] = reading.least.into();
    args["psm"] = reading.psm.into();
    (part, args)
}
