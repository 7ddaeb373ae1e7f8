//! Pictures of the screen and of windows, through shared memory where the server has it.
//!
//! A window has pixels of its own as long as the connection lives (see [`super::x11`]), so its picture is
//! exact also where others cover it or the screen ends. Menus and lists that it opened lie on top of it; the
//! picture is then as large as all of them together. Where the server has no Composite, the picture is what
//! the screen shows in the window's place.

use x11rb::connection::Connection;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat, ImageOrder};

use super::desktop::{self, WindowFrame};
use super::memory::SharedMemory;
use super::popups;
use super::window_uid::WindowUid;
use super::x11::{X11Error, X11Failure, X11Server};
use crate::clock::{lock, sleep_really};
use crate::error::{Error, Kind};
use crate::model::Rect;
use crate::model::image::{BLACK, Picture};
use crate::model::pixel_buffer::Buffer;
use crate::platform::Shot;

const BYTES_PER_PIXEL: usize = 4;
const ALL_PLANES: u32 = !0;
/// Segments grow by whole steps of this, so that a window that is resized does not cost one each time.
const SEGMENT_STEP: usize = 1 << 20;

/// Memory that the server puts pictures into.
pub struct Segment {
    id: u32,
    memory: SharedMemory,
}

pub fn screen_picture(server: &X11Server) -> Result<Shot, X11Failure> {
    region_picture(server, desktop::screen_rect(server)?)
}

pub fn region_picture(server: &X11Server, area: Rect) -> Result<Shot, X11Failure> {
    let screen = desktop::screen_rect(server)?;
    let area = area.intersection(&screen).ok_or_else(|| off_screen(area, screen))?;
    let mut canvas = X11Canvas::new(area)?;
    canvas.paint_drawable(server, server.root, area, area)?;
    canvas.into_shot()
}

fn off_screen(area: Rect, screen: Rect) -> Error {
    Error::bad_request("the area is outside of the screen").with("area", area).with("screen", screen)
}

pub fn window_picture(server: &X11Server, uid: &str) -> Result<Shot, X11Failure> {
    let xid = WindowUid::parse(uid)?.xid;
    let (frame, hidden) = desktop::frame_and_hidden(server, uid)?;
    if hidden {
        return Err(no_picture(uid).into());
    }
    let Some(first_repaint) = server.first_repaint else {
        return region_picture(server, frame.bounds());
    };
    sleep_really(first_repaint.left());
    let popups = popups::of_window(server, xid, frame.pid)?;
    let picture = capture_layers(server, uid, xid, &frame, &popups);
    picture.map_err(|failure| match failure {
        X11Failure::Trouble(trouble) if trouble.is_gone() => desktop::gone(uid).into(),
        other => other,
    })
}

fn no_picture(uid: &str) -> Error {
    Error::new(
        Kind::WindowOccluded,
        "the window is minimized or on another desktop, so there is no screenshot of it; bring it to the front first",
    )
    .with("window_uid", uid)
}

/// The window, and the popups on it from the back to the front.
fn capture_layers(
    server: &X11Server,
    uid: &str,
    xid: u32,
    frame: &WindowFrame,
    popups: &[popups::Popup],
) -> Result<Shot, X11Failure> {
    let top = desktop::top_level(server, xid)?.ok_or_else(|| desktop::gone(uid))?;
    let outer = outer_area(server, top)?;
    let window = frame.bounds().intersection(&outer).ok_or_else(|| no_picture(uid))?;
    let whole = popups.iter().fold(window, |whole, popup| whole.around(&popup.bounds));
    let mut canvas = if popups.is_empty() { X11Canvas::new(whole)? } else { X11Canvas::black_canvas(whole)? };
    canvas.paint_window(server, top, outer, window)?;
    for popup in popups {
        match canvas.paint_window(server, popup.xid, popup.bounds, popup.bounds) {
            // It closed between the question and the picture.
            Err(X11Failure::Trouble(trouble)) if trouble.is_gone() => {}
            result => result?,
        }
    }
    canvas.into_shot()
}

