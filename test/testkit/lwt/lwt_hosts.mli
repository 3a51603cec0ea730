(** Direct style in Lwt's loop. *)

open Concord_testkit.Host

module Lwt_direct : HOST
(** Tasks of [Lwt_direct]. *)

module Promises : HOST
(** Tasks of [Concord_lwt.direct], each of which is a promise of Lwt. *)
