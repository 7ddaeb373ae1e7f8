//! Pictures of the screen by the screencopy protocol of wlroots, through memory that is shared with the compositor.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum, delegate_noop};
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_frame_v1::{self, ZwlrScreencopyFrameV1};
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1;

use super::link::{Link, Told};
use super::outputs::{self, LayoutOutput};
use crate::error::{Error, Kind, Result};
use crate::model::Rect;
use crate::model::image::{BLACK, Picture};
use crate::platform::Shot;

pub const PROTOCOL: &str = "zwlr_screencopy_manager_v1";

/// What the compositor told of the frame that is being copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToldFrame {
    layout: Option<FrameLayout>,
    upside_down: bool,
    ready: bool,
    failed: bool,
}

impl ToldFrame {
    fn note_event(&mut self, event: &zwlr_screencopy_frame_v1::Event) {
        use zwlr_screencopy_frame_v1::{Event, Flags};
        match *event {
            Event::Buffer { format: WEnum::Value(format), width, height, stride } => {
                self.layout = Some(FrameLayout { format, width, height, stride });
            }
            Event::Buffer { .. } | Event::Failed => self.failed = true,
            Event::Flags { flags: WEnum::Value(flags) } => {
                self.upside_down = flags.contains(Flags::YInvert);
            }
            Event::Ready { .. } => self.ready = true,
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameLayout {
    format: Format,
    width: u32,
    height: u32,
    stride: u32,
}

/// All outputs in one picture, each where the layout has it.
pub fn screen_picture(link: &mut Link) -> Result<Shot> {
    let outputs = outputs::list(link);
    let area = outputs::layout_of(&outputs).ok_or_else(|| no_picture("it has no output"))?;
    region_picture(link, area)
}

/// What the screen shows in an area of the layout; nothing where that lies outside.
pub fn region_picture(link: &mut Link, area: Rect) -> Result<Shot> {
    if !link.offers(PROTOCOL) {
        return Err(no_picture("it does not offer it"));
    }
    let outputs = outputs::list(link);
    let layout = outputs::layout_of(&outputs).ok_or_else(|| no_picture("it has no output"))?;
    let area = area.intersection(&layout).unwrap_or_default();
    let side = |length: i32| u32::try_from(length).unwrap_or(0);
    let mut whole = Picture::new(side(area.width), side(area.height), BLACK)?;
    for (index, output) in outputs.iter().enumerate() {
        let Some(part) = output.logical.intersection(&area).filter(|part| !part.is_empty()) else { continue };
        let picture = output_part(link, index, output, part)?;
        whole.draw_over(&picture, part.x - area.x, part.y - area.y);
    }
    Ok(Shot { picture: whole, area })
}

fn output_part(link: &mut Link, index: usize, output: &LayoutOutput, part: Rect) -> Result<Picture> {
    if !output.upright {
        return Err(no_picture("an output is rotated, and the screenshot would be distorted"));
    }
    let manager: ZwlrScreencopyManagerV1 = link.bind(1)?;
    let proxy = link.told.outputs.get(index).map(|told| told.proxy.clone());
    let proxy = proxy.ok_or_else(|| no_picture("the output is gone"))?;
    link.told.frame = ToldFrame::default();
    let (x, y) = (part.x - output.logical.x, part.y - output.logical.y);
    let frame = manager.capture_output_region(0, &proxy, x, y, part.width, part.height, &link.handle(), ());
    let picture = copy_frame(link, &frame);
    frame.destroy();
    manager.destroy();
    Ok(resized(picture?, part))
}

fn copy_frame(link: &mut Link, frame: &ZwlrScreencopyFrameV1) -> Result<Picture> {
    link.wait_until(|told| told.frame.failed || told.frame.layout.is_some())?;
    let layout = link.told.frame.layout.ok_or_else(|| no_picture("it refused"))?;
    let size = u64::from(layout.stride) * u64::from(layout.height);
    let length = i32::try_from(size).map_err(|_| no_picture("the output is too large"))?;
    let memory = File::from(memfd_create("oso-screen", MemfdFlags::CLOEXEC).map_err(no_memory)?);
    memory.set_len(size).map_err(no_memory)?;
    let shm: WlShm = link.bind(1)?;
    let pool = shm.create_pool(memory.as_fd(), length, &link.handle(), ());
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let (width, height, stride) = (side(layout.width), side(layout.height), side(layout.stride));
    let buffer = pool.create_buffer(0, width, height, stride, layout.format, &link.handle(), ());
    frame.copy(&buffer);
    let waited = link.wait_until(|told| told.frame.failed || told.frame.ready);
    buffer.destroy();
    pool.destroy();
    waited?;
    if link.told.frame.failed {
        return Err(no_picture("it failed"));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    memory.read_exact_at(&mut bytes, 0).map_err(no_memory)?;
    decode(&layout, &bytes, link.told.frame.upside_down)
}

/// Where red, green and blue are in the four bytes of a pixel.
fn color_order(format: Format) -> Result<[usize; 3]> {
    match format {
        Format::Xrgb8888 | Format::Argb8888 => Ok([2, 1, 0]),
        Format::Xbgr8888 | Format::Abgr8888 => Ok([0, 1, 2]),
        other => Err(no_picture(&format!("its pixels are {other:?}, which this program does not read"))),
    }
}

/// Red, green and blue of four bytes a pixel, whatever their order.
fn decode(layout: &FrameLayout, bytes: &[u8], upside_down: bool) -> Result<Picture> {
    let order = color_order(layout.format)?;
    let row = usize::try_from(layout.width).unwrap_or(0) * 4;
    let stride = usize::try_from(layout.stride).unwrap_or(0).max(1);
    let mut rows: Vec<&[u8]> = bytes.chunks_exact(stride).filter_map(|line| line.get(..row)).collect();
    if upside_down {
        rows.reverse();
    }
    let mut rgba = Vec::with_capacity(row * rows.len());
    for pixel in rows.iter().flat_map(|line| line.as_chunks::<4>().0) {
        rgba.extend_from_slice(&[pixel[order[0]], pixel[order[1]], pixel[order[2]], u8::MAX]);
    }
    Ok(Picture::from_rgba(layout.width, layout.height, rgba)?)
}

/// One pixel for each unit of the layout: the nearest one, so that edges stay sharp.
pub fn resized(picture: Picture, area: Rect) -> Picture {
    let (from, width, height) = (picture.area(), area.width.max(0), area.height.max(0));
    if (from.width, from.height) == (width, height) || picture.is_empty() {
        return picture;
    }
    let source = |at: i32, of: i32, among: i32| {
        i32::try_from((2 * i64::from(at) + 1) * i64::from(of) / (2 * i64::from(among.max(1)))).unwrap_or(0)
    };
    let mut rgba = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let at = (source(x, from.width, width), source(y, from.height, height));
            rgba.extend_from_slice(&picture.pixel(at.0, at.1).unwrap_or(BLACK));
        }
    }
    let side = |length: i32| u32::try_from(length).unwrap_or(0);
    Picture::from_rgba(side(width), side(height), rgba).unwrap_or(picture)
}

fn no_memory(problem: impl std::fmt::Display) -> Error {
    Error::internal(format!("no memory for a screenshot: {problem}"))
}

fn no_picture(why: &str) -> Error {
    let message = format!(
        "the compositor gives no screenshot through the wlroots protocol screencopy ({why}); read the windows' trees instead"
    );
    Error::new(Kind::PlatformUnsupported, message)
}

impl Dispatch<ZwlrScreencopyFrameV1, ()> for Told {
    fn event(
        told: &mut Self,
        _: &ZwlrScreencopyFrameV1,
        event: zwlr_screencopy_frame_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        told.frame.note_event(&event);
    }
}

delegate_noop!(Told: ignore ZwlrScreencopyManagerV1);
delegate_noop!(Told: ignore WlShm);
delegate_noop!(Told: ignore WlShmPool);
delegate_noop!(Told: ignore WlBuffer);

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: FrameLayout = FrameLayout { format: Format::Xrgb8888, width: 1, height: 2, stride: 8 };
    const BYTES: [u8; 16] = [3, 2, 1, 0, 9, 9, 9, 9, 6, 5, 4, 0, 9, 9, 9, 9];

    #[test]
    fn pixels_are_read_row_by_row_in_the_order_of_their_format() {
        let check = |layout: FrameLayout, upside_down, expected: [u8; 8]| {
            assert_eq!(decode(&layout, &BYTES, upside_down).unwrap().rgba(), expected, "{layout:?}");
        };
        check(TWO, false, [1, 2, 3, 255, 4, 5, 6, 255]);
        check(TWO, true, [4, 5, 6, 255, 1, 2, 3, 255]);
        check(FrameLayout { format: Format::Abgr8888, ..TWO }, false, [3, 2, 1, 255, 6, 5, 4, 255]);
        let odd = decode(&FrameLayout { format: Format::C8, ..TWO }, &BYTES, false).unwrap_err();
        assert_eq!(odd.kind, Kind::PlatformUnsupported);
    }

    #[test]
    fn a_picture_of_a_scaled_output_has_a_pixel_for_each_unit() {
        let mut large = Picture::new(4, 4, BLACK).unwrap();
        large.fill(Rect::new(2, 0, 2, 4), [255, 0, 0, 255]);
        let small = resized(large, Rect::new(0, 0, 2, 2));
        assert_eq!(small.area(), Rect::new(0, 0, 2, 2));
        assert_eq!((small.pixel(0, 0), small.pixel(1, 1)), (Some(BLACK), Some([255, 0, 0, 255])));
    }
}
