(** The search. Its index is made here, so a browser only has to load it. *)

val script : index:string -> synonyms:string -> Page.t list -> string
(** The Javascript that assigns the index to [searched]. [index] is odoc's, as
    JSON. [synonyms] is the text of [synonyms.txt].

    - {b Raises} [Failure] if [synonyms] names an address that doesn't exist. *)
