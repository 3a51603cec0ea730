open Concord
module Aio = Concord_aio

module By_key = Map.Make (struct
  type t = Cache.key

  let compare = compare
end)

type error =
  | Invalid_name
  | No_such_name
  | No_address
  | Timed_out
  | Failed of string

let error_message = function
  | Invalid_name -> "not a valid host name"
  | No_such_name -> "no such name"
  | No_address -> "the name has no address of this kind"
  | Timed_out -> "no server answered in time"
  | Failed what -> what

type found = (Unix.inet_addr list, error) result

type 'answer outcome =
  | Ended of ('answer, error) result
  | Given_up of error
      (** The task that ran the query needed it no longer, and did not ask the
          servers that were left. *)

(* A query in progress. Each asker forces [outcome], so the first one runs the query. If that is
   cancelled, the next one runs it. *)
type query = { outcome : Answer.t outcome Lazy.t; askers : int }

(* [overdue] has the families that gave no answer when the other family had one. *)
type state = {
  cache : Answer.t Cache.t;
  overdue : unit Cache.t;
  queries : query By_key.t;
}

(* [state], the only Atomic here

   State of a key  Left by                To           By whom
   neither         join                   a query      the first asker
   a query of n    join                   n + 1        an asker, unless the query has ended
                   join                   another      an asker, if the query has ended
                   keep                   and answer   the asker that runs the query
                   leave                  n - 1        each asker that joined it, in any case
                   leave                  no query     the last one of these
   an answer       keep of another one    neither      the task that keeps it, if they are too many
                   keep of another one    neither      the task that keeps it, if it contradicts
   any             note_overdue           and overdue  a task that did not wait for the key

   Each change is one compare-and-set, and nothing has to be done after it. *)
type t = {
  hosts : Hosts.t;
  servers : Unix.sockaddr list;
  search : string list;
  ndots : int;
  timeout : float;
  attempts : int;
  limit : float;
  resolution_delay : float;
  race : bool;
  now : unit -> float;
  state : state Atomic.t;
}

let rec update t f =
  let before = Atomic.get t.state in
  let result, after = f before in
  if Atomic.compare_and_set t.state before after then result else update t f

(* --- Asking servers --------------------------------------------------------- *)

let name_of_server = function
  | Unix.ADDR_UNIX path -> path
  | ADDR_INET (address, port) ->
      Printf.sprintf "%s, port %d" (Unix.string_of_inet_addr address) port

(* Asks the server once. The result has the answer, and how long it may be kept. *)
let try_server t name kind server =
  let failed what =
    Error
      (Failed (Printf.sprintf "the server %s %s" (name_of_server server) what))
  in
  match
    Tasks.with_timeout t.timeout (fun () -> Exchange.ask server name kind)
  with
  | None -> Error Timed_out
  | Some m -> (
      match Answer.of_message ~name kind m with
      | Ok found -> Ok found
      | Error what -> failed what)
  | exception Unix.Unix_error (e, _, _) ->
      failed ("cannot be asked: " ^ Unix.error_message e)
  | exception End_of_file -> failed "closed the connection"
  | exception Message.Malformed what -> failed ("sent a bad message: " ^ what)

(* The result is the first answer, or the last failure if all servers fail. *)
let all_at_once try_ servers =
  let decided = Promise.create ()
  and left = Atomic.make (List.length servers) in
  let run server () =
    let result = try_ server in
    let is_last = Atomic.fetch_and_add left (-1) = 1 in
    if Result.is_ok result || is_last then
      ignore (Promise.try_fill decided result : bool);
    Promise.await decided
  in
  Tasks.any (List.map run servers)

(* [enough ()] says that the caller has what it needs, so no further try is worth it. *)
let ask_servers t ~enough name kind =
  let try_ = try_server t name kind in
  let round =
    if t.race then [ (fun () -> all_at_once try_ t.servers) ]
    else List.map (fun server () -> try_ server) t.servers
  in
  let rec attempt n failure = function
    | try_ :: tries -> (
        match failure with
        | Some e when enough () -> Given_up e
        | _ -> (
            match try_ () with
            | Ok answer -> Ended (Ok answer)
            | Error e -> attempt n (Some e) tries))
    | [] when n > 1 -> attempt (n - 1) failure round
    | [] -> Ended (Error (Option.value failure ~default:Timed_out))
  in
  attempt t.attempts None round

(* --- What is kept ----------------------------------------------------------- *)

(* If one kind has no name, no kind has (RFC 8020), unless it is known to have one. *)
let find_kept s ~now (name, kind) =
  match Cache.find s.cache ~now (name, kind) with
  | Some answer -> Some answer
  | None -> (
      match Cache.find s.cache ~now (name, Message.other kind) with
      | Some Answer.No_such_name -> Some Answer.No_such_name
      | _ -> None)

(* Some servers answer "no such name" where they should answer "no address" (RFC 4074). So the name
   exists if either kind says so, in whatever order the two answers come. The result is what the answer
   says then. *)
let keep t ((name, kind) as key) answer ttl =
  let now = t.now () and other = (name, Message.other kind) in
  update t @@ fun s ->
  let cache, answer =
    match (answer, Cache.find s.cache ~now other) with
    | Answer.No_such_name, Some (Addresses _ | Alias _ | No_address) ->
        (s.cache, Answer.No_address)
    | (Addresses _ | Alias _ | No_address), Some No_such_name ->
        (Cache.remove s.cache other, answer)
    | _ -> (s.cache, answer)
  in
  let cache =
    if ttl > 0 then Cache.add cache ~expires:(now +. float ttl) key answer
    else cache
  in
  (answer, { s with cache })

(* The shortest time for which RFC 9520 has failures remembered. *)
let overdue_for = 1.

let note_overdue t key =
  let expires = t.now () +. overdue_for in
  update t (fun s ->
      ((), { s with overdue = Cache.add s.overdue ~expires key () }))

let is_overdue t key =
  Cache.find (Atomic.get t.state).overdue ~now:(t.now ()) key <> None

(* --- One query for all askers ------------------------------------------------ *)

let new_query t ~enough ((name, kind) as key) =
  let ask () =
    match ask_servers t ~enough name kind with
    | Ended (Ok (answer, ttl)) -> Ended (Ok (keep t key answer ttl))
    | Ended (Error e) -> Ended (Error e)
    | Given_up e -> Given_up e
  in
  { outcome = Lazy.from_fun ask; askers = 0 }

type joined = Known of Answer.t | Asked of query

let join t ~enough key =
  let fresh = new_query t ~enough key and now = t.now () in
  update t @@ fun s ->
  match find_kept s ~now key with
  | Some answer -> (Known answer, s)
  | None ->
      let query =
        match By_key.find_opt key s.queries with
        | Some query when Lazy.peek query.outcome = None -> query
        | _ -> fresh
      in
      let query = { query with askers = query.askers + 1 } in
      (Asked query, { s with queries = By_key.add key query s.queries })

let leave t key query =
  update t @@ fun s ->
  match By_key.find_opt key s.queries with
  | Some q when q.outcome == query.outcome ->
      let queries =
        if q.askers = 1 then By_key.remove key s.queries
        else By_key.add key { q with askers = q.askers - 1 } s.queries
      in
      ((), { s with queries })
  | _ -> ((), s)

let in_progress t = By_key.cardinal (Atomic.get t.state).queries

let rec ask t ~enough key =
  match join t ~enough key with
  | Known answer -> Ok answer
  | Asked query -> (
      match
        Fun.protect
          ~finally:(fun () -> leave t key query)
          (fun () -> Lazy.force query.outcome)
      with
      | Ended result -> result
      | Given_up e -> if enough () then Error e else ask t ~enough key)

(* --- Names ------------------------------------------------------------------ *)

exception Unknown

(* Used in place of {!ask} to find only answers that are in the cache. *)
let known t key =
  match find_kept (Atomic.get t.state) ~now:(t.now ()) key with
  | Some answer -> Ok answer
  | None -> raise_notrace Unknown

(* What is known of a name without any server (RFC 6761, RFC 7686). *)
let special name kind : found option =
  let within domain =
    name = domain || String.ends_with ~suffix:("." ^ domain) name
  in
  if within "localhost" then
    match kind with
    | Message.A -> Some (Ok [ Unix.inet_addr_loopback ])
    | Aaaa -> Some (Ok [ Unix.inet6_addr_loopback ])
  else if within "invalid" || within "onion" then Some (Error No_such_name)
  else None

let most_aliases = 8

let rec addresses ?(aliases = 0) ask name kind =
  match special name kind with
  | Some found -> found
  | None -> (
      match ask (name, kind) with
      | Error e -> Error e
      | Ok (Answer.Addresses addresses) -> Ok addresses
      | Ok No_address -> Error No_address
      | Ok No_such_name -> Error No_such_name
      | Ok (Alias _) when aliases = most_aliases ->
          Error (Failed "too many aliases")
      | Ok (Alias target) when Message.is_name target ->
          addresses ~aliases:(aliases + 1) ask target kind
      | Ok (Alias _) -> Error (Failed "an alias leads to an invalid name"))

(* --- Both families ---------------------------------------------------------- *)

(* If a family has addresses, the caller can go on. If it has no name, neither has the other. *)
let settles = function Ok _ | Error No_such_name -> true | Error _ -> false

let of_both ipv4 ipv6 =
  match (ipv4, ipv6) with
  | Ok a, Ok b -> Ok (a @ b)
  | (Ok _ as ok), Error _ | Error _, (Ok _ as ok) -> ok
  | (Error No_such_name as error), _ | _, (Error No_such_name as error) -> error
  | Error No_address, error | error, _ -> error

let known_of_both t name =
  let get kind =
    match addresses (known t) name kind with
    | found -> Some found
    | exception Unknown -> None
  in
  match (get Message.A, get Message.Aaaa) with
  | Some a, Some b -> of_both a b
  | Some (Ok a), None when is_overdue t (name, Message.Aaaa) -> Ok a
  | None, Some (Ok b) when is_overdue t (name, Message.A) -> Ok b
  | _ -> raise_notrace Unknown

(* Asks for both at once. [soonest] is called with addresses for which the caller should not wait any
   longer if its time is over. The task that found [settled] sets it itself: the other one may fail and
   try again before the caller has run. *)
let ask_for_both t ~soonest name =
  Scope.run @@ fun scope ->
  let settled = Atomic.make false in
  let start kind =
    let enough () = Atomic.get settled in
    ( kind,
      Scope.fork_promise scope (fun () ->
          let found = addresses (ask t ~enough) name kind in
          if settles found then Atomic.set settled true;
          found) )
  in
  let ipv4 = start Message.A in
  let ipv6 = start Message.Aaaa in
  let ends_before other (_, promise) =
    Event.wrap (Promise.await_evt promise) (fun found -> (found, other))
  in
  let found, (kind, other) =
    Event.select [ ends_before ipv6 ipv4; ends_before ipv4 ipv6 ]
  in
  let found' =
    if settles found then begin
      if Result.is_ok found then soonest found;
      let found' =
        Event.sync_before t.resolution_delay (Promise.await_evt other)
      in
      if found' = None then Scope.cancel scope;
      Option.value found' ~default:(Error Timed_out)
    end
    else Promise.await other
  in
  (match (found, found') with
  | Ok _, Error (Timed_out | Failed _) -> note_overdue t (name, kind)
  | Error (Timed_out | Failed _), Ok _ ->
      note_overdue t (name, Message.other kind)
  | _ -> ());
  match kind with
  | Message.A -> of_both found' found
  | Aaaa -> of_both found found'

(* --- Searching -------------------------------------------------------------- *)

(* The names to try, in order. *)
let candidates t s =
  let name = Message.name_of_string s in
  if String.ends_with ~suffix:"." s || special name A <> None then [ name ]
  else
    let dots = String.fold_left (fun n c -> if c = '.' then n + 1 else n) 0 name
    and searched = List.map (fun domain -> name ^ "." ^ domain) t.search in
    if dots >= t.ndots then name :: searched else searched @ [ name ]

let rec search find = function
  | [] -> Error No_such_name
  | name :: names -> (
      match find name with
      | Error ((No_such_name | No_address) as e) when names <> [] -> (
          match search find names with
          | Error No_such_name -> Error e
          | result -> result)
      | result -> result)

let is_of family address =
  match (family, Unix.is_inet6_addr address) with
  | `Any, _ | `Ipv4, false | `Ipv6, true -> true
  | `Ipv4, true | `Ipv6, false -> false

let by_dns t family names =
  let both_known = known_of_both t and known = known t in
  let find ~both ask name =
    match family with
    | `Ipv4 -> addresses ask name Message.A
    | `Ipv6 -> addresses ask name Message.Aaaa
    | `Any -> both name
  in
  match search (find ~both:both_known known) names with
  | result -> result
  | exception Unknown ->
      let soonest = ref (Error Timed_out) in
      let both = ask_for_both t ~soonest:(fun found -> soonest := found) in
      Tasks.with_timeout t.limit (fun () ->
          search (find ~both (ask t ~enough:(fun () -> false))) names)
      |> Option.value ~default:!soonest

let resolve ?(family = `Any) t name =
  let of_family addresses =
    match List.filter (is_of family) addresses with
    | [] -> Error No_address
    | addresses ->
        let ipv6, ipv4 = List.partition Unix.is_inet6_addr addresses in
        Ok (ipv4 @ ipv6)
  in
  match Unix.inet_addr_of_string name with
  | address -> of_family [ address ]
  | exception Failure _ -> (
      match of_family (Hosts.find t.hosts (Message.name_of_string name)) with
      | Ok addresses -> Ok addresses
      | Error _ -> (
          match List.filter Message.is_name (candidates t name) with
          | [] -> Error Invalid_name
          | names -> by_dns t family names))

(* --- A resolver ------------------------------------------------------------- *)

let lines file =
  let rec rest ic lines =
    match Aio.input_line ic with
    | line -> rest ic (line :: lines)
    | exception End_of_file -> List.rev lines
  in
  if Sys.file_exists file then Aio.with_open_in file (fun ic -> rest ic [])
  else []

let create ?(resolv_conf = "/etc/resolv.conf") ?(hosts = "/etc/hosts") ?servers
    ?timeout ?attempts ?(limit = 30.) ?(resolution_delay = 0.05) ?(race = false)
    ?(size = 1000) ?(now = Unix.gettimeofday) () =
  let conf = Resolv_conf.of_lines (lines resolv_conf) in
  let servers =
    match servers with
    | Some servers -> servers
    | None -> List.map (fun a -> Unix.ADDR_INET (a, 53)) conf.servers
  in
  let timeout = Option.value timeout ~default:(float conf.timeout)
  and attempts = Option.value attempts ~default:conf.attempts in
  let refuse format =
    Printf.ksprintf (fun s -> invalid_arg ("Concord_dns.create: " ^ s)) format
  in
  if servers = [] then refuse "no servers";
  if not (timeout > 0.) then
    refuse "timeout must be positive, but is %g" timeout;
  if not (limit > 0.) then refuse "limit must be positive, but is %g" limit;
  if not (resolution_delay >= 0.) then
    refuse "resolution_delay must not be negative, but is %g" resolution_delay;
  if attempts < 1 then refuse "attempts must be at least 1, but is %d" attempts;
  if size < 1 then refuse "size must be at least 1, but is %d" size;
  {
    hosts = Hosts.of_lines (lines hosts);
    servers;
    search = conf.search;
    ndots = conf.ndots;
    timeout;
    attempts;
    limit;
    resolution_delay;
    race;
    now;
    state =
      Atomic.make
        {
          cache = Cache.empty ~size;
          overdue = Cache.empty ~size;
          queries = By_key.empty;
        };
  }
