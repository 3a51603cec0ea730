(** How tasks wait: internal to [Concord].

    {b Stability}: none, nothing is promised. *)
