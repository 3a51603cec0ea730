(** The keyword and the patterns [lazy], in files that ask for it. *)

open Ppxlib

val translate : structure -> structure
(** Translates from [[@@@concord.lazy]] on, to the end of the structure that
    contains the attribute. If the rewriter was called with [-concord-lazy], it
    translates all of it. *)
