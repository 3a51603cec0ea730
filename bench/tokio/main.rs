//! The rows of Tokio. This process measures one case. Its requests and answers are like those of the others (../worker.mli).

use std::sync::{mpsc::RecvTimeoutError::Timeout, Arc};
use std::time::{Duration, Instant};
use std::{future::Future, hint::black_box, io::BufRead, pin::Pin};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, Barrier, Mutex};
use tokio::task::{spawn, yield_now};

/// The number of messages before the clock is read.
const MEETING: usize = 1000;
const WAYS: usize = 4;
const CREW: usize = 10;
/// The bursts of messages in a mailbox, see ../bench_mailbox.ml.
const BURST: usize = 100;
const CREDIT: usize = 10;
/// The work while a mutex is locked, and between two locks, see ../bench_mutex.ml.
const WHILE_LOCKED: usize = 10;
const BETWEEN: usize = 250;
/// Every sample takes less, unless something waits forever.
const PATIENCE: Duration = Duration::from_secs(120);

type Sample = Pin<Box<dyn Future<Output = f64> + Send>>;

fn since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

fn check(what: &str, expected: usize, actual: usize) {
    assert!(actual == expected, "{what}: {actual} instead of {expected}");
}

/// Returns the time of n messages. The future $send sends them, and the expression $receive adds up $m of them. Some messages
/// before them warm up.
macro_rules! transfer {
    ($n:expr, $send:expr, $m:ident => $receive:expr) => {{
        let sender = spawn($send);
        let $m = MEETING;
        check("sum", MEETING * (MEETING + 1) / 2, $receive);
        let start = Instant::now();
        let $m: usize = $n;
        let sum = $receive;
        let ns = since(start);
        check("sum", $m * ($m + 1) / 2, sum);
        sender.await.unwrap();
        ns
    }};
}

async fn stream(capacity: usize, n: usize) -> f64 {
    let (to, mut from) = mpsc::channel(capacity);
    let send = async move {
        for m in [MEETING, n] {
            for i in 1..=m {
                to.send(i).await.unwrap();
            }
        }
    };
    transfer!(n, send, m => {
        let mut sum = 0;
        for _ in 0..m {
            sum += from.recv().await.unwrap();
        }
        sum
    })
}

async fn mailbox(n: usize) -> f64 {
    let (to, mut from) = mpsc::unbounded_channel();
    let (answer, mut answered) = mpsc::unbounded_channel();
    let send = async move {
        for m in [MEETING, n] {
            for i in 0..m {
                let burst = i / BURST;
                if i % BURST == 0 && burst >= CREDIT && burst < m / BURST {
                    answered.recv().await.unwrap();
                }
                to.send(i + 1).unwrap();
            }
            for _ in 0..CREDIT.min(m / BURST) {
                answered.recv().await.unwrap();
            }
        }
    };
    transfer!(n, send, m => {
        let mut sum = 0;
        for i in 1..=m {
            sum += from.recv().await.unwrap();
            if i % BURST == 0 {
                answer.send(()).unwrap();
            }
        }
        sum
    })
}

/// Tokio has no rendezvous, so the channels have a capacity of one.
async fn select4(n: usize) -> f64 {
    let (to, from): (Vec<_>, Vec<_>) = (0..WAYS).map(|_| mpsc::channel(1)).unzip();
    let send = async move {
        for m in [MEETING, n] {
            for i in 1..=m {
                to[i % WAYS].send(i).await.unwrap();
            }
        }
    };
    let [mut a, mut b, mut c, mut d]: [mpsc::Receiver<usize>; WAYS] = from.try_into().unwrap();
    let mut early = 0;
    let ns = transfer!(n, send, m => {
        // A message of the next round may come before the last one of this round. The sum shows when all have come.
        let all = m * (m + 1) / 2;
        let mut sum = early;
        while sum < all {
            sum += tokio::select! {
                Some(i) = a.recv() => i,
                Some(i) = b.recv() => i,
                Some(i) = c.recv() => i,
                Some(i) = d.recv() => i,
            };
        }
        early = sum - all;
        all
    });
    check("sum of what came early", 0, early);
    ns
}

struct Ball {
    number: usize,
    answer: oneshot::Sender<Ball>,
}

async fn promises(n: usize) -> f64 {
    let (first, mut to_receive) = oneshot::channel::<Ball>();
    let send = async move {
        let mut to_send = first;
        for m in [MEETING, n] {
            for number in 1..=m {
                let (answer, answered) = oneshot::channel();
                assert!(to_send.send(Ball { number, answer }).is_ok());
                to_send = answered.await.unwrap().answer;
            }
        }
    };
    transfer!(n, send, m => {
        let mut sum = 0;
        for _ in 0..m {
            let ball = to_receive.await.unwrap();
            sum += ball.number;
            let (answer, next) = oneshot::channel();
            to_receive = next;
            assert!(ball.answer.send(Ball { number: ball.number, answer }).is_ok());
        }
        sum
    })
}

