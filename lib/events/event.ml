open Choice
open Alternatives

type 'a t = 'a Alternatives.t
type 'a event = 'a t

let same v = v

let[@inline] make_of after operation structure arg =
  One (Alternative { operation; structure; arg; after })

let after kind finish = { finish; post = Then same; within = []; kind }
let plain = { finish = same; post = Then same; within = []; kind = Plain }

type ('b, 'a) policy =
  | Last : ('a, 'a) policy
  | Finish : ('b -> 'a) -> ('b, 'a) policy
  | Last_and_finish : ('b -> 'a) -> ('b, 'a) policy
  | Once : ('a, 'a) policy
  | Tentative : ('a -> bool) -> ('a, 'a) policy

let make operation structure arg = make_of plain operation structure arg

let make_by : type b a. (b, a) policy -> (_, _, b) Operation.t -> _ -> _ -> a t
    =
 fun policy operation structure arg ->
  match policy with
  | Last -> make_of (after Last same) operation structure arg
  | Finish finish -> make_of (after Plain finish) operation structure arg
  | Last_and_finish finish ->
      make_of (after Last finish) operation structure arg
  | Once -> make_of (after Once same) operation structure arg
  | Tentative confirm ->
      make_of (after (Tentative confirm) same) operation structure arg

let ready =
  {
    Operation.default with
    name = "Event.always";
    how =
      By_hand
        {
          attempt = (fun () v -> Some v);
          enlist = (fun () _ -> false);
          withdraw = (fun () _ -> ());
        };
  }

let always v = make ready () v
let never = Choose []
let choose ts = Choose ts
let wrap t f = Wrap (t, f)
let guard f = Guard f
let wrap_abort t run = Wrap_abort (t, { Aborts.run; first = false })
let wrap_withdraw t run = Wrap_abort (t, { Aborts.run; first = true })

(* --- Performing ----------------------------------------------------------- *)

let perform how alternatives aborts =
  if List.is_empty aborts then conclude Aborts.nothing_due (how alternatives)
  else Aborts.with_due aborts (fun due -> conclude due (how alternatives))

let sync_choice t =
  let alternatives, aborts = flatten t in
  perform perform_any alternatives aborts

let rec wait_confirmed confirm operation structure arg =
  let v = Operation.suspend operation structure arg in
  if confirm v then v
  else
    match Operation.attempt operation structure arg with
    | Some v -> v
    | None -> wait_confirmed confirm operation structure arg

(* An event that is not a choice needs neither [flatten] nor aborts. *)
let rec sync : type a. a t -> a = function
  | One
      (Alternative
         {
           operation;
           structure;
           arg;
           after = { finish; post = Then post; kind; _ };
         }) ->
      post
        (finish
           (match Operation.attempt operation structure arg with
           | Some v -> v
           | None -> (
               match kind with
               | Plain | Last | Once -> Operation.wait operation structure arg
               | Tentative confirm ->
                   wait_confirmed confirm operation structure arg)))
  | Wrap ((One _ as t), f) -> f (sync t)
  | Wrap (Wrap (t, f), g) -> sync (Wrap (t, fun v -> g (f v)))
  | Wrap (Guard f, g) -> sync (Wrap (f (), g))
  | Guard f -> sync (f ())
  | ( One
        ( Alternative { after = { post = Handled _; _ }; _ }
        | In_order _ | In_any_order _ )
    | Wrap ((Choose _ | Wrap_abort _ | Wrap_handler _ | Prefer _), _)
    | Choose _ | Wrap_abort _ | Wrap_handler _ | Prefer _ ) as t ->
      sync_choice t

let select ts = sync_choice (Choose ts)

(* [finish] and [post] may suspend, unless they are [same]. If both are [same], nothing has to
   be done after the wait. *)
type 'a simple =
  | Simple : {
      operation : ('t, 'x, 'b) Operation.t;
      structure : 't;
      arg : 'x;
      result : 'b -> 'a;
    }
      -> 'a simple
  | Then : 'b t * ('b -> 'a) -> 'a simple

let simple = function
  | One
      (Alternative
         {
           operation;
           structure;
           arg;
           after = { finish; post = Then post; kind = Plain | Last | Once; _ };
         })
    when Identity.equal finish same && Identity.equal post same ->
      let result v = post (finish v) in
      Some (Simple { operation; structure; arg; result })
  | Wrap ((One _ as t), f) -> Some (Then (t, f))
  | One _ | Wrap _ | Choose _ | Guard _ | Wrap_abort _ | Wrap_handler _
  | Prefer _ ->
      None

let poll t =
  let alternatives, aborts = flatten t in
  Aborts.with_due aborts @@ fun due ->
  match attempt_any alternatives with
  | Some chosen -> Some (conclude due chosen)
  | None ->
      Aborts.run_due due;
      None

(* --- Time ----------------------------------------------------------------- *)

(* One wait for a timeout. A choice may enlist it again, with the same deadline. Only the
   waiting task uses it. *)
type timer = {
  mutable deadline : int;  (** It is 0 until the timeout is enlisted. *)
  mutable cancel : unit -> unit;
}

let enlist_timer t (w : (float, unit) Waiter.t) =
  w.arg > 0.
  && begin
    let fire () = ignore (w.resumer (Ok ()) : bool) in
    if t.deadline = 0 then t.deadline <- Timer.deadline w.arg;
    t.cancel <- Timer.at t.deadline fire;
    true
  end

let is_due t seconds =
  seconds <= 0. || (t.deadline <> 0 && Timer.has_passed t.deadline)

let left t =
  if t.deadline = 0 then ""
  else Printf.sprintf "%.1f s left" (Timer.seconds_until t.deadline)

let passing =
  {
    Operation.default with
    name = "Event.timeout";
    spin = Indifferent;
    state = left;
    how =
      By_hand
        {
          attempt =
            (fun t seconds -> if is_due t seconds then Some () else None);
          enlist = enlist_timer;
          withdraw = (fun t _ -> t.cancel ());
        };
  }

(* The event is for one wait, because each wait needs its own timer. *)
let after seconds = make passing { deadline = 0; cancel = ignore } seconds

let check name seconds =
  if Float.is_nan seconds then
    invalid_arg (name ^ ": the time is not a number (nan)")

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

let new_channel () = Rendezvous.create ()
let send channel v = make Rendezvous.sending channel v
let receive channel = make Rendezvous.receiving channel ()

(* --- Exceptions ----------------------------------------------------------- *)

let wrap_handler t f = Wrap_handler (t, f)
let to_result t = wrap_handler (wrap t Result.ok) Result.error

(* --- Several at once ------------------------------------------------------- *)

let prefer ts = Prefer ts
let unless stop t = prefer [ wrap stop (fun _ -> None); wrap t Option.some ]

let in_order t =
  let alternatives, aborts = flatten t in
  (reversed alternatives, aborts)

let rec attempt_in_turn alternatives turn i left =
  if left = 0 then None
  else
    let after = if i + 1 = Array.length alternatives then 0 else i + 1 in
    match attempt alternatives.(i) with
    | None -> attempt_in_turn alternatives turn after (left - 1)
    | chosen ->
        turn := after;
        chosen

(* Tries the alternatives in their order, beginning with number [turn], which is then the one
   behind the alternative that was found ready. If none is ready, it waits for [permuted], the
   same alternatives, without spinning before. Two choices may start again because of each
   other. They try in random orders, as other choices do (see [Choice.decide]). *)
let rec perform_in_turn turn permuted alternatives =
  let n = Array.length alternatives in
  let first = if !turn < n then !turn else 0 in
  match attempt_in_turn alternatives turn first n with
  | Some chosen -> chosen
  | None ->
      let chosen = wait_for_any ~in_order:alternatives permuted in
      if is_confirmed chosen then chosen
      else perform_in_turn turn permuted alternatives

let rounds ts =
  let fixed, made = List.partition is_fixed ts and turn = ref 0 in
  let alternatives, aborts = in_order (Choose fixed) in
  if List.is_empty made then
    let permuted = Array.copy alternatives in
    let in_turn alternatives = perform_in_turn turn permuted alternatives in
    fun () -> perform in_turn alternatives aborts
  else fun () ->
    let more, more_aborts = in_order (Choose made) in
    let alternatives = Array.append alternatives more in
    let permuted = Array.copy alternatives in
    perform (perform_in_turn turn permuted) alternatives (more_aborts @ aborts)

let loop ts f =
  let next = rounds ts in
  let rec go () = match f (next ()) with Some v -> v | None -> go () in
  go ()
