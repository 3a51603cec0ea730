module type Direct = sig
  type 'a mvar

  val make_mvar : unit -> 'a mvar
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
  val put_mvar : 'a mvar -> 'a -> unit
  val take_mvar : 'a mvar -> 'a
end

module type Trampolined = sig
  type 'a mvar

  val make_mvar : unit -> 'a mvar
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
  val put_mvar : 'a mvar -> 'a -> (unit -> unit) -> unit
  val take_mvar : 'a mvar -> ('a -> unit) -> unit
end

type 'a mvar = {
  mutable v : 'a option;
  mutable read : ('a -> unit) option;
  mutable write : ((unit -> unit) * 'a) option;
}

let make_mvar () = { v = None; read = None; write = None }
let too_many () = failwith "a private MVar has a second reader or writer"
let is_empty m = Option.is_none m.v

(* Requires that [m] is empty. *)
let put_now ~enqueue m v =
  match m.read with
  | Some reader ->
      m.read <- None;
      enqueue (fun () -> reader v)
  | None -> m.v <- Some v

(* Requires that [m] is full. *)
let take_now ~enqueue m =
  let v = Option.get m.v in
  begin match m.write with
  | Some (writer, next) ->
      m.v <- Some next;
      m.write <- None;
      enqueue writer
  | None -> m.v <- None
  end;
  v

(* [k] is the rest of the thread. It is called later, in a turn of its own. *)

let put_later m v k =
  if Option.is_some m.write then too_many () else m.write <- Some (k, v)

let take_later m k =
  if Option.is_some m.read then too_many () else m.read <- Some k

(* --- Trampolined ------------------------------------------------------------ *)

module Turns () = struct
  let turns = Queue.create ()
  let enqueue f = Queue.push f turns

  let rec run () =
    match Queue.take_opt turns with
    | None -> ()
    | Some f ->
        f ();
        run ()
end

let put ~enqueue m v k =
  if is_empty m then begin
    put_now ~enqueue m v;
    k ()
  end
  else put_later m v k

let take ~enqueue m k =
  if is_empty m then take_later m k else k (take_now ~enqueue m)

module Trampoline = struct
  include Turns ()

  type nonrec 'a mvar = 'a mvar

  let make_mvar = make_mvar
  let spawn = enqueue
  let start = run
  let put_mvar m v k = put ~enqueue m v k
  let take_mvar m k = take ~enqueue m k
end

module Trampoline_with_turns = struct
  open Concord_styles

  type nonrec 'a mvar = 'a mvar

  let make_mvar = make_mvar
  let spawn = Trampoline.spawn
  let start = Trampoline.start
  let put_mvar m v k = put ~enqueue:Trampoline.yield m v k
  let take_mvar m k = take ~enqueue:Trampoline.yield m k
end

(* --- Direct ----------------------------------------------------------------- *)

module Delimited = struct
  open Concord_styles
  include Turns ()

  type nonrec 'a mvar = 'a mvar

  let make_mvar = make_mvar
  let prompt = Prompt.new_prompt ()
  let spawn f = enqueue (fun () -> Prompt.push_prompt prompt f)
  let start = run

  let put_mvar m v =
    if is_empty m then put_now ~enqueue m v
    else Prompt.shift0 prompt (fun k -> put_later m v k)

  let take_mvar m =
    if is_empty m then Prompt.shift0 prompt (fun k -> take_later m k)
    else take_now ~enqueue m
end

module Callcc = struct
  open Concord_styles

  type nonrec 'a mvar = 'a mvar

  let make_mvar = make_mvar
  let turns = Queue.create ()
  let exit = ref None
  let enqueue f = Queue.push f turns

  (* Never returns, because each turn ends with a [throw]. *)
  let dequeue () =
    match Queue.take_opt turns with
    | Some f ->
        f ();
        assert false
    | None -> Cont.throw (Option.get !exit) ()

  let spawn f =
    enqueue (fun () ->
        Cont.throw
          (Cont.fresh (fun () ->
               f ();
               dequeue ()))
          ())

  let start () =
    Cont.run (fun () ->
        Cont.callcc (fun k ->
            exit := Some k;
            dequeue ()))

  let put_mvar m v =
    if is_empty m then put_now ~enqueue m v
    else
      Cont.callcc (fun k ->
          put_later m v (fun () -> Cont.throw k ());
          dequeue ())

  let take_mvar m =
    if is_empty m then
      Cont.callcc (fun k ->
          take_later m (fun v -> Cont.throw k v);
          dequeue ())
    else take_now ~enqueue m
end
