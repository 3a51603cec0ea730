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

(* --- Several permits at once. Eio, Go and Stdlib take them one by one --- *)

let several = 3

let acquire_release_n semaphore n =
  for _ = 1 to n do
    Concord.Semaphore.Counting.acquire_n semaphore several;
    Concord.Semaphore.Counting.release_n semaphore several
  done

let one_by_one_eio semaphore n =
  for _ = 1 to n do
    for _ = 1 to several do
      Eio.Semaphore.acquire semaphore
    done;
    for _ = 1 to several do
      Eio.Semaphore.release semaphore
    done
  done

let several_free =
  let case = "semaphore-n-free" in
  {
    title =
      Printf.sprintf
        "acquiring %d permits at once of a semaphore that nobody else uses, \
         and releasing them, 1 domain (Eio: one by one)"
        several;
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time
           (fun n ->
             Host.alone Host.eio (one_by_one_eio (Eio.Semaphore.make several)) n));
    others =
      Ours.rows ~case Ours.one_task (fun host n ->
          let semaphore = Concord.Semaphore.Counting.make several in
          Host.alone host (acquire_release_n semaphore) n);
  }

(* A message is a number in a cell. The permits of [full] and [empty] tell which side may use
   the cell. *)
let passing (shape : Host.shape) ~empty ~full ~acquire ~release n =
  let cell = ref 0 in
  let produce n =
    for i = 1 to n do
      acquire empty;
      cell := i;
      release full
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      acquire full;
      sum := !sum + !cell;
      release empty
    done;
    !sum
  in
  shape ~produce ~consume n

let passing_concord shape n =
  passing shape
    ~empty:(Concord.Semaphore.Counting.make several)
    ~full:(Concord.Semaphore.Counting.make 0)
    ~acquire:(fun t -> Concord.Semaphore.Counting.acquire_n t several)
    ~release:(fun t -> Concord.Semaphore.Counting.release_n t several)
    n

let passing_eio shape n =
  let times f t =
    for _ = 1 to several do
      f t
    done
  in
  passing shape
    ~empty:(Eio.Semaphore.make several)
    ~full:(Eio.Semaphore.make 0)
    ~acquire:(times Eio.Semaphore.acquire)
    ~release:(times Eio.Semaphore.release)
    n

let several_passed =
  let case = "semaphore-n-serial" in
  {
    title =
      Printf.sprintf
        "passing %d permits to a task that waits for them, and waiting for %d \
         in return, 1 domain (Eio: one by one)"
        several several;
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (passing_eio (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          passing_concord (Host.serial host));
  }

let comparisons =
  beside [ semaphore_free; semaphore_contended; several_free; several_passed ]