/// A window with its border, in screen coordinates.
fn outer_area(server: &X11Server, top: u32) -> Result<Rect, X11Error> {
    let geometry = server.connection.get_geometry(top)?.reply()?;
    let border = 2 * i32::from(geometry.border_width);
    Ok(Rect::new(
        geometry.x.into(),
        geometry.y.into(),
        i32::from(geometry.width) + border,
        i32::from(geometry.height) + border,
    ))
}

/// A picture in the making.
struct X11Canvas {
    area: Rect,
    rgba: Buffer,
}

impl X11Canvas {
    /// Without content: every pixel must be painted.
    fn new(area: Rect) -> Result<Self, X11Failure> {
        // The size is checked by the one who knows the limit, without allocating.
        let (width, height) = area_sides(area);
        if u64::from(width) * u64::from(height) > crate::model::image::MAX_PIXELS {
            return Err(Error::bad_request("the area has too many pixels for a screenshot").into());
        }
        Ok(Self { area, rgba: Buffer::new_zeroed(byte_count(area)) })
    }

    fn black_canvas(area: Rect) -> Result<Self, X11Failure> {
        let mut canvas = Self::new(area)?;
        canvas.rgba.chunks_exact_mut(BYTES_PER_PIXEL).for_each(|pixel| pixel.copy_from_slice(&BLACK));
        Ok(canvas)
    }

    fn into_shot(self) -> Result<Shot, X11Failure> {
        let (width, height) = area_sides(self.area);
        let picture = Picture::from_buffer(width, height, self.rgba).map_err(Error::from)?;
        Ok(Shot { picture, area: self.area })
    }

    /// Paints `part` of a window that covers `outer`, from the pixels that the window keeps itself.
    fn paint_window(
        &mut self,
        server: &X11Server,
        xid: u32,
        outer: Rect,
        part: Rect,
    ) -> Result<(), X11Failure> {
        let pixmap = server.connection.generate_id().map_err(X11Error::from)?;
        server.connection.composite_name_window_pixmap(xid, pixmap)?;
        let inside = Rect { x: part.x - outer.x, y: part.y - outer.y, ..part };
        let painted = self.paint_drawable(server, pixmap, inside, part);
        server.connection.free_pixmap(pixmap)?;
        painted
    }

    /// Paints `source` of a drawable at `target` of the screen, which has the same size.
    fn paint_drawable(
        &mut self,
        server: &X11Server,
        drawable: u32,
        source: Rect,
        target: Rect,
    ) -> Result<(), X11Failure> {
        check_format(server)?;
        if server.extensions.shared_memory
            && let Some(segment) = &*kept_segment(server, byte_count(source))?
        {
            let (x, y, width, height) = wire_coordinates(source);
            let format = ImageFormat::Z_PIXMAP.into();
            let reply = server
                .connection
                .shm_get_image(drawable, x, y, width, height, ALL_PLANES, format, segment.id, 0)?
                .reply()?;
            check_depth(reply.depth)?;
            self.put_pixels(target, segment.memory.bytes());
            return Ok(());
        }
        let (x, y, width, height) = wire_coordinates(source);
        let reply = server
            .connection
            .get_image(ImageFormat::Z_PIXMAP, drawable, x, y, width, height, ALL_PLANES)?
            .reply()?;
        check_depth(reply.depth)?;
        self.put_pixels(target, &reply.data);
        Ok(())
    }

    /// The server's pixels are blue, green, red and a byte that means nothing to a person.
    fn put_pixels(&mut self, target: Rect, bgrx: &[u8]) {
        let row_bytes = target.width as usize * BYTES_PER_PIXEL;
        let stride = self.area.width as usize * BYTES_PER_PIXEL;
        let left = (target.x - self.area.x) as usize * BYTES_PER_PIXEL;
        let top = (target.y - self.area.y) as usize;
        let rows = self.rgba.chunks_exact_mut(stride).skip(top).take(target.height as usize);
        for (to, from) in rows.zip(bgrx.chunks_exact(row_bytes)) {
            swap_row(&mut to[left..left + row_bytes], from);
        }
    }
}

