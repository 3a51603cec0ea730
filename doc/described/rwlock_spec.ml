open Description

module Make (Of : sig
  val prefer : [ `Nobody | `Writers ]
end) =
struct
  type state = Readers of int | Writer

  type operation =
    | Read_lock
    | Write_lock
    | Read_unlock
    | Write_unlock
    | Downgrade

  let name =
    match Of.prefer with
    | `Nobody -> "Rwlock"
    | `Writers -> "Rwlock, writers first"

  let initial = Readers 0

  let operations _ =
    [
      Read_lock; Read_lock; Write_lock; Write_lock; Read_unlock; Write_unlock;
      Write_unlock; Downgrade;
    ]
  [@@ocamlformat "disable"]

  (* Without a preference, readers and writers are in one line. *)
  let line = function
    | Write_lock -> Some 0
    | Read_lock -> Some (if Of.prefer = `Writers then 1 else 0)
    | Read_unlock | Write_unlock | Downgrade -> None

  let perform ~waiting state operation =
    match (operation, state) with
    | Read_lock, Readers _
      when Of.prefer = `Writers && List.mem Write_lock waiting ->
        Waits
    | Read_lock, Readers n -> Returns (Readers (n + 1), "()")
    | Write_lock, Readers 0 -> Returns (Writer, "()")
    | (Read_lock | Write_lock), _ -> Waits
    | Read_unlock, Readers n when n > 0 -> Returns (Readers (n - 1), "()")
    | Write_unlock, Writer -> Returns (Readers 0, "()")
    | Downgrade, Writer -> Returns (Readers 1, "()")
    | (Read_unlock | Write_unlock | Downgrade), _ ->
        Returns (state, "not permitted")

  let beside _ = Exact

  let show = function
    | Read_lock -> "read_lock"
    | Write_lock -> "write_lock"
    | Read_unlock -> "read_unlock"
    | Write_unlock -> "write_unlock"
    | Downgrade -> "downgrade"

  let looks = [ Write_unlock; Read_unlock; Write_lock ]
end
