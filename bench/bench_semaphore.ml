open Case

let acquire_release_concord semaphore n =
  for _ = 1 to n do
    Concord.Semaphore.Counting.acquire semaphore;
    Concord.Semaphore.Counting.release semaphore
  done

let acquire_release_eio semaphore n =
  for _ = 1 to n do
    Eio.Semaphore.acquire semaphore;
    Eio.Semaphore.release semaphore
  done

let acquire_release_stdlib semaphore n =
  for _ = 1 to n do
    Semaphore.Counting.acquire semaphore;
    Semaphore.Counting.release semaphore
  done

let free_concord host n =
  let semaphore = Concord.Semaphore.Counting.make 1 in
  Host.alone host (acquire_release_concord semaphore) n

let free_eio n =
  Host.alone Host.eio (acquire_release_eio (Eio.Semaphore.make 1)) n

let free_stdlib n =
  let semaphore = Semaphore.Counting.make 1 in
  Host.alone Host.domain (acquire_release_stdlib semaphore) n

let semaphore_free =
  let case = "semaphore-free" in
  {
    title =
      "acquiring and releasing a semaphore that nobody else uses, 1 domain";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time free_eio);
    others =
      Ours.rows ~case Ours.one_task free_concord
      @ [
          row ~case ~impl:"stdlib" ~host:"domain" (Time free_stdlib);
          go case;
          picos case elsewhere;
        ];
  }

let permits = 3
let tasks = 10

let contended_concord host ~yield n =
  let semaphore = Concord.Semaphore.Counting.make permits in
  let rec work another =
    Concord.Semaphore.Counting.acquire semaphore;
    let again = another () in
    if again then yield ();
    Concord.Semaphore.Counting.release semaphore;
    if again then work another
  in
  Host.crew host ~tasks ~hold:ignore ~free:ignore work n

let contended_eio n =
  let semaphore = Eio.Semaphore.make permits in
  let rec work another =
    Eio.Semaphore.acquire semaphore;
    let again = another () in
    if again then Eio.Fiber.yield ();
    Eio.Semaphore.release semaphore;
    if again then work another
  in
  Host.crew Host.eio ~tasks ~hold:ignore ~free:ignore work n

let contended_stdlib n =
  let semaphore = Semaphore.Counting.make permits in
  let rec work another =
    Semaphore.Counting.acquire semaphore;
    let again = another () in
    if again then Thread.yield ();
    Semaphore.Counting.release semaphore;
    if again then work another
  in
  Host.crew Host.thread ~tasks ~hold:ignore ~free:ignore work n

let semaphore_contended =
  let case = "semaphore-contended" in
  {
    title =
      Printf.sprintf
        "acquiring, yielding and releasing, by one of %d tasks with %d \
         permits, 1 domain"
        tasks permits;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time contended_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo"
          (Time (contended_concord Host.fifo ~yield:Concord_fifo.yield));
        row ~case ~impl:"concord" ~host:"eio"
          (Time (contended_concord Host.eio ~yield:Eio.Fiber.yield));
        row ~case ~impl:"concord" ~host:"thread"
          (Time (contended_concord Host.thread ~yield:Thread.yield));
        row ~case ~impl:"stdlib" ~host:"thread" (Time contended_stdlib);
        go case;
        picos case elsewhere;
      ];
  }

let comparisons = beside [ semaphore_free; semaphore_contended ]