fn swap_row(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.chunks_exact_mut(BYTES_PER_PIXEL).zip(from.chunks_exact(BYTES_PER_PIXEL)) {
        to.copy_from_slice(&[from[2], from[1], from[0], u8::MAX]);
    }
}

fn area_sides(area: Rect) -> (u32, u32) {
    (area.width.max(0) as u32, area.height.max(0) as u32)
}

fn byte_count(area: Rect) -> usize {
    let (width, height) = area_sides(area);
    width as usize * height as usize * BYTES_PER_PIXEL
}

/// X11 has sixteen bits for each; every area here is part of a screen or a window and fits.
fn wire_coordinates(area: Rect) -> (i16, i16, u16, u16) {
    (area.x as i16, area.y as i16, area.width as u16, area.height as u16)
}

fn check_format(server: &X11Server) -> Result<(), X11Failure> {
    if server.connection.setup().image_byte_order == ImageOrder::LSB_FIRST {
        return Ok(());
    }
    Err(unknown_pixels("the X server has the opposite byte order").into())
}

fn check_depth(depth: u8) -> Result<(), X11Failure> {
    if depth == 24 || depth == 32 {
        return Ok(());
    }
    Err(unknown_pixels(&format!(
        "the screen has a colour depth of {depth} bits, only 24 and 32 are supported"
    ))
    .into())
}

fn unknown_pixels(why: &str) -> Error {
    Error::new(Kind::PlatformUnsupported, format!("cannot take a screenshot: {why}"))
}

/// The kept segment, made or made larger when needed; `None` when the server takes none (it runs on
/// another machine).
fn kept_segment(
    server: &X11Server,
    bytes: usize,
) -> Result<std::sync::MutexGuard<'_, Option<Segment>>, X11Failure> {
    let mut kept = lock(&server.segment);
    if kept.as_ref().is_some_and(|segment| segment.memory.length() >= bytes) {
        return Ok(kept);
    }
    if let Some(outgrown) = kept.take() {
        server.connection.shm_detach(outgrown.id)?;
    }
    *kept = new_segment(server, bytes.div_ceil(SEGMENT_STEP) * SEGMENT_STEP)?;
    Ok(kept)
}

fn new_segment(server: &X11Server, bytes: usize) -> Result<Option<Segment>, X11Failure> {
    let Ok((memory, descriptor)) = SharedMemory::new(bytes) else { return Ok(None) };
    let id = server.connection.generate_id().map_err(X11Error::from)?;
    match server.connection.shm_attach_fd(id, descriptor, false)?.check() {
        Ok(()) => Ok(Some(Segment { id, memory })),
        Err(x11rb::errors::ReplyError::X11Error(_)) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_land_where_they_belong() {
        let mut canvas = X11Canvas::black_canvas(Rect::new(10, 20, 3, 2)).unwrap();
        canvas.put_pixels(Rect::new(11, 21, 2, 1), &[1, 2, 3, 0, 4, 5, 6, 9]);
        let shot = canvas.into_shot().unwrap();
        assert_eq!(shot.picture.pixel(1, 1), Some([3, 2, 1, 255]));
        assert_eq!(shot.picture.pixel(2, 1), Some([6, 5, 4, 255]));
        for (x, y) in [(0, 0), (1, 0), (2, 0), (0, 1)] {
            assert_eq!(shot.picture.pixel(x, y), Some(BLACK));
        }
    }

    #[test]
    fn absurd_areas_are_refused_before_memory_is_taken() {
        assert!(X11Canvas::new(Rect::new(0, 0, i32::MAX, i32::MAX)).is_err());
    }
}
