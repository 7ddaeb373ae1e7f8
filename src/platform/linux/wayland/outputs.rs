//! The outputs of the compositor. All places are those of its layout, in logical units: that is what windows, elements and
//! the pointer are counted in, and screenshots of an output with another scale are brought to it.

use wayland_client::protocol::wl_output::{self, Transform, WlOutput};
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1::{self, ZxdgOutputV1};

use super::link::{Link, Told};
use crate::error::Result;
use crate::model::{Monitor, Rect};

/// An output as the compositor tells of it, event by event.
#[derive(Clone, Debug)]
pub struct ToldOutput {
    pub global: u32,
    pub proxy: WlOutput,
    position: (i32, i32),
    pixels: (i32, i32),
    scale: i32,
    transform: Transform,
    logical_position: Option<(i32, i32)>,
    logical_size: Option<(i32, i32)>,
}

impl ToldOutput {
    fn new(global: u32, proxy: WlOutput) -> Self {
        Self {
            global,
            proxy,
            position: (0, 0),
            pixels: (0, 0),
            scale: 1,
            transform: Transform::Normal,
            logical_position: None,
            logical_size: None,
        }
    }

    fn output(&self) -> LayoutOutput {
        let is_on_its_side = matches!(
            self.transform,
            Transform::_90 | Transform::_270 | Transform::Flipped90 | Transform::Flipped270
        );
        let (width, height) = self.pixels;
        let (width, height) = if is_on_its_side { (height, width) } else { (width, height) };
        let scale = self.scale.max(1);
        let (x, y) = self.logical_position.unwrap_or(self.position);
        let size = self.logical_size.unwrap_or((width / scale, height / scale));
        LayoutOutput {
            logical: Rect::new(x, y, size.0, size.1),
            pixels: (width, height),
            upright: self.transform == Transform::Normal,
        }
    }
}

/// A monitor in the layout of the compositor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutOutput {
    pub logical: Rect,
    /// As a person sees it, also where it is turned.
    pub pixels: (i32, i32),
    pub upright: bool,
}

impl LayoutOutput {
    pub fn scale(&self) -> f64 {
        f64::from(self.pixels.1) / f64::from(self.logical.height.max(1))
    }

    pub fn monitor(&self, primary: bool) -> Monitor {
        Monitor { primary, scale_factor: self.scale(), logical: self.logical, physical: self.logical }
    }
}

/// Around all outputs; nothing where there is none.
pub fn layout_of(outputs: &[LayoutOutput]) -> Option<Rect> {
    outputs.iter().map(|output| output.logical).reduce(|all, next| all.around(&next))
}

const OUTPUT_VERSION: u32 = 3;

/// Asks for all outputs on this connection, and keeps them in what was told.
pub fn listen(link: &mut Link) -> Result<()> {
    let globals: Vec<_> =
        link.told.globals.iter().filter(|global| global.interface == "wl_output").cloned().collect();
    for global in globals {
        let proxy: WlOutput = link.bind_by_name(&global, OUTPUT_VERSION, global.name);
        link.told.outputs.push(ToldOutput::new(global.name, proxy));
    }
    // Without it the scale of the output says the same, except where it is a fraction.
    if let Ok(manager) = link.bind::<ZxdgOutputManagerV1>(3) {
        for output in &link.told.outputs {
            manager.get_xdg_output(&output.proxy, &link.handle(), output.global);
        }
    }
    link.round_trip()
}

pub fn list(link: &Link) -> Vec<LayoutOutput> {
    let outputs = link.told.outputs.iter().map(ToldOutput::output);
    outputs.filter(|output| !output.logical.is_empty()).collect()
}

fn output_mut(told: &mut Told, global: u32) -> Option<&mut ToldOutput> {
    told.outputs.iter_mut().find(|output| output.global == global)
}

impl Dispatch<WlOutput, u32> for Told {
    fn event(
        told: &mut Self,
        _: &WlOutput,
        event: wl_output::Event,
        global: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let Some(output) = output_mut(told, *global) else { return };
        match event {
            wl_output::Event::Geometry { x, y, transform, .. } => {
                output.position = (x, y);
                if let WEnum::Value(transform) = transform {
                    output.transform = transform;
                }
            }
            wl_output::Event::Mode { flags: WEnum::Value(flags), width, height, .. }
                if flags.contains(wl_output::Mode::Current) =>
            {
                output.pixels = (width, height);
            }
            wl_output::Event::Scale { factor } => output.scale = factor,
            _ => {}
        }
    }
}

impl Dispatch<ZxdgOutputV1, u32> for Told {
    fn event(
        told: &mut Self,
        _: &ZxdgOutputV1,
        event: zxdg_output_v1::Event,
        global: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let Some(output) = output_mut(told, *global) else { return };
        match event {
            zxdg_output_v1::Event::LogicalPosition { x, y } => output.logical_position = Some((x, y)),
            zxdg_output_v1::Event::LogicalSize { width, height } => {
                output.logical_size = Some((width, height))
            }
            _ => {}
        }
    }
}

delegate_noop!(Told: ignore ZxdgOutputManagerV1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_output_is_counted_in_logical_units() {
        let output =
            LayoutOutput { logical: Rect::new(640, 0, 640, 360), pixels: (1280, 720), upright: true };
        let monitor = output.monitor(false);
        assert_eq!((monitor.scale_factor, monitor.physical), (2.0, Rect::new(640, 0, 640, 360)));
    }

    #[test]
    fn the_layout_is_around_all_outputs() {
        let at = |x, width| LayoutOutput {
            logical: Rect::new(x, 0, width, 100),
            pixels: (width, 100),
            upright: true,
        };
        assert_eq!(layout_of(&[]), None);
        assert_eq!(layout_of(&[at(0, 50), at(50, 70)]), Some(Rect::new(0, 0, 120, 100)));
    }
}
