(** The structures in monadic style: what waits gives a promise of the style's
    own library, as [Lwt.t] or [Deferred.t].

    [Concord_lwt] and [Concord_async] are {!Make} of their libraries. You need
    it for another one. The structures are the same ones: what one side puts, in
    whatever style, the other side takes. (Section 5 of "Effectively Composing
    Concurrency Libraries".)

    No operation is written twice. A single one waits as {!Suspend.wait} does,
    but by the style's means; any other code runs in direct style under a
    handler, which makes a promise of the rest of it when it suspends. So order,
    cancellation and cost are those of the direct operation. *)

module type Style = Style.Style
(** A library of promises. *)

module type Style_with_wait = Style.Style_with_wait
(** One that also tells when it was cancelled too late, gives way to others, and
    waits for one operation faster. *)

module type S = Style.S
(** What {!Make} makes of it. *)

module Make (Style : Style) : S with type 'a promise := 'a Style.t

module Make_with_wait (Style : Style_with_wait) :
  S with type 'a promise := 'a Style.t
