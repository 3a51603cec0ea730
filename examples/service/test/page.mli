(** Tests the page of the service in a browser. *)

val follows_jobs : unit -> unit
(** Posts a job by the page's form, and checks that it ends on the page, in a
    wide window and in one of a phone's size. The page also has to show the end
    of the service. The case is skipped if Chromium is not installed. *)
