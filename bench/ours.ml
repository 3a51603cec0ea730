open Case

let fifo = ("fifo", Host.fifo)
let eio = ("eio", Host.eio)
let thread = ("thread", Host.thread)
let domain = ("domain", Host.domain)
let one_task = [ fifo; eio; domain ]
let two_tasks = [ fifo; eio ]

let yielding =
  [
    ("fifo", (Host.fifo, Concord_fifo.yield));
    ("eio", (Host.eio, Eio.Fiber.yield));
  ]

let two_domains = [ fifo; eio; domain ]

let rows ?(impl = "concord") ~case hosts run =
  List.map (fun (host, on) -> row ~case ~impl ~host (Time (run on))) hosts

let beside_stdlib ~case run stdlib =
  rows ~case [ thread ] run
  @ [ row ~case ~impl:"stdlib" ~host:"thread" (Time stdlib) ]
