(** The promise monad: an operation that must wait returns at once, with a
    promise of its result; [>>=] adds what is to be done to those who wait for
    the promise. (Section 5.3 and Figure 7 of the paper, after Lwt.)

    {b Stability}: experimental, may change in any release. *)

include Signatures.Monadic

(** {2 Promises}

    A promise belongs to the system thread that made it. *)

val ready : 'a -> 'a t
(** {!return}. *)

val blocked : unit -> 'a t
(** A promise that is to be fulfilled. *)

val fulfill : 'a t -> 'a -> unit
(** [fulfill t v] makes [t] ready, and goes on with those who wait for it, in
    the order in which they came.

    - {b Raises} [Invalid_argument] if [t] is ready. *)

val connect : 'a t -> 'a t -> unit
(** [connect t t'] makes [t] the same promise as [t']: at once if [t'] is
    blocked, whose state is a link from then on; else by fulfilling [t].

    - {b Raises} [Invalid_argument] if [t] is ready. *)

val claim : 'a t -> 'a
(** The value of the promise, for code in direct style that is in no thread of
    this style: the main program, a fiber on the same system thread.

    - {b Suspends} the calling task until the promise is fulfilled.
    - {b Raises} [Invalid_argument] in a thread of this style: use {!val-(>>=)}.

    @raise Concord_styles.Deadlock if nothing could fulfil it. *)
