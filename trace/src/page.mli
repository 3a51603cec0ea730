(** The timeline as a page of HTML, which needs nothing else and no network. *)

val write :
  out_channel ->
  title:string ->
  names:(int * string) list ->
  lost:int ->
  profile:Profile.t ->
  Timeline.t ->
  unit
