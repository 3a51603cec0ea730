(** The limits of a server's clients, on the command line of each example that
    speaks HTTP. *)

type t = {
  max_connections : int;  (** Further clients wait. *)
  idle_timeout : float;
      (** The seconds after which a connection without a request is closed. *)
  transfer_timeout : float;
      (** The seconds that a client may take to send a request, or to receive an
          answer. *)
}

val term : ?transfer_timeout:float -> unit -> t Cmdliner.Term.t
(** The options. The argument is the default of [--transfer-timeout]. *)

val between : 'a -> 'a -> 'a Cmdliner.Arg.conv -> 'a Cmdliner.Arg.conv
(** Refuses other values. *)

val duration : float Cmdliner.Arg.conv
(** Seconds, up to a day. *)
