(** The keyword and the patterns [lazy], in files that ask for it. *)

open Ppxlib

val translate : structure -> structure
(** From [[@@@concord.lazy]] on, to the end of the structure in which it stands;
    or all of it, if the rewriter was called with [-concord-lazy]. *)
