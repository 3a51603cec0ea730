open Choice

type +_ t =
  | One : 'a alternative -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t
  | Choose : 'a t list -> 'a t
  | Guard : (unit -> 'a t) -> 'a t
  | Wrap_abort : 'a t * Aborts.t -> 'a t
  | Wrap_handler : 'a t * (exn -> 'a) -> 'a t
  | Prefer : 'a t list -> 'a t

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
  | Same, within, Alternative a ->
      Alternative { a with after = { a.after with within } }
  | Around outer, within, Alternative a ->
      let post = join outer a.after.post in
      Alternative { a with after = { a.after with post; within } }
  | _, _, (In_order _ | In_any_order _) ->
      assert false (* an event contains only operations *)

type ('a, 'b, 'found) collects =
  Aborts.t list ref ->
  ('a, 'b) around ->
  Aborts.t list ->
  'b alternative list ->
  'found

(* Returns the alternatives of the event, followed by [found]. Puts all the [wrap_abort]s of
   the event in front of [aborts]. *)
let rec collect : type a b. (a, b, a t -> b alternative list) collects =
 fun aborts post within found -> function
  | One alternative -> around post within alternative :: found
  | Wrap (t, f) -> collect aborts (inside post (Then f)) within found t
  | Choose ts -> collect_each aborts post within found ts
  | Guard f -> collect aborts post within found (f ())
  | Wrap_abort (t, { run; first }) ->
      (* Each position in the event gets a new record, because aborts are compared by address. *)
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

and collect_each : type a b. (a, b, a t list -> b alternative list) collects =
 fun aborts post within found ts ->
  match (post, within, ts) with
  | _, _, [] -> found
  | Same, [], One alternative :: rest ->
      (* the usual case, without a call *)
      collect_each aborts post within (alternative :: found) rest
  | _, _, t :: rest ->
      let found = collect aborts post within found t in
      collect_each aborts post within found rest

(* For the usual lengths, this avoids [Array.of_list], which calls C. *)
let array_of = function
  | [ a ] -> [| a |]
  | [ a; b ] -> [| a; b |]
  | [ a; b; c ] -> [| a; b; c |]
  | [ a; b; c; d ] -> [| a; b; c; d |]
  | alternatives -> Array.of_list alternatives

(* Returns the alternatives of the event, and all the [wrap_abort]s in it, latest first. *)
let flatten t =
  let aborts = ref [] in
  let alternatives = array_of (collect aborts Same [] [] t) in
  (alternatives, !aborts)

(* Does the event consist of the same alternatives each time? *)
let rec is_fixed : type a. a t -> bool = function
  | One _ -> true
  | Guard _ -> false
  | Wrap (t, _) -> is_fixed t
  | Wrap_abort (t, _) -> is_fixed t
  | Wrap_handler (t, _) -> is_fixed t
  | Choose ts | Prefer ts -> List.for_all is_fixed ts
