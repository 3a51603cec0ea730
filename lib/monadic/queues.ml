module type S = sig
  type 'a promise
  type 'a t

  val next : 'a t -> 'a option promise
  val iter : ('a -> unit) -> 'a t -> unit promise
  val iter_s : ('a -> unit promise) -> 'a t -> unit promise
  val fold : ('acc -> 'a -> 'acc) -> 'acc -> 'a t -> 'acc promise
  val fold_s : ('acc -> 'a -> 'acc promise) -> 'acc -> 'a t -> 'acc promise
end

module type Style = sig
  type 'a t

  val return : 'a -> 'a t
  val fail : exn -> Printexc.raw_backtrace -> 'a t
  val bind : 'a t -> ('a -> 'b t) -> 'b t
  val try_bind : (unit -> 'a t) -> ('a -> 'b t) -> (exn -> 'b t) -> 'b t
  val direct : (unit -> 'a) -> 'a t
end

(* The loops are tail calls, because many items may be available at once. *)

module Adding (Style : Style) = struct
  let rec each add seq =
    Style.bind (Style.direct seq) (function
      | Seq.Nil -> Style.return ()
      | Cons (v, seq) -> Style.bind (add v) (fun () -> each add seq))
end

module Make
    (Style : Style)
    (Queue : sig
      type 'a t

      val take : 'a t -> 'a Style.t
    end) =
struct
  let failed e = Style.fail e (Printexc.get_raw_backtrace ())

  let next t =
    Style.try_bind
      (fun () -> Queue.take t)
      (fun v -> Style.return (Some v))
      (function Errors.Closed -> Style.return None | e -> failed e)

  let rec fold_s f acc t =
    Style.bind (next t) (function
      | None -> Style.return acc
      | Some v -> (
          match f acc v with
          | acc -> Style.bind acc (fun acc -> fold_s f acc t)
          | exception e -> failed e))

  let fold f = fold_s (fun acc v -> Style.return (f acc v))
  let iter_s f = fold_s (fun () v -> f v) ()
  let iter f = fold (fun () v -> f v) ()
end
