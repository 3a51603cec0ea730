type abort = {
  run : unit -> unit;
  first : bool;  (** Before the functions that are wrapped around others. *)
}

type 'b kind =
  | Plain
  | Last  (** To be enlisted after the others. *)
  | Tentative of ('b -> bool)
      (** Was it performed? To be asked in the task that was resumed. *)

(* One operation that can be chosen. *)
type +'a alternative =
  | Alternative : {
      operation : ('t, 'x, 'b) Suspend.operation;
      structure : 't;
      arg : 'x;
      finish : 'b -> 'c;  (** What is left of the operation itself. *)
      post : 'c -> 'a;  (** What is wrapped around it. *)
      within : abort list;  (** The [wrap_abort]s around it. *)
      kind : 'b kind;
    }
      -> 'a alternative

type +_ t =
  | One : 'a alternative -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t
  | Choose : 'a t list -> 'a t
  | Guard : (unit -> 'a t) -> 'a t
  | Wrap_abort : 'a t * abort -> 'a t

type 'a event = 'a t

let same v = v

let make_of kind finish operation structure arg =
  One
    (Alternative
       { operation; structure; arg; finish; post = same; within = []; kind })

let make_with ?(last = false) ~finish operation structure arg =
  make_of (if last then Last else Plain) finish operation structure arg

let make ?last operation structure arg =
  make_with ?last ~finish:same operation structure arg

let make_tentative ~confirm operation structure arg =
  make_of (Tentative confirm) same operation structure arg

let ready =
  {
    Suspend.attempt = (fun () v -> Some v);
    enlist = (fun () _ -> false);
    withdraw = (fun () _ -> ());
  }

let always v = make ready () v
let never = Choose []
let choose ts = Choose ts
let wrap t f = Wrap (t, f)
let guard f = Guard f
let wrap_abort t run = Wrap_abort (t, { run; first = false })
let wrap_withdraw t run = Wrap_abort (t, { run; first = true })

(* --- What an event consists of -------------------------------------------- *)

type (_, _) post = Same : ('a, 'a) post | Then : ('a -> 'b) -> ('a, 'b) post

let compose (type a b c) (post : (b, c) post) (f : a -> b) : (a, c) post =
  match post with Same -> Then f | Then g -> Then (fun v -> g (f v))

let around (type a b) (post : (a, b) post) within
    (Alternative a as alternative : a alternative) : b alternative =
  match (post, within) with
  | Same, [] -> alternative
  | Same, within -> Alternative { a with within }
  | Then f, within ->
      let post v = f (a.post v) in
      Alternative { a with post; within }

(* Its alternatives, and all the [wrap_abort]s in it, latest first. *)
let flatten t =
  let aborts = ref [] in
  let rec collect : type a b.
      (a, b) post ->
      abort list ->
      b alternative list ->
      a t ->
      b alternative list =
   fun post within found -> function
     | One alternative -> around post within alternative :: found
     | Wrap (t, f) -> collect (compose post f) within found t
     | Choose ts -> List.fold_left (collect post within) found ts
     | Guard f -> collect post within found (f ())
     | Wrap_abort (t, { run; first }) ->
         (* another one for each place in the event *)
         let abort = { run; first } in
         aborts := abort :: !aborts;
         collect post (abort :: within) found t
  in
  let found = collect Same [] [] t in
  (Array.of_list found, !aborts)

(* --- Choosing ------------------------------------------------------------- *)

type 'a chosen =
  | Chosen : {
      result : ('b, exn) result;
      finish : 'b -> 'c;
      post : 'c -> 'a;
      within : abort list;
    }
      -> 'a chosen
  | Unconfirmed of { confirm : unit -> bool; chosen : 'a chosen }

let attempt (Alternative { operation; structure; arg; finish; post; within; _ })
    =
  match operation.attempt structure arg with
  | Some v -> Some (Chosen { result = Ok v; finish; post; within })
  | None -> None
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      let finish () = Printexc.raise_with_backtrace e backtrace in
      Some (Chosen { result = Ok (); finish; post; within })

(* Tries all, in an order in which each is equally likely before each other. *)
let attempt_any alternatives =
  let n = Array.length alternatives in
  let rec from i =
    if i = n then None
    else begin
      let j = i + Shuffle.below (n - i) in
      let alternative = alternatives.(j) in
      alternatives.(j) <- alternatives.(i);
      alternatives.(i) <- alternative;
      match attempt alternative with None -> from (i + 1) | chosen -> chosen
    end
  in
  from 0

type enlisted =
  | Enlisted : {
      operation : ('t, 'x, 'a) Suspend.operation;
      structure : 't;
      waiter : ('x, 'a) Suspend.waiter;
    }
      -> enlisted

let withdraw_all enlisted =
  let withdraw (Enlisted { operation; structure; waiter }) =
    Suspend.withdraw operation structure waiter
  in
  List.iter withdraw !enlisted;
  enlisted := []

(* [choice], for one attempt to choose

   State  Left by   To    By whom
   false  resume *  true  whoever has a value for one of the waiters; then calls
                          the host's resumer, which decides against cancelling
          close     true  the task itself, while it enlists, when it finds an
                          alternative ready
   true   never (terminal)

   A task that closed its choice refuses every value, so that it can try the
   alternative that was ready as if it waited for nothing else. If another task
   was faster there, it begins again, with a new choice: it is not a waiter yet,
   so that nobody overtakes it. Two tasks whose choices offer to each other may
   both have closed, and both begin again; they try in random orders, so that
   this does not go on. *)
let decide choice = Atomic.compare_and_set choice false true

let enlist choice resumer (Alternative a) enlisted =
  let waiter = Waiter.make_alternative choice a.arg in
  waiter.resume <-
    (fun result ->
      (* Made first: a signal handler may raise where something is allocated, and
         whoever has decided owes the resumption. *)
      let chosen =
        Chosen { result; finish = a.finish; post = a.post; within = a.within }
      in
      let chosen =
        match (a.kind, result) with
        | (Plain | Last), _ | Tentative _, Error _ -> Ok chosen
        | Tentative confirm, Ok v ->
            Ok (Unconfirmed { confirm = (fun () -> confirm v); chosen })
      in
      decide choice
      && begin
        (* [withdraw_all] has nothing to do for it *)
        Waiter.leave waiter;
        resumer chosen
      end);
  a.operation.enlist a.structure waiter
  && begin
    enlisted :=
      Enlisted { operation = a.operation; structure = a.structure; waiter }
      :: !enlisted;
    true
  end

let is_last (Alternative { kind; _ }) =
  match kind with Last -> true | Plain | Tentative _ -> false

let rec block alternatives enlisted resumer =
  let choice = Atomic.make false in
  let rec from ~last i =
    if i = Array.length alternatives then
      if last then None else from ~last:true 0
    else if is_last alternatives.(i) <> last then from ~last (i + 1)
    else
      match enlist choice resumer alternatives.(i) enlisted with
      | true -> from ~last (i + 1)
      | false ->
          if decide choice then begin
            withdraw_all enlisted;
            match attempt alternatives.(i) with
            | Some _ as chosen -> chosen
            | None -> (
                match attempt_any alternatives with
                | Some _ as chosen -> chosen
                | None -> block alternatives enlisted resumer)
          end
          else (* resumed meanwhile *) None
  in
  from ~last:false 0

(* One that raises, or is cancelled, must not keep the others from running: one may
   have to lock a mutex again. The first exception is raised. *)
let rec run_aborts aborts ~chosen =
  match aborts with
  | [] -> ()
  | a :: aborts when List.memq a chosen -> run_aborts aborts ~chosen
  | a :: aborts -> and_then a.run aborts ~chosen

(* [f ()], and then the aborts. *)
and and_then : 'a. (unit -> 'a) -> abort list -> chosen:abort list -> 'a =
 fun f aborts ~chosen ->
  match f () with
  | v ->
      run_aborts aborts ~chosen;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (try run_aborts aborts ~chosen with _ -> ());
      Printexc.raise_with_backtrace e backtrace

(* First of all the operation is finished: it may hold what others wait for. *)
let rec conclude : type a. abort list -> a chosen -> a =
 fun aborts -> function
  | Unconfirmed { chosen; _ } -> conclude aborts chosen
  | Chosen { result; finish; post; within = chosen } ->
      let finish () =
        match result with Ok v -> finish v | Error e -> raise e
      in
      if List.is_empty aborts then post (finish ())
      else
        let first, others = List.partition (fun a -> a.first) aborts in
        and_then (fun () -> post (and_then finish first ~chosen)) others ~chosen

let is_confirmed = function
  | Chosen _ -> true
  | Unconfirmed { confirm; _ } -> confirm ()

let wait_for_any alternatives =
  let enlisted = ref [] in
  match Suspend.suspend (block alternatives enlisted) with
  | chosen ->
      withdraw_all enlisted;
      chosen
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      withdraw_all enlisted;
      Printexc.raise_with_backtrace e backtrace

(* What was resumed in vain begins again, with the same arguments. *)
let rec perform_any alternatives =
  match attempt_any alternatives with
  | Some chosen -> chosen
  | None ->
      let chosen = wait_for_any alternatives in
      if is_confirmed chosen then chosen else perform_any alternatives

let sync_choice t =
  let alternatives, aborts = flatten t in
  match perform_any alternatives with
  | chosen -> conclude aborts chosen
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      let raise () = Printexc.raise_with_backtrace e backtrace in
      and_then raise aborts ~chosen:[]

let rec wait_confirmed confirm operation structure arg =
  let v = Suspend.wait operation structure arg in
  if confirm v then v
  else
    match operation.attempt structure arg with
    | Some v -> v
    | None -> wait_confirmed confirm operation structure arg

(* What is no choice needs none of that. *)
let rec sync : type a. a t -> a = function
  | One (Alternative { operation; structure; arg; finish; post; kind; _ }) ->
      post
        (finish
           (match operation.attempt structure arg with
           | Some v -> v
           | None -> (
               match kind with
               | Plain | Last -> Suspend.wait operation structure arg
               | Tentative confirm ->
                   wait_confirmed confirm operation structure arg)))
  | Wrap ((One _ as t), f) -> f (sync t)
  | Wrap (Wrap (t, f), g) -> sync (Wrap (t, fun v -> g (f v)))
  | Wrap (Guard f, g) -> sync (Wrap (f (), g))
  | Guard f -> sync (f ())
  | (Wrap ((Choose _ | Wrap_abort _), _) | Choose _ | Wrap_abort _) as t ->
      sync_choice t

let select ts = sync (Choose ts)

(* [finish] and [post] may suspend, unless they are [same]. *)
type 'a simple =
  | Simple : {
      operation : ('t, 'x, 'b) Suspend.operation;
      structure : 't;
      arg : 'x;
      result : 'b -> 'a;
    }
      -> 'a simple
  | Then : 'b t * ('b -> 'a) -> 'a simple

let simple = function
  | One
      (Alternative
         { operation; structure; arg; finish; post; kind = Plain | Last; _ })
    when Physical.equal finish same && Physical.equal post same ->
      let result v = post (finish v) in
      Some (Simple { operation; structure; arg; result })
  | Wrap ((One _ as t), f) -> Some (Then (t, f))
  | One _ | Wrap _ | Choose _ | Guard _ | Wrap_abort _ -> None

let poll t =
  let alternatives, aborts = flatten t in
  match attempt_any alternatives with
  | Some chosen -> Some (conclude aborts chosen)
  | None ->
      run_aborts aborts ~chosen:[];
      None

(* --- Time ----------------------------------------------------------------- *)

(* One wait for a timeout. A choice may enlist it again: it has one deadline. *)
type timer = {
  mutable deadline : int;  (** 0 before it was enlisted. *)
  mutable cancel : unit -> unit;
}

let enlist_timer t (w : (float, unit) Suspend.waiter) =
  w.arg > 0.
  && begin
    let fire () = ignore (w.resume (Ok ()) : bool) in
    if t.deadline = 0 then t.deadline <- Timer.deadline w.arg;
    t.cancel <- Timer.at t.deadline fire;
    true
  end

let is_due t seconds =
  seconds <= 0. || (t.deadline <> 0 && Timer.has_passed t.deadline)

let timer =
  {
    Suspend.attempt =
      (fun t seconds -> if is_due t seconds then Some () else None);
    enlist = enlist_timer;
    withdraw = (fun t _ -> t.cancel ());
  }

(* Each wait has a timer of its own. *)
let after seconds = make timer { deadline = 0; cancel = ignore } seconds

let check name seconds =
  if Float.is_nan seconds then invalid_arg (name ^ ": not a number")

let timeout seconds =
  check "Event.timeout" seconds;
  Guard (fun () -> after seconds)

let at time =
  check "Event.at" time;
  Guard (fun () -> after (time -. Unix.gettimeofday ()))

let sync_before seconds t =
  check "Event.sync_before" seconds;
  if seconds <= 0. then poll t
  else
    sync (Choose [ wrap t Option.some; wrap (after seconds) (fun () -> None) ])

(* --- Channels ------------------------------------------------------------- *)

type 'a channel = 'a Rendezvous.t

let new_channel = Rendezvous.create
let send channel v = make Rendezvous.sending channel v
let receive channel = make Rendezvous.receiving channel ()
