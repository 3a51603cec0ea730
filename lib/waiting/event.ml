open Choice

type +_ t =
  | One : 'a alternative -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t
  | Choose : 'a t list -> 'a t
  | Guard : (unit -> 'a t) -> 'a t
  | Wrap_abort : 'a t * Aborts.t -> 'a t
  | Wrap_handler : 'a t * (exn -> 'a) -> 'a t
  | Prefer : 'a t list -> 'a t

type 'a event = 'a t

let same v = v

let make_of kind finish operation structure arg =
  One
    (Alternative
       {
         operation;
         structure;
         arg;
         finish;
         post = Then same;
         within = [];
         kind;
       })

let make_with ?(last = false) ~finish operation structure arg =
  make_of (if last then Last else Plain) finish operation structure arg

let make ?last operation structure arg =
  make_with ?last ~finish:same operation structure arg

let make_tentative ~confirm operation structure arg =
  make_of (Tentative confirm) same operation structure arg

let ready =
  {
    Operation.attempt = (fun () v -> Some v);
    enlist = (fun () _ -> false);
    withdraw = (fun () _ -> ());
  }

let always v = make ready () v
let never = Choose []
let choose ts = Choose ts
let wrap t f = Wrap (t, f)
let guard f = Guard f
let wrap_abort t run = Wrap_abort (t, { Aborts.run; first = false })
let wrap_withdraw t run = Wrap_abort (t, { Aborts.run; first = true })

(* --- What an event consists of -------------------------------------------- *)

type (_, _) around =
  | Same : ('a, 'a) around
  | Around : ('a, 'b) post -> ('a, 'b) around

let join outer inner =
  match (outer, inner) with
  | Then g, Then f -> Then (fun v -> g (f v))
  | Then g, Handled f -> Handled (fun get -> g (f get))
  | Handled g, Then f -> Handled (fun get -> g (fun () -> f (get ())))
  | Handled g, Handled f -> Handled (fun get -> g (fun () -> f get))

let inside (type a b c) (outer : (b, c) around) (post : (a, b) post) :
    (a, c) around =
  match outer with
  | Same -> Around post
  | Around outer -> Around (join outer post)

let handled f =
  Handled (fun get -> match get () with v -> v | exception e -> f e)

let around (type a b) (outer : (a, b) around) within
    (alternative : a alternative) : b alternative =
  match (outer, within, alternative) with
  | Same, [], _ -> alternative
  | Same, within, Alternative a -> Alternative { a with within }
  | Around outer, within, Alternative a ->
      Alternative { a with post = join outer a.post; within }
  | _, _, (In_order _ | In_any_order _) ->
      assert false (* an event holds operations only *)

(* The alternatives of the event, and then [found]. All the [wrap_abort]s in it go in
   front of [aborts]. *)
let rec collect : type a b.
    Aborts.t list ref ->
    (a, b) around ->
    Aborts.t list ->
    b alternative list ->
    a t ->
    b alternative list =
 fun aborts post within found -> function
  | One alternative -> around post within alternative :: found
  | Wrap (t, f) -> collect aborts (inside post (Then f)) within found t
  | Choose ts -> collect_each aborts post within found ts
  | Guard f -> collect aborts post within found (f ())
  | Wrap_abort (t, { run; first }) ->
      (* a fresh one for each place in the event: they are compared by address *)
      let abort = { Aborts.run; first } in
      aborts := abort :: !aborts;
      collect aborts post (abort :: within) found t
  | Wrap_handler (t, f) ->
      collect aborts (inside post (handled f)) within found t
  | Prefer ts ->
      let one t =
        match collect aborts post within [] t with
        | [ alternative ] -> alternative
        | alternatives -> In_any_order alternatives
      in
      In_order (List.map one ts) :: found

and collect_each : type a b.
    Aborts.t list ref ->
    (a, b) around ->
    Aborts.t list ->
    b alternative list ->
    a t list ->
    b alternative list =
 fun aborts post within found -> function
  | [] -> found
  | t :: rest ->
      let found = collect aborts post within found t in
      collect_each aborts post within found rest

(* [Array.of_list] calls C. *)
let array_of = function
  | [ a; b ] -> [| a; b |]
  | [ a; b; c ] -> [| a; b; c |]
  | [ a; b; c; d ] -> [| a; b; c; d |]
  | alternatives -> Array.of_list alternatives