async fn mutex_free(n: usize) -> f64 {
    let mutex = Mutex::new(());
    let start = Instant::now();
    for _ in 0..n {
        drop(mutex.lock().await);
    }
    since(start)
}

async fn mutex_contended(n: usize) -> f64 {
    // The number of operations, the start time, and the duration.
    let shared = Arc::new(Mutex::new((0, Instant::now(), 0.)));
    let hold = shared.lock().await;
    let mut crew = Vec::new();
    for _ in 0..CREW {
        let shared = shared.clone();
        crew.push(spawn(async move {
            loop {
                let mut state = shared.lock().await;
                state.0 += 1;
                if state.0 == CREW {
                    state.1 = Instant::now();
                } else if state.0 == CREW + n {
                    state.2 = since(state.1);
                }
                if state.0 >= CREW + n {
                    break;
                }
                yield_now().await;
            }
        }));
    }
    yield_now().await;
    drop(hold);
    for task in crew {
        task.await.unwrap();
    }
    let ns = shared.lock().await.2;
    ns
}

fn work(counter: &mut usize, times: usize) {
    for _ in 0..times {
        *black_box(&mut *counter) += 1;
    }
}

async fn mutex_work(n: usize) -> f64 {
    let mutex = Arc::new(Mutex::new(0));
    let ready = Arc::new(Barrier::new(2));
    let mut sides = Vec::new();
    for _ in 0..2 {
        let (mutex, ready) = (mutex.clone(), ready.clone());
        sides.push(spawn(async move {
            let mut own = 0;
            let mut start = Instant::now();
            for m in [MEETING, n / 2] {
                ready.wait().await;
                start = Instant::now();
                for _ in 0..m {
                    work(&mut *mutex.lock().await, WHILE_LOCKED);
                    work(&mut own, BETWEEN);
                }
            }
            since(start)
        }));
    }
    let mut ns: f64 = 0.;
    for side in sides {
        ns = ns.max(side.await.unwrap());
    }
    check("work while locked", WHILE_LOCKED * 2 * (MEETING + n / 2), *mutex.lock().await);
    ns
}

async fn yields(n: usize) -> f64 {
    let half = move || async move {
        for _ in 0..n / 2 {
            yield_now().await;
        }
    };
    let start = Instant::now();
    let other = spawn(half());
    half().await;
    other.await.unwrap();
    since(start)
}

async fn fork_join(n: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..n {
        spawn(async {}).await.unwrap();
    }
    since(start)
}

fn sample(case: &str, n: usize) -> Sample {
    match case {
        "serial" | "parallel" | "stream1-serial" | "stream1-parallel" => Box::pin(stream(1, n)),
        "stream100-serial" | "stream100-parallel" => Box::pin(stream(100, n)),
        "mailbox-serial" | "mailbox-parallel" => Box::pin(mailbox(n)),
        "select4-serial" | "select4-parallel" => Box::pin(select4(n)),
        "promise-serial" | "promise-parallel" => Box::pin(promises(n)),
        "mutex-free" => Box::pin(mutex_free(n)),
        "mutex-contended" => Box::pin(mutex_contended(n)),
        "mutex-work-parallel" => Box::pin(mutex_work(n)),
        "yield" => Box::pin(yields(n)),
        "fork-join" => Box::pin(fork_join(n)),
        _ => panic!("there is no case {case}"),
    }
}

fn runtime(case: &str) -> Runtime {
    if case.ends_with("parallel") {
        Builder::new_multi_thread().worker_threads(2).build().unwrap()
    } else {
        Builder::new_current_thread().build().unwrap()
    }
}

fn main() {
    let case = std::env::args().nth(2).unwrap();
    let runtime = runtime(&case);
    for line in std::io::stdin().lock().lines() {
        let n: usize = line.unwrap().split(' ').next().unwrap().parse().unwrap();
        let run = |n| {
            // Runs in a task of the runtime, because the main thread is not one of its workers.
            let task = runtime.spawn(sample(&case, n));
            let (ended, end) = std::sync::mpsc::channel::<()>();
            std::thread::spawn(move || {
                if end.recv_timeout(PATIENCE) == Err(Timeout) {
                    std::process::exit(1);
                }
            });
            let ns = runtime.block_on(task).unwrap();
            drop(ended);
            ns
        };
        run(1 + n / 10);
        println!("{}", run(n));
    }
}
