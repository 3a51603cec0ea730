(** The page that the service shows, in a browser. *)

val follows_jobs : unit -> unit
(** Posts a job by the page's form, and sees it end on the page, in a wide
    window and in one of a phone. The page also shows the end of the service.
    The case is skipped where Chromium is not installed. *)
