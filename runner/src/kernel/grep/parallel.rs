//! Searches the files of a walk on two threads, and hands out the results in the order of the walk.
//!
//! The walk fills a short queue. Once the files that were handed out hold as many matches as are wanted, no further file
//! can be part of the answer, because it would come after all of them: the walk ends there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::haystack::{self, Searched};
use super::{Job, Search};
use crate::kernel::Cancel;
use crate::kernel::roots::{FileKind, Root};
use crate::kernel::walk::Step;
use crate::tool::ToolError;

/// The walk opens folders while two threads read files; more gain nothing on the cores a job has.
const THREADS: usize = 2;
/// Files that wait to be searched; each has a path of at most 4 KiB.
const QUEUE: usize = 256;

/// Takes in results in any order.
pub(super) struct Collector {
    wanted: usize,
    bytes: usize,
    found: AtomicUsize,
    found_bytes: AtomicUsize,
    enough: AtomicBool,
    results: Mutex<BTreeMap<usize, Searched>>,
}

impl Collector {
    /// A collector that has enough after this many matches or bytes.
    pub(super) fn new(wanted: usize, bytes: usize) -> Self {
        Self {
            wanted,
            bytes,
            found: AtomicUsize::new(0),
            found_bytes: AtomicUsize::new(0),
            enough: AtomicBool::new(false),
            results: Mutex::default(),
        }
    }

    /// What was found, in the order of the walk.
    pub(super) fn into_results(self) -> impl Iterator<Item = Searched> {
        self.results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values()
    }

    fn add(&self, index: usize, searched: Searched) {
        let found = self.found.fetch_add(searched.matches, Ordering::Relaxed) + searched.matches;
        let bytes = searched.bytes();
        let found_bytes = self.found_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if found >= self.wanted || found_bytes > self.bytes {
            self.enough.store(true, Ordering::Relaxed);
        }
        lock(&self.results).insert(index, searched);
    }
}

/// Files that wait, and whether more will come.
#[derive(Default)]
struct Queue {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<(usize, Job)>,
    closed: bool,
}

/// Runs a walk whose files are searched as they come.
pub(super) fn run(
    root: &Root,
    search: &Search,
    collector: &Collector,
    cancel: &Cancel,
    walk: impl FnOnce(&mut dyn FnMut(Job) -> Step) -> Result<Step, ToolError>,
) -> Result<(), ToolError> {
    let queue = Queue::default();
    std::thread::scope(|scope| {
        let mut threads = 0;
        let mut next = 0;
        let result = walk(&mut |job| {
            if collector.enough.load(Ordering::Relaxed) || cancel.is_set() {
                return Step::End;
            }
            // The first files say whether threads are worth their start.
            if threads < THREADS && next >= threads * 8 {
                let mut search = search.clone();
                let queue = &queue;
                let started = std::thread::Builder::new()
                    .name("grep".to_owned())
                    .spawn_scoped(scope, move || work(root, &mut search, queue, collector, cancel));
                if started.is_ok() {
                    threads += 1;
                }
            }
            if threads == 0 {
                let mut search = search.clone();
                collector.add(next, one(root, &mut search, job, cancel));
            } else {
                queue.push(next, job);
            }
            next += 1;
            Step::On
        });
        queue.close();
        result
    })?;
    cancel.check()
}

fn work(root: &Root, search: &mut Search, queue: &Queue, collector: &Collector, cancel: &Cancel) {
    while let Some((index, job)) = queue.pop() {
        if cancel.is_set() {
            // Emptied, so that a walk that waits for room goes on and sees the same flag.
            continue;
        }
        collector.add(index, one(root, search, job, cancel));
    }
}

fn one(root: &Root, search: &mut Search, job: Job, cancel: &Cancel) -> Searched {
    let Job { below, shown } = job;
    let unreadable = |path| Searched { path, unreadable: true, ..Searched::default() };
    match root.open_file(&below) {
        Ok(opened) if opened.kind == FileKind::File => {
            haystack::search(search, opened.file, shown.clone(), cancel).unwrap_or_else(|_| unreadable(shown))
        }
        Ok(_) | Err(_) => unreadable(shown),
    }
}

impl Queue {
    /// Waits for room. The searching threads take everything out until the queue is closed, so there always comes some.
    fn push(&self, index: usize, job: Job) {
        let mut state = lock(&self.state);
        while state.jobs.len() >= QUEUE {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.jobs.push_back((index, job));
        self.changed.notify_all();
    }

    fn pop(&self) -> Option<(usize, Job)> {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                if state.jobs.len() + 1 == QUEUE {
                    self.changed.notify_all();
                }
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }
}

/// A thread that panicked leaves the data whole: every change under these locks is one insertion or removal.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
