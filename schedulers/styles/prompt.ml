open Effect.Deep

type 'b t = 'b Type.Id.t
type ('a, 'b) body = (('a, exn) result -> 'b) -> 'b

type 'b meaning = { meaning : 'a. 'a Effect.t -> ('a, 'b) body option }
[@@unboxed]

(* The mark of a prompt on the stack is an effect handler. A continuation that is taken there
   contains this handler. A subcontinuation must not contain its prompt, so the handler is put
   to sleep. *)
type mark = { mutable is_awake : bool }

type ('a, 'b) subcont = {
  stack : (unit -> 'a, 'b) continuation;
  mark : mark;
  taken_at : 'b t;
}

(* The result of [Take] is a function that runs where the continuation was taken, when it is
   pushed again. [Shift] leaves the mark awake, so that the prompt comes back with the
   continuation. *)
type _ Effect.t +=
  | Take : 'b t * (('a, 'b) subcont -> 'b) -> (unit -> 'a) Effect.t
  | Shift : 'b t * (('a -> 'b) -> 'b) -> 'a Effect.t

let new_prompt () = Type.Id.make ()
let reraise e = Printexc.(raise_with_backtrace e (get_raw_backtrace ()))

let resume stack = function
  | Ok v -> continue stack v
  | Error e -> discontinue stack e

let taken_by (type a b) (p : b t) mark (e : a Effect.t) :
    ((a, b) continuation -> b) option =
  match e with
  | Take (q, f) -> (
      match Type.Id.provably_equal p q with
      | Some Equal ->
          Some
            (fun stack ->
              mark.is_awake <- false;
              f { stack; mark; taken_at = p })
      | None -> None)
  | Shift (q, f) -> (
      match Type.Id.provably_equal p q with
      | Some Equal -> Some (fun stack -> f (fun v -> continue stack v))
      | None -> None)
  | _ -> None

let push_prompt_with (type b) { meaning } (p : b t) f =
  let mark = { is_awake = true } in
  let effc (type a) (e : a Effect.t) : ((a, b) continuation -> b) option =
    if not mark.is_awake then None
    else
      match taken_by p mark e with
      | Some _ as take -> take
      | None -> (
          match meaning e with
          | Some body -> Some (fun stack -> body (resume stack))
          | None -> None)
  in
  match_with f () { retc = Fun.id; exnc = reraise; effc }

let push_prompt p f = push_prompt_with { meaning = (fun _ -> None) } p f
let take_subcont p f = Effect.perform (Take (p, f)) ()
let push_subcont { stack; _ } f = continue stack f

let push_prompt_subcont p ({ stack; mark; taken_at } as subcont) f =
  if Type.Id.uid taken_at <> Type.Id.uid p then
    push_prompt p (fun () -> push_subcont subcont f)
  else
    (* The mark is woken inside of [continue], which has checked by then that the continuation
       is used for the first time. *)
    continue stack (fun () ->
        mark.is_awake <- true;
        f ())

(* The same as [take_subcont p (fun k -> f (fun v -> push_prompt_subcont p k (fun () -> v)))],
   but faster. *)
let shift0 p f = Effect.perform (Shift (p, f))
