(** The structures in monadic style: what waits gives a promise of the style's
    own library, as [Lwt.t] or [Deferred.t].

    {b Stability}: experimental, may change in any release.

    [Concord_lwt] is {!Make_with_wait} of Lwt, and [Concord_async] is {!Make} of
    Async. You need this module for another one. The structures are the same
    ones: what one side puts, in whatever style, the other side takes. (Section
    5 of "Effectively Composing Concurrency Libraries".)

    The page {{!page-schedulers}for authors of schedulers} shows a program with
    callbacks that gets all structures in 20 lines.

    No operation is written twice. A single operation waits as
    {!Structure_kit.wait} does, but by the style's means; any other code runs in
    direct style under a handler, which makes a promise of the rest of it when
    it suspends. So order, cancellation and cost are those of the direct
    operation.

    @canonical Concord.Tools.Monadic *)

module type Style = Promises.Style
(** A library of promises. *)

module type Style_with_wait = Promises.Style_with_wait
(** A library of promises that also tells when a wait was cancelled too late,
    gives way to others, and waits for one operation faster. *)

module type S = Style.S
(** The structures in that style. *)

module Make (Style : Style) : S with type 'a promise := 'a Style.t

module Make_with_wait (Style : Style_with_wait) :
  S with type 'a promise := 'a Style.t

(** {1 With a name}

    The same, for {!Debug}'s reports: without one the tasks are those of "a
    library of promises". *)

module type Host = Promises.Host
(** How its tasks are called in reports. *)

module Make_plain_named (_ : Host) (Style : Style) :
  S with type 'a promise := 'a Style.t

module Make_named (_ : Host) (Style : Style_with_wait) :
  S with type 'a promise := 'a Style.t
