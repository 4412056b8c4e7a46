//! Three bounded channels for threads behind one face. crossbeam's spins before it sleeps; the others sleep at once.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, mpsc};

use clap::ValueEnum;
use serde::Serialize;

/// The other end is gone.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed;

/// Which of them.
#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// crossbeam's, which spins, then yields, and then sleeps; tremor's
    #[default]
    Crossbeam,
    /// The standard library's, which sleeps at once
    Std,
    /// A queue under a lock, which does likewise
    Blocking,
}

/// A kind of bounded channel.
pub trait Bounded: 'static {
    /// Where items go in.
    type Sender<T: Send + 'static>: Clone + Send + 'static;
    /// Where they come out.
    type Receiver<T: Send + 'static>: Send + 'static;

    /// A channel that holds so many items.
    fn channel<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>);
    /// Waits until there is room.
    fn send<T: Send + 'static>(sender: &Self::Sender<T>, item: T) -> Result<(), Closed>;
    /// Waits until there is something.
    fn receive<T: Send + 'static>(receiver: &Self::Receiver<T>) -> Result<T, Closed>;
}

/// The standard library's.
pub struct Std;

impl Bounded for Std {
    type Sender<T: Send + 'static> = mpsc::SyncSender<T>;
    type Receiver<T: Send + 'static> = mpsc::Receiver<T>;

    fn channel<T: Send + 'static>(capacity: usize) -> (mpsc::SyncSender<T>, mpsc::Receiver<T>) {
        mpsc::sync_channel(capacity)
    }

    fn send<T: Send + 'static>(sender: &mpsc::SyncSender<T>, item: T) -> Result<(), Closed> {
        sender.send(item).map_err(|_| Closed)
    }

    fn receive<T: Send + 'static>(receiver: &mpsc::Receiver<T>) -> Result<T, Closed> {
        receiver.recv().map_err(|_| Closed)
    }
}

/// crossbeam's, which tremor used.
pub struct Crossbeam;

impl Bounded for Crossbeam {
    type Sender<T: Send + 'static> = crossbeam_channel::Sender<T>;
    type Receiver<T: Send + 'static> = crossbeam_channel::Receiver<T>;

    fn channel<T: Send + 'static>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>) {
        crossbeam_channel::bounded(capacity)
    }

    fn send<T: Send + 'static>(sender: &Self::Sender<T>, item: T) -> Result<(), Closed> {
        sender.send(item).map_err(|_| Closed)
    }

    fn receive<T: Send + 'static>(receiver: &Self::Receiver<T>) -> Result<T, Closed> {
        receiver.recv().map_err(|_| Closed)
    }
}

/// A queue under a lock: whoever cannot go on sleeps at once.
pub struct Blocking;

/// What both ends of it share.
struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    drained: Condvar,
    capacity: usize,
}

struct State<T> {
    items: VecDeque<T>,
    senders: usize,
    is_received: bool,
    /// Who sleeps and has not been told to wake up. Nobody else is told: the standard library would ask the kernel to, whether there is
    /// anybody or not.
    sleeping_senders: usize,
    is_receiver_asleep: bool,
}

/// Its sending end.
pub struct QueueSender<T>(Arc<Queue<T>>);

/// Its receiving end.
pub struct QueueReceiver<T>(Arc<Queue<T>>);

const UNPOISONED: &str = "nobody panics while holding it";

impl Bounded for Blocking {
    type Sender<T: Send + 'static> = QueueSender<T>;
    type Receiver<T: Send + 'static> = QueueReceiver<T>;

    fn channel<T: Send + 'static>(capacity: usize) -> (QueueSender<T>, QueueReceiver<T>) {
        let state = State {
            items: VecDeque::with_capacity(capacity),
            senders: 1,
            is_received: true,
            sleeping_senders: 0,
            is_receiver_asleep: false,
        };
        let queue = Queue { state: Mutex::new(state), filled: Condvar::new(), drained: Condvar::new(), capacity };
        let queue = Arc::new(queue);
        (QueueSender(queue.clone()), QueueReceiver(queue))
    }

    fn send<T: Send + 'static>(sender: &QueueSender<T>, item: T) -> Result<(), Closed> {
        let queue = &*sender.0;
        let mut state = queue.state.lock().expect(UNPOISONED);
        while state.items.len() == queue.capacity && state.is_received {
            state.sleeping_senders += 1;
            state = queue.drained.wait(state).expect(UNPOISONED);
        }
        if !state.is_received {
            return Err(Closed);
        }
        state.items.push_back(item);
        let wakes = mem::take(&mut state.is_receiver_asleep);
        drop(state);
        if wakes {
            queue.filled.notify_one();
        }
        Ok(())
    }

    fn receive<T: Send + 'static>(receiver: &QueueReceiver<T>) -> Result<T, Closed> {
        let queue = &*receiver.0;
        let mut state = queue.state.lock().expect(UNPOISONED);
        while state.items.is_empty() && state.senders > 0 {
            state.is_receiver_asleep = true;
            state = queue.filled.wait(state).expect(UNPOISONED);
        }
        let item = state.items.pop_front().ok_or(Closed)?;
        let wakes = state.sleeping_senders > 0;
        state.sleeping_senders = state.sleeping_senders.saturating_sub(1);
        drop(state);
        if wakes {
            queue.drained.notify_one();
        }
        Ok(item)
    }
}

impl<T> Clone for QueueSender<T> {
    fn clone(&self) -> Self {
        self.0.state.lock().expect(UNPOISONED).senders += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for QueueSender<T> {
    fn drop(&mut self) {
        self.0.state.lock().expect(UNPOISONED).senders -= 1;
        self.0.filled.notify_one();
    }
}

impl<T> Drop for QueueReceiver<T> {
    fn drop(&mut self) {
        self.0.state.lock().expect(UNPOISONED).is_received = false;
        self.0.drained.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn keeps_order_and_bounds<B: Bounded>() {
        let (sender, receiver) = B::channel(2);
        let producer = thread::spawn(move || (0..1000).take_while(|item| B::send(&sender, *item).is_ok()).count());
        thread::sleep(Duration::from_millis(10));
        assert!(!producer.is_finished(), "two fit, and the third has to wait");
        let received: Vec<u32> = std::iter::from_fn(|| B::receive(&receiver).ok()).collect();
        assert_eq!(received, (0..1000).collect::<Vec<_>>());
        assert_eq!(producer.join().unwrap(), 1000);
    }

    fn ends_when_the_other_end_is_gone<B: Bounded>() {
        let (sender, receiver) = B::channel(1);
        let another = sender.clone();
        assert_eq!(B::send(&another, 7), Ok(()));
        drop((sender, another));
        assert_eq!(B::receive(&receiver), Ok(7), "what was sent is received");
        assert_eq!(B::receive(&receiver), Err(Closed));
        let (sender, receiver) = B::channel(1);
        B::send(&sender, 7).unwrap();
        let waiting = thread::spawn(move || B::send(&sender, 8));
        thread::sleep(Duration::from_millis(10));
        drop(receiver);
        assert_eq!(waiting.join().unwrap(), Err(Closed));
    }

    #[test]
    fn all_three_keep_order_and_bounds_and_end() {
        keeps_order_and_bounds::<Std>();
        keeps_order_and_bounds::<Crossbeam>();
        keeps_order_and_bounds::<Blocking>();
        ends_when_the_other_end_is_gone::<Std>();
        ends_when_the_other_end_is_gone::<Crossbeam>();
        ends_when_the_other_end_is_gone::<Blocking>();
    }
}
