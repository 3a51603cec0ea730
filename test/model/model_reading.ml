(* Waiters for signals, and the thread that exists while there are waiters. The pipe and the
   thread are modelled. A read of the empty pipe leaves its process, and continues in the
   process that writes. *)

(* [pipe]

   State            Left by  To               By whom
   empty            write    a byte           a process that wakes the reader
                    read     sleeps           the reader
   a byte           read     empty            the reader
   sleeps           write    empty            a process that wakes the reader, to look again *)
type pipe = Empty | Byte | Sleeps
type waiter = { is_for_signal : bool; filled : bool Atomic.t }

type t = {
  reading : waiter Reading.t;
  pipe : pipe Atomic.t;
  has_come : bool Atomic.t;
  readers : int Atomic.t;
  mutable all : waiter list;
}

let create () =
  {
    reading = Reading.create ();
    pipe = Atomic.make Empty;
    has_come = Atomic.make false;
    readers = Atomic.make 0;
    all = [];
  }

let rec wake t =
  match Atomic.get t.pipe with
  | Byte -> ()
  | Empty -> if not (Atomic.compare_and_set t.pipe Empty Byte) then wake t
  | Sleeps ->
      if Atomic.compare_and_set t.pipe Sleeps Empty then
        Model.later (fun () -> look t)
      else wake t

and withdraw t w =
  match Reading.remove t.reading w with Absent | Others -> () | Last -> wake t

and look t =
  let check w =
    if
      w.is_for_signal && Atomic.get t.has_come
      && Atomic.compare_and_set w.filled false true
    then withdraw t w
  in
  List.iter check (Reading.waiters t.reading);
  if Reading.ends t.reading then
    ignore (Atomic.fetch_and_add t.readers (-1) : int)
  else read t

and read t =
  match Atomic.get t.pipe with
  | Byte -> if Atomic.compare_and_set t.pipe Byte Empty then look t else read t
  | Empty -> if not (Atomic.compare_and_set t.pipe Empty Sleeps) then read t
  | Sleeps -> failwith "two readers"

(* The reader before this one may be about to end. *)
let start t =
  ignore (Atomic.fetch_and_add t.readers 1 : int);
  Model.later (fun () -> read t)

let add t w =
  begin match Reading.add t.reading w with Start -> start t | Wake -> ()
  end;
  wake t

(* The thread can't be started. *)
let add_in_vain t w =
  match Reading.add t.reading w with
  | Start ->
      let tell w = Atomic.set w.filled true in
      List.iter tell (Reading.abandon t.reading)
  | Wake -> wake t

let signal t () =
  Atomic.set t.has_come true;
  wake t

(* Scenarios call this before the processes start. *)
let waiter t is_for_signal =
  let w = { is_for_signal; filled = Atomic.make false } in
  t.all <- w :: t.all;
  w

let check name processes expect =
  Model.check name ~expect @@ fun () ->
  let t = create () in
  let outcome () =
    let waiting = Reading.waiters t.reading in
    let readers = Atomic.get t.readers in
    let is_owed w = w.is_for_signal && Atomic.get t.has_come in
    if List.exists is_owed waiting then failwith "a signal was lost";
    if List.is_empty waiting <> (readers = 0) then
      failwith "a reader too few, or too many";
    if readers = 1 && Atomic.get t.pipe <> Sleeps then
      failwith "the reader does not sleep";
    let told = List.filter (fun w -> Atomic.get w.filled) t.all in
    Printf.sprintf "%d wait, %d told" (List.length waiting) (List.length told)
  in
  (List.map (fun process -> process t) processes, outcome)

let comes t =
  let w = waiter t true in
  fun () -> add t w

let stays t =
  let w = waiter t false in
  fun () -> add t w

let comes_and_goes t =
  let w = waiter t true in
  fun () ->
    add t w;
    withdraw t w

let in_vain t =
  let w = waiter t true in
  fun () -> add_in_vain t w

let () =
  check "a signal as one comes" [ comes; signal ] [ "0 wait, 1 told" ];
  check "a signal as one gives up" [ comes_and_goes; signal ]
    [ "0 wait, 0 told" ];
  check "one gives up, one comes" [ comes_and_goes; stays ] [ "1 wait, 0 told" ];
  check "two give up" [ comes_and_goes; comes_and_goes ] [ "0 wait, 0 told" ];
  check "two come" [ stays; stays ] [ "2 wait, 0 told" ];
  check "two come, and a signal" [ comes; stays; signal ] [ "1 wait, 1 told" ];
  check "no thread is left" [ in_vain; stays ]
    [ "0 wait, 2 told"; "1 wait, 1 told"; "2 wait, 0 told" ];
  Model.finish ()