(* Its alternatives, and all the [wrap_abort]s in it, latest first. *)
let flatten t =
  let aborts = ref [] in
  let alternatives = array_of (collect aborts Same [] [] t) in
  (alternatives, !aborts)

(* --- Performing ----------------------------------------------------------- *)

let perform how alternatives aborts =
  if List.is_empty aborts then conclude Aborts.nothing_due (how alternatives)
  else Aborts.with_due aborts (fun due -> conclude due (how alternatives))

let sync_choice t =
  let alternatives, aborts = flatten t in
  perform perform_any alternatives aborts

let rec wait_confirmed confirm operation structure arg =
  let v = Operation.wait operation structure arg in
  if confirm v then v
  else
    match operation.attempt structure arg with
    | Some v -> v
    | None -> wait_confirmed confirm operation structure arg

(* An event that is no choice needs neither [flatten] nor aborts. *)
let rec sync : type a. a t -> a = function
  | One
      (Alternative
         { operation; structure; arg; finish; post = Then post; kind; _ }) ->
      post
        (finish
           (match operation.attempt structure arg with
           | Some v -> v
           | None -> (
               match kind with
               | Plain | Last -> Operation.wait operation structure arg
               | Tentative confirm ->
                   wait_confirmed confirm operation structure arg)))
  | Wrap ((One _ as t), f) -> f (sync t)
  | Wrap (Wrap (t, f), g) -> sync (Wrap (t, fun v -> g (f v)))
  | Wrap (Guard f, g) -> sync (Wrap (f (), g))
  | Guard f -> sync (f ())
  | ( One (Alternative { post = Handled _; _ } | In_order _ | In_any_order _)
    | Wrap ((Choose _ | Wrap_abort _ | Wrap_handler _ | Prefer _), _)
    | Choose _ | Wrap_abort _ | Wrap_handler _ | Prefer _ ) as t ->
      sync_choice t

let select ts = sync (Choose ts)

(* [finish] and [post] may suspend, unless they are [same]: then there is nothing to do
   after the wait. *)
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
           finish;
           post = Then post;
           kind = Plain | Last;
           _;
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

(* Each wait has a timeout of its own. *)
let after seconds = make Timeout.passing (Timeout.create ()) seconds

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

let new_channel () = Rendezvous.create ()
let send channel v = make Rendezvous.sending channel v
let receive channel = make Rendezvous.receiving channel ()

(* --- Exceptions ----------------------------------------------------------- *)

let wrap_handler t f = Wrap_handler (t, f)
let to_result t = wrap_handler (wrap t Result.ok) Result.error

(* --- Several at once ------------------------------------------------------- *)

let prefer ts = Prefer ts

let select_default ts f =
  match poll (Choose ts) with Some v -> v | None -> f ()

(* It consists of the same alternatives each time. *)
let rec is_fixed : type a. a t -> bool = function
  | One _ -> true
  | Guard _ -> false
  | Wrap (t, _) -> is_fixed t
  | Wrap_abort (t, _) -> is_fixed t
  | Wrap_handler (t, _) -> is_fixed t
  | Choose ts | Prefer ts -> List.for_all is_fixed ts

let in_order t =
  let alternatives, aborts = flatten t in
  let n = Array.length alternatives in
  (Array.init n (fun i -> alternatives.(n - 1 - i)), aborts)

let rounds ts =
  let fixed, made = List.partition is_fixed ts in
  let alternatives, aborts = in_order (Choose fixed) in
  if List.is_empty made then
    let rounds = Choice.rounds ~next:0 alternatives in
    fun () -> perform perform_next rounds aborts
  else
    let next = ref 0 in
    fun () ->
      let more, more_aborts = in_order (Choose made) in
      let rounds = Choice.rounds ~next:!next (Array.append alternatives more) in
      let keep_place rounds =
        let chosen = perform_next rounds in
        next := Choice.next rounds;
        chosen
      in
      perform keep_place rounds (more_aborts @ aborts)

let loop ts f =
  let next = rounds ts in
  let rec go () = match f (next ()) with Some v -> v | None -> go () in
  go ()

(* --- For names -------------------------------------------------------------- *)

let rec operations_of : type a. a alternative -> Operation.refused list =
  function
  | Alternative { operation; arg; _ } -> [ Refused (operation, arg) ]
  | In_order alternatives | In_any_order alternatives ->
      List.concat_map operations_of alternatives

let operations t =
  let alternatives, _ = flatten t in
  List.concat_map operations_of (Array.to_list alternatives)
