(** Direct style in Lwt's loop. *)

open Concord_testkit.Host

module Lwt_direct : HOST
(** Tasks of [Lwt_direct]. *)

module Promises : HOST
(** [Concord_lwt.direct]: each task is a promise of Lwt. *)
