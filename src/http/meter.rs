//! Counts what arrives on a connection. hyper bounds a head, extensions and trailers, and the door the body itself, but
//! the zeros and blanks around the length of a chunk have no end for either of them: they are no part of the body.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::config::limits;

/// How much may still arrive on one connection. What is read in one go may exceed it, by no more than hyper's buffer.
#[derive(Clone)]
pub struct ByteMeter(Arc<AtomicUsize>);

impl ByteMeter {
    pub fn new() -> ByteMeter {
        let meter = ByteMeter(Arc::default());
        meter.expect_head();
        meter
    }

    /// hyper refuses a longer head by itself; what it reads at once may hold the end of another request.
    pub fn expect_head(&self) {
        self.0.store(2 * limits::HTTP_HEADER_BYTES, Ordering::Relaxed);
    }

    /// A body of so many bytes, in chunks of which the smallest useful ones are half framing.
    pub fn expect_body(&self, bytes: usize) {
        self.0.store(bytes.saturating_mul(2).max(limits::HTTP_HEADER_BYTES), Ordering::Relaxed);
    }

    pub fn is_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn count(&self, bytes: usize) {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(bytes);
        self.0.store(left, Ordering::Relaxed);
    }
}

/// A stream from which no more is read than its meter allows.
pub struct Metered<S> {
    stream: S,
    meter: ByteMeter,
}

impl<S> Metered<S> {
    pub fn new(stream: S, meter: ByteMeter) -> Metered<S> {
        Metered { stream, meter }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.is_used_up() {
            return Poll::Ready(Err(io::Error::other("the request is too large")));
        }
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.meter.count(buffer.filled().len() - before);
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// How much of `sent` bytes is read before the stream refuses, in pieces of at most 1 KiB.
    async fn check(meter: &ByteMeter, sent: usize, expected: Result<usize, usize>) {
        let bytes = vec![0; sent];
        let mut stream = Metered::new(bytes.as_slice(), meter.clone());
        let mut piece = [0; 1024];
        let mut taken = 0;
        let result = loop {
            match stream.read(&mut piece).await {
                Ok(0) => break Ok(taken),
                Ok(read) => taken += read,
                Err(_) => break Err(taken),
            }
        };
        assert_eq!(result, expected);
    }

    #[tokio::test]
    async fn what_is_allowed_arrives_and_no_more() {
        let head = 2 * limits::HTTP_HEADER_BYTES;
        check(&ByteMeter::new(), head - 1, Ok(head - 1)).await;
        check(&ByteMeter::new(), head + 5000, Err(head)).await;
    }

    #[tokio::test]
    async fn a_body_is_allowed_twice_its_length() {
        let meter = ByteMeter::new();
        meter.expect_body(100_000);
        check(&meter, 150_000, Ok(150_000)).await;
        assert!(!meter.is_used_up());
        check(&meter, 60_000, Err(50_176)).await;
        assert!(meter.is_used_up());
        meter.expect_head();
        check(&meter, 10, Ok(10)).await;
    }
}
