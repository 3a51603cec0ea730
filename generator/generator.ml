open Effect.Deep

type 'a t = { next : unit -> 'a option; close : unit -> unit }

exception Closed

let () =
  Printexc.register_printer (function
    | Closed -> Some "Concord_generator.Generator.Closed"
    | _ -> None)

let next t = t.next ()
let close t = t.close ()

(* --- A traversal on a stack of its own -------------------------------------- *)

(* The state of a traversal, an Atomic

   State        Left by      To           By whom
   Not_begun    next         Running      any task, which begins the traversal
                close        Ended        any task
   Suspended k  next, close  Running      any task, which continues [k]
   Running      yield        Suspended k  the task that runs the traversal
                the end      Ended        that task
   Ended        never (terminal)

   Only the task that installs [Running] uses [k], so [k] is used once. *)
type 'a state =
  | Not_begun
  | Suspended of (unit, 'a option) continuation
  | Running
  | Ended

let refuse_to name =
  Printf.ksprintf invalid_arg
    "Generator.%s: the traversal is already running. It was called inside of \
     the traversal, or by two tasks at once"
    name

let traverse (type a) (iter : (a -> unit) -> unit) : a t =
  (* Each traversal has its own effect, because one traversal may contain another. *)
  let module M = struct
    type _ Effect.t += Yield : a -> unit Effect.t
  end in
  let state = Atomic.make Not_begun in
  let retc () =
    Atomic.set state Ended;
    None
  and exnc e =
    let backtrace = Printexc.get_raw_backtrace () in
    Atomic.set state Ended;
    Printexc.raise_with_backtrace e backtrace
  and effc (type b) (e : b Effect.t) :
      ((b, a option) continuation -> a option) option =
    match e with
    | M.Yield v ->
        Some
          (fun k ->
            Atomic.set state (Suspended k);
            Some v)
    | _ -> None
  in
  let begin_ () =
    match_with iter (fun v -> Effect.perform (M.Yield v)) { retc; exnc; effc }
  in
  let rec next () =
    match Atomic.get state with
    | Suspended k as before ->
        if Atomic.compare_and_set state before Running then continue k ()
        else
          (* Another task was faster. *)
          next ()
    | Not_begun ->
        if Atomic.compare_and_set state Not_begun Running then begin_ ()
        else next ()
    | Running -> refuse_to "next"
    | Ended -> None
  in
  let rec close () =
    match Atomic.get state with
    | Suspended k as before ->
        if Atomic.compare_and_set state before Running then end_ k else close ()
    | Not_begun ->
        if not (Atomic.compare_and_set state Not_begun Ended) then close ()
    | Running -> refuse_to "close"
    | Ended -> ()
  and end_ k =
    match discontinue k Closed with
    | None -> ()
    | Some _ ->
        invalid_arg
          "Generator.close: the traversal has caught Closed and continued with \
           another element. Let it raise Closed again"
    | exception Closed -> ()
  in
  { next; close }

(* --- Running ahead ---------------------------------------------------------- *)

(* The traversal fills [buffer] and sets [length]. If it raises, the exception is kept until the
   elements before it were taken. *)
let traverse_ahead size iter =
  let buffer = Array.make size None and length = ref 0 and taken = ref 0 in
  let failure = ref None and is_closing = ref false in
  let fills =
    traverse (fun filled ->
        let add v =
          buffer.(!length) <- Some v;
          incr length;
          if !length = size then filled ()
        in
        match iter add with
        | () -> if !length > 0 && not !is_closing then filled ()
        | exception e when not !is_closing ->
            failure := Some (e, Printexc.get_raw_backtrace ());
            if !length > 0 then filled ())
  in
  let empty () =
    Array.fill buffer 0 !length None;
    length := 0;
    taken := 0
  in
  let rec next () =
    if !taken < !length then begin
      let v = buffer.(!taken) in
      incr taken;
      v
    end
    else begin
      empty ();
      match fills.next () with
      | Some () -> next ()
      | None -> (
          match !failure with
          | None -> None
          | Some (e, backtrace) ->
              failure := None;
              Printexc.raise_with_backtrace e backtrace)
    end
  in
  let close () =
    empty ();
    failure := None;
    is_closing := true;
    Fun.protect fills.close ~finally:(fun () -> is_closing := false)
  in
  { next; close }

let of_iter ?(ahead = 0) iter =
  if ahead < 0 then
    invalid_arg
      (Printf.sprintf "Generator.of_iter: ahead must be at least 0, but is %d"
         ahead);
  if ahead = 0 then traverse iter else traverse_ahead ahead iter

module type ITERABLE = sig
  type 'a t

  val iter : ('a -> unit) -> 'a t -> unit
end

module MkGen (S : ITERABLE) = struct
  let gen t = (traverse (fun yield -> S.iter yield t)).next
end

let closing t f =
  match f t with
  | v ->
      t.close ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      t.close ();
      Printexc.raise_with_backtrace e backtrace

let with_iter ?ahead iter f = closing (of_iter ?ahead iter) f

(* --- Sequences and lists ---------------------------------------------------- *)

let of_seq seq =
  let rest = ref seq in
  let next () =
    let forced = !rest in
    (* If [forced] raises, the sequence has ended. *)
    rest := Seq.empty;
    match forced () with
    | Seq.Nil -> None
    | Cons (v, others) ->
        rest := others;
        Some v
  in
  { next; close = (fun () -> rest := Seq.empty) }

let of_list list = of_seq (List.to_seq list)
let to_seq t = Seq.once (Seq.of_dispenser t.next)

let iter f t =
  let rec go () =
    match t.next () with
    | None -> ()
    | Some v ->
        f v;
        go ()
  in
  closing t (fun _ -> go ())

let to_list t = List.of_seq (to_seq t)

(* --- Two at once ------------------------------------------------------------ *)

let close_both a b = Fun.protect ~finally:b.close a.close

let zip a b =
  let next () =
    match a.next () with
    | None ->
        b.close ();
        None
    | Some v -> (
        match b.next () with
        | Some w -> Some (v, w)
        | None ->
            a.close ();
            None)
  in
  { next; close = (fun () -> close_both a b) }

let equal eq a b =
  let rec go () =
    match a.next () with
    | None -> Option.is_none (b.next ())
    | Some v -> (
        match b.next () with None -> false | Some w -> eq v w && go ())
  in
  Fun.protect ~finally:(fun () -> close_both a b) go
