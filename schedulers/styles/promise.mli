(** The promise monad. An operation that must wait returns at once, with a
    promise of its result. [>>=] adds a function to those that wait for the
    promise. (Section 5.3 and Figure 7 of the paper, after Lwt.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    {[
      # let open Promise in
        let box = make_mvar () in
        spawn (fun () ->
            let+ text = take_mvar box in
            print_endline text);
        spawn (fun () -> put_mvar box "hello");
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Monadic

(** {2 Promises}

    A promise belongs to the system thread that made it. *)

val ready : 'a -> 'a t
(** [ready v] is {!return} of [v]. *)

val blocked : unit -> 'a t
(** [blocked ()] is a promise that is not fulfilled yet. *)

val fulfill : 'a t -> 'a -> unit
(** [fulfill t v] makes [t] ready with [v], and continues those that wait for
    it, in the order of their arrival.

    - {b Raises} [Invalid_argument] if [t] is ready. *)

val connect : 'a t -> 'a t -> unit
(** [connect t t'] makes [t] the same promise as [t'].

    If [t'] is blocked, this is so at once, and the state of [t'] is a link from
    then on. Otherwise [t] is fulfilled.

    - {b Raises} [Invalid_argument] if [t] is ready. *)

val claim : 'a t -> 'a
(** [claim t] is the value of [t], for code in direct style that is in no thread
    of this style. This may be the main program, or a fiber on the same system
    thread.

    - {b Suspends} the calling task until the promise is fulfilled.
    - {b Raises} [Invalid_argument] in a thread of this style. Use {!val-(>>=)}
      there.
    - {b Raises} {!Concord_styles.Deadlock} if nothing could fulfil it. *)
