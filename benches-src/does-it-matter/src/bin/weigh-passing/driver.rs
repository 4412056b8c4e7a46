//! The driver that `weigh-passing` compiles, without the functions that pass a call on: a bus that may have to be waited for, and three values
//! that are read over it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

unsafe extern "C" {
    /// A byte of the device, or less than nothing as long as it is not ready.
    safe fn exchange(register: u8) -> i16;
}

struct Transfer(u8);

impl Future for Transfer {
    type Output = u8;

    fn poll(self: Pin<&mut Self>, _: &mut Context) -> Poll<u8> {
        u8::try_from(exchange(self.0)).map_or(Poll::Pending, Poll::Ready)
    }
}

#[unsafe(no_mangle)]
pub fn sample() -> [u8; 3] {
    let mut all = pin!(async { [temperature().await, pressure().await, humidity().await] });
    loop {
        if let Poll::Ready(all) = all.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return all;
        }
    }
}

