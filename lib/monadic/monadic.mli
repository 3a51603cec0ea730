(** The structures in monadic style, for your own library of promises.

    {b Stability}: experimental, because its signature grows with each
    structure.

    [Concord_lwt] is {!Make_with_wait} of Lwt, and [Concord_async] is {!Make} of
    Async. Use this module for another library. The structures are the same
    ones. For example, a task of one style puts an item into an MVar, and a task
    of another style takes it. (Section 5 of "Effectively Composing Concurrency
    Libraries".)

    A style need not be one of promises. In this one an operation returns a
    [result], where the direct operation returns a value or raises:

    {[
    module Results = struct
      type 'a t = ('a, exn) result

      let return v = Ok v
      let fail e (_ : Printexc.raw_backtrace) = Error e
      let bind = Result.bind

      let try_bind f return fail =
        match f () with Ok v -> return v | Error e -> fail e

      let suspend ~protected block go_on =
        let wait () =
          match Concord.Tools.Suspend.suspend block with
          | v -> Ok v
          | exception e -> Error e
        in
        go_on (if protected then Tasks.protect wait else wait ())

      let enter () = ()
      let isolate f = f ()
      let host () = None
    end

    module Safe = Concord.Tools.Monadic.Make (Results)
    ]}

    {[
      # let numbers = Stream.create 1
      val numbers : '_weak1 Stream.t = <abstr>
      # let domain = Domain.spawn (fun () -> Stream.add numbers 42; Stream.close numbers)
      val domain : unit Domain.t = <abstr>
      # Safe.Stream.take numbers
      - : int Results.t = Ok 42
      # Safe.Stream.take numbers = Error Stream.Closed
      - : bool = true
    ]}

    The page {{!page-schedulers}for authors of schedulers} shows a program with
    callbacks, which can't suspend a task, and which gets all structures in 20
    lines.

    No operation is written twice. A single operation waits as
    {!Structure_kit.wait} does, but by the style's means. Other code runs in
    direct style under a handler. When it suspends, the handler makes a promise
    of the rest of the code. Order, cancellation and cost are the direct
    operation's.

    See also the pages on {{!/concord/lwt}Lwt} and {{!/concord/async}Async}.

    @canonical Concord.Tools.Monadic *)

module type Style = Promises.Style
(** A library of promises. *)

module type Style_with_wait = Promises.Style_with_wait
(** A promise library that also tells when a wait was cancelled too late, gives
    way to others, and waits for one operation faster. *)

module type S = Style.S
(** The structures in this style. *)

(** [Make (Style)] has the structures in the style [Style], as [Safe] above. *)
module Make (Style : Style) : S with type 'a promise := 'a Style.t

(** [Make_with_wait (Style)] does the same as {!Make}, for a library whose
    promises can be cancelled. [Concord_lwt] is made by it. *)
module Make_with_wait (Style : Style_with_wait) :
  S with type 'a promise := 'a Style.t

(** {1 With a name}

    These functors are the same, with a name for {!Debug}'s reports. Without a
    name, tasks are those of "a library of promises". *)

module type Host = Promises.Host
(** The name of its tasks in reports. *)

(** {!Make}, with a name. *)
module Make_plain_named (_ : Host) (Style : Style) :
  S with type 'a promise := 'a Style.t

(** {!Make_with_wait}, with a name. *)
module Make_named (_ : Host) (Style : Style_with_wait) :
  S with type 'a promise := 'a Style.t
