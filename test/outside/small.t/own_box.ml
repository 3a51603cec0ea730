(* It waits, but in none of the library's structures. *)
open Concord.Tools

let () =
  print_endline
    (Suspend.suspend (fun resumer ->
         ignore (resumer (Ok "resumed") : bool);
         None))
