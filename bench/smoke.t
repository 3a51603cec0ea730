These rows are measured:

  $ ./main.exe --smoke --rows >rows 2>left-out
  $ grep -v -e ' go go ' -e ' node ' -e ' lwt_eio ' -e ' picos ' -e ' async ' -e ' tokio ' -e ' cohttp ' -e '^caqti ' -e '^web throughput-' -e '-beside ' -e '^lwc ' rows
  mvar serial eio eio ns
  mvar serial concord fifo ns
  mvar serial concord eio ns
  mvar serial concord eio-unlinked ns
  mvar serial lwt lwt ns
  mvar parallel eio eio ns
  mvar parallel concord fifo ns
  mvar parallel concord eio ns
  mvar parallel concord eio-unlinked ns
  mvar parallel concord domain ns
  mvar parallel bare domain ns
  mvar table1-serial eio eio us
  mvar table1-serial concord fifo us
  mvar table1-serial concord eio us
  mvar table1-serial concord eio-unlinked us
  mvar table1-serial lwt lwt us
  mvar table1-parallel eio eio us
  mvar table1-parallel concord fifo us
  mvar table1-parallel concord eio us
  mvar table1-parallel concord eio-unlinked us
  cancel-cost spmc-fifo 0% fifo ns
  cancel-cost spmc-fifo 10% fifo ns
  cancel-cost spmc-fifo 20% fifo ns
  cancel-cost spmc-fifo 30% fifo ns
  cancel-cost spmc-fifo 30%-absent fifo ns
  cancel-cost mpsc-fifo 0% fifo ns
  cancel-cost mpsc-fifo 10% fifo ns
  cancel-cost mpsc-fifo 20% fifo ns
  cancel-cost mpsc-fifo 30% fifo ns
  cancel-cost mpsc-fifo 30%-absent fifo ns
  cancel-cost mpmc-fifo 0% fifo ns
  cancel-cost mpmc-fifo 10% fifo ns
  cancel-cost mpmc-fifo 20% fifo ns
  cancel-cost mpmc-fifo 30% fifo ns
  cancel-cost mpmc-fifo 30%-absent fifo ns
  cancel-cost spmc-fifo-lazy 0% fifo-lazy ns
  cancel-cost spmc-fifo-lazy 10% fifo-lazy ns
  cancel-cost spmc-fifo-lazy 20% fifo-lazy ns
  cancel-cost spmc-fifo-lazy 30% fifo-lazy ns
  cancel-cost spmc-fifo-lazy 30%-absent fifo-lazy ns
  cancel-cost mpsc-fifo-lazy 0% fifo-lazy ns
  cancel-cost mpsc-fifo-lazy 10% fifo-lazy ns
  cancel-cost mpsc-fifo-lazy 20% fifo-lazy ns
  cancel-cost mpsc-fifo-lazy 30% fifo-lazy ns
  cancel-cost mpsc-fifo-lazy 30%-absent fifo-lazy ns
  cancel-cost mpmc-fifo-lazy 0% fifo-lazy ns
  cancel-cost mpmc-fifo-lazy 10% fifo-lazy ns
  cancel-cost mpmc-fifo-lazy 20% fifo-lazy ns
  cancel-cost mpmc-fifo-lazy 30% fifo-lazy ns
  cancel-cost mpmc-fifo-lazy 30%-absent fifo-lazy ns
  cancel-cost spmc-eio 0% eio ns
  cancel-cost spmc-eio 10% eio ns
  cancel-cost spmc-eio 20% eio ns
  cancel-cost spmc-eio 30% eio ns
  cancel-cost spmc-eio 30%-absent eio ns
  cancel-cost mpsc-eio 0% eio ns
  cancel-cost mpsc-eio 10% eio ns
  cancel-cost mpsc-eio 20% eio ns
  cancel-cost mpsc-eio 30% eio ns
  cancel-cost mpsc-eio 30%-absent eio ns
  cancel-cost mpmc-eio 0% eio ns
  cancel-cost mpmc-eio 10% eio ns
  cancel-cost mpmc-eio 20% eio ns
  cancel-cost mpmc-eio 30% eio ns
  cancel-cost mpmc-eio 30%-absent eio ns
  cancel-cost spmc-eio-stream 0% eio-stream ns
  cancel-cost spmc-eio-stream 30% eio-stream ns
  cancel-cost mpsc-eio-stream 0% eio-stream ns
  cancel-cost mpsc-eio-stream 30% eio-stream ns
  cancel-cost mpmc-eio-stream 0% eio-stream ns
  cancel-cost mpmc-eio-stream 30% eio-stream ns
  cancel-cost spmc-in-order-fifo 0% fifo ns
  cancel-cost spmc-in-order-fifo 10% fifo ns
  cancel-cost spmc-in-order-fifo 20% fifo ns
  cancel-cost spmc-in-order-fifo 30% fifo ns
  cancel-cost spmc-in-order-fifo 30%-absent fifo ns
  search search polled domain ms
  search search uncancelled domain ms
  search search concord fifo ms
  search search polled domainslib ms
  search search concord domainslib ms
  search search eio domain-manager ms
  search search eio executor-pool ms
  debug message concord fifo ns
  debug message concord-waits fifo ns
  debug message concord-metrics fifo ns
  debug message concord-trace fifo ns
  debug message concord eio ns
  debug message concord-waits eio ns
  debug message concord-metrics eio ns
  debug message concord-trace eio ns
  debug message concord thread ns
  debug message concord-waits thread ns
  debug message concord-metrics thread ns
  debug message concord-trace thread ns
  debug mutex-free concord fifo ns
  debug mutex-free concord-waits fifo ns
  debug mutex-free concord-metrics fifo ns
  debug mutex-free concord-trace fifo ns
  debug fork-join concord fifo ns
  debug fork-join concord-waits fifo ns
  debug fork-join concord-metrics fifo ns
  debug fork-join concord-trace fifo ns
  suspend perform stdlib stdlib ns
  suspend suspend concord fifo ns
  suspend yield eio eio ns
  suspend yield concord fifo ns
  suspend yield stdlib thread ns
  suspend fork-join eio eio ns
  suspend fork-join concord fifo ns
  suspend fork-join stdlib thread ns
  suspend fork-join stdlib domain ns
  suspend blocked-task-bytes eio eio bytes
  suspend blocked-task-bytes concord fifo bytes
  suspend blocked-task-bytes concord eio bytes
  suspend blocked-taker-bytes eio eio bytes
  suspend blocked-taker-bytes concord fifo bytes
  suspend blocked-taker-bytes concord eio bytes
  effect a-b stdlib stdlib ns
  effect a-b concord fifo ns
  effect a-b eio eio ns
  effect a-b domainslib domainslib ns
  effect b-c stdlib stdlib ns
  effect b-c concord fifo ns
  effect b-c concord eio ns
  effect b-c concord domainslib ns
  effect c-d stdlib stdlib ns
  effect c-d concord fifo ns
  effect c-d concord eio ns
  effect c-d concord domainslib ns
  effect d-e stdlib stdlib ns
  effect d-e concord fifo ns
  effect d-e eio eio ns
  effect d-e domainslib domainslib ns
  effect through-1 stdlib stdlib ns
  effect through-1 concord fifo ns
  effect through-1 concord eio ns
  effect through-1 concord domainslib ns
  effect through-2 stdlib stdlib ns
  effect through-2 concord fifo ns
  effect through-2 concord eio ns
  effect through-2 concord domainslib ns
  effect through-4 stdlib stdlib ns
  effect through-4 concord fifo ns
  effect through-4 concord eio ns
  effect through-4 concord domainslib ns
  effect through-8 stdlib stdlib ns
  effect through-8 concord fifo ns
  effect through-8 concord eio ns
  effect through-8 concord domainslib ns
  effect through-16 stdlib stdlib ns
  effect through-16 concord fifo ns
  effect through-16 concord eio ns
  effect through-16 concord domainslib ns
  effect through-32 stdlib stdlib ns
  effect through-32 concord fifo ns
  effect through-32 concord eio ns
  effect through-32 concord domainslib ns
  effect through-64 stdlib stdlib ns
  effect through-64 concord fifo ns
  effect through-64 concord eio ns
  effect through-64 concord domainslib ns
  structures mutex-free eio eio ns
  structures mutex-free concord fifo ns
  structures mutex-free concord eio ns
  structures mutex-free concord domain ns
  structures mutex-free lwt lwt ns
  structures mutex-free stdlib domain ns
  structures mutex-contended eio eio ns
  structures mutex-contended concord fifo ns
  structures mutex-contended concord eio ns
  structures mutex-contended lwt lwt ns
  structures mutex-contended concord thread ns
  structures mutex-contended stdlib thread ns
  structures mutex-contended-100000 eio eio ns
  structures mutex-contended-100000 concord fifo ns
  structures mutex-contended-100000 concord eio ns
  structures mutex-contended-100000 lwt lwt ns
  structures mutex-work-parallel eio eio ns
  structures mutex-work-parallel concord fifo ns
  structures mutex-work-parallel concord eio ns
  structures mutex-work-parallel concord domain ns
  structures mutex-work-parallel stdlib domain ns
  structures mutex-cancel-10 eio eio ns
  structures mutex-cancel-10 concord fifo ns
  structures mutex-cancel-10 concord eio ns
  structures mutex-cancel-10000 eio eio ns
  structures mutex-cancel-10000 concord fifo ns
  structures mutex-cancel-10000 concord eio ns
  structures promise-cancel-10000 eio eio ns
  structures promise-cancel-10000 concord fifo ns
  structures promise-cancel-10000 concord eio ns
  structures mutex-cancel-100000 eio eio ns
  structures mutex-cancel-100000 concord fifo ns
  structures mutex-cancel-100000 concord eio ns
  structures semaphore-free eio eio ns
  structures semaphore-free concord fifo ns
  structures semaphore-free concord eio ns
  structures semaphore-free concord domain ns
  structures semaphore-free stdlib domain ns
  structures semaphore-contended eio eio ns
  structures semaphore-contended concord fifo ns
  structures semaphore-contended concord eio ns
  structures semaphore-contended concord thread ns
  structures semaphore-contended stdlib thread ns
  structures semaphore-n-free eio eio ns
  structures semaphore-n-free concord fifo ns
  structures semaphore-n-free concord eio ns
  structures semaphore-n-free concord domain ns
  structures semaphore-n-serial eio eio ns
  structures semaphore-n-serial concord fifo ns
  structures semaphore-n-serial concord eio ns
  structures condition-signal eio eio ns
  structures condition-signal concord fifo ns
  structures condition-signal concord eio ns
  structures condition-signal concord thread ns
  structures condition-signal stdlib thread ns
  structures condition-signal lwt lwt ns
  structures condition-parallel eio eio ns
  structures condition-parallel concord fifo ns
  structures condition-parallel concord eio ns
  structures condition-parallel concord domain ns
  structures condition-parallel stdlib domain ns
  structures promise-serial eio eio ns
  structures promise-serial concord fifo ns
  structures promise-serial concord eio ns
  structures promise-serial lwt lwt ns
  structures promise-parallel eio eio ns
  structures promise-parallel concord fifo ns
  structures promise-parallel concord eio ns
  structures promise-parallel concord domain ns
  structures rwlock-read-free concord fifo ns
  structures rwlock-read-free concord eio ns
  structures rwlock-read-free concord domain ns
  structures rwlock-write-free concord fifo ns
  structures rwlock-write-free concord eio ns
  structures rwlock-write-free concord domain ns
  structures rwlock-downgrade-free concord-2 fifo ns
  structures rwlock-downgrade-free concord fifo ns
  structures rwlock-downgrade-free concord eio ns
  structures rwlock-downgrade-free concord domain ns
  structures rwlock-read-parallel concord fifo ns
  structures rwlock-read-parallel concord eio ns
  structures rwlock-read-parallel concord domain ns
  structures barrier-serial eio eio ns
  structures barrier-serial concord fifo ns
  structures barrier-serial concord eio ns
  structures barrier-parallel eio eio ns
  structures barrier-parallel concord fifo ns
  structures barrier-parallel concord eio ns
  structures barrier-parallel concord domain ns
  structures barrier-parallel stdlib domain ns
  structures latch-count-free concord fifo ns
  structures latch-count-free concord eio ns
  structures latch-count-free concord domain ns
  structures latch-count-parallel concord fifo ns
  structures latch-count-parallel concord eio ns
  structures latch-count-parallel concord domain ns
  structures watch-set-free eio eio ns
  structures watch-set-free concord fifo ns
  structures watch-set-free concord eio ns
  structures watch-set-free concord domain ns
  structures watch-serial eio eio ns
  structures watch-serial concord fifo ns
  structures watch-serial concord eio ns
  structures watch-parallel eio eio ns
  structures watch-parallel concord fifo ns
  structures watch-parallel concord eio ns
  structures watch-parallel concord domain ns
  structures stream1-serial eio eio ns
  structures stream1-serial concord fifo ns
  structures stream1-serial concord eio ns
  structures stream1-serial concord thread ns
  structures stream1-serial stdlib thread ns
  structures stream1-serial lwt lwt ns
  structures stream1-serial kcas eio ns
  structures stream100-serial eio eio ns
  structures stream100-serial concord fifo ns
  structures stream100-serial concord eio ns
  structures stream100-serial concord thread ns
  structures stream100-serial stdlib thread ns
  structures stream100-serial lwt lwt ns
  structures stream10000-serial eio eio ns
  structures stream10000-serial concord fifo ns
  structures stream10000-serial concord eio ns
  structures stream10000-serial concord thread ns
  structures stream10000-serial stdlib thread ns
  structures stream10000-serial lwt lwt ns
  structures stream1-parallel eio eio ns
  structures stream1-parallel concord fifo ns
  structures stream1-parallel concord eio ns
  structures stream1-parallel concord domain ns
  structures stream1-parallel domainslib domain ns
  structures stream1-parallel kcas domain ns
  structures stream100-parallel eio eio ns
  structures stream100-parallel concord fifo ns
  structures stream100-parallel concord eio ns
  structures stream100-parallel concord domain ns
  structures stream100-parallel domainslib domain ns
  structures mailbox-serial eio eio ns
  structures mailbox-serial concord fifo ns
  structures mailbox-serial concord eio ns
  structures mailbox-serial lwt lwt ns
  structures mailbox-serial kcas eio ns
  structures broadcast-serial eio eio ns
  structures broadcast-serial concord fifo ns
  structures broadcast-serial limit fifo ns
  structures broadcast-serial wait fifo ns
  structures broadcast-serial concord eio ns
  structures mailbox-parallel eio eio ns
  structures mailbox-parallel concord fifo ns
  structures mailbox-parallel concord eio ns
  structures mailbox-parallel concord domain ns
  structures mailbox-parallel domainslib domain ns
  structures mailbox-parallel kcas domain ns
  structures channel-serial eio eio ns
  structures channel-serial concord fifo ns
  structures channel-serial concord eio ns
  structures channel-serial concord thread ns
  structures channel-serial stdlib thread ns
  structures channel-parallel eio eio ns
  structures channel-parallel concord fifo ns
  structures channel-parallel concord eio ns
  structures channel-parallel concord domain ns
  structures channel-parallel stdlib domain ns
  structures channel-parallel domainslib domain ns
  structures pool-free eio eio ns
  structures pool-free concord fifo ns
  structures pool-free concord eio ns
  structures pool-free concord domain ns
  structures pool-free concord-lease fifo ns
  structures pool-free concord-lease eio ns
  structures pool-free concord-lease domain ns
  structures pool-contended eio eio ns
  structures pool-contended concord fifo ns
  structures pool-contended concord eio ns
  structures pool-contended concord-lease fifo ns
  structures pool-contended concord-lease eio ns
  structures pool-contended lwt lwt ns
  structures pool-contended concord lwt ns
  structures pool-lwt lwt lwt ns
  structures pool-lwt concord lwt ns
  structures work-queue-free eio eio ns
  structures work-queue-free concord fifo ns
  structures work-queue-free concord eio ns
  structures work-queue-free concord domain ns
  structures work-queue-withdraw stdlib domain ns
  structures work-queue-withdraw concord fifo ns
  structures work-queue-withdraw concord eio ns
  structures work-queue-withdraw concord domain ns
  event sync-serial no-event fifo ns
  event sync-serial concord fifo ns
  event sync-serial no-event eio ns
  event sync-serial concord eio ns
  event sync-parallel stdlib domain ns
  event sync-parallel concord fifo ns
  event sync-parallel concord eio ns
  event sync-parallel concord domain ns
  event select4-serial eio eio ns
  event select4-serial concord fifo ns
  event select4-serial concord eio ns
  event select4-serial concord thread ns
  event select4-serial stdlib thread ns
  event select4-ready concord fifo ns
  event select4-ready concord eio ns
  event select4-ready concord domain ns
  event select4-parallel eio eio ns
  event select4-parallel concord fifo ns
  event select4-parallel concord eio ns
  event select4-parallel concord domain ns
  event select4-parallel stdlib domain ns
  event loop-serial select fifo ns
  event loop-serial concord fifo ns
  event loop-serial select eio ns
  event loop-serial concord eio ns
  event loop-ready select fifo ns
  event loop-ready concord fifo ns
  event loop-ready select eio ns
  event loop-ready concord eio ns
  event loop-ready select domain ns
  event loop-ready concord domain ns
  event swap-serial concord fifo ns
  event swap-serial concord eio ns
  event swap-serial concord thread ns
  event swap-serial stdlib thread ns
  event timeout-pending eio eio ns
  event timeout-pending concord fifo ns
  event timeout-pending concord eio ns
  event timeout-pending lwt lwt ns
  event timeout-function eio eio ns
  event timeout-function concord fifo ns
  event timeout-function concord eio ns
  event timeout-function concord-deadline fifo ns
  event timeout-function concord-deadline eio ns
  event timeout-function lwt lwt ns
  event attempts bare fifo ns
  event attempts bare eio ns
  event attempts concord-retry fifo ns
  event attempts concord-retry eio ns
  event attempts concord-hedge fifo ns
  event attempts concord-hedge eio ns
  event timeouts-100000 eio eio bytes
  event timeouts-100000 concord fifo bytes
  event timeouts-100000 concord eio bytes
  lazy forced stdlib domain ns
  lazy forced stdlib-boxed domain ns
  lazy forced concord domain ns
  lazy forced concord fifo ns
  lazy forced concord eio ns
  lazy forced stdlib-mutex domain ns
  lazy forced eio eio ns
  lazy first-force stdlib domain ns
  lazy first-force stdlib-lazy domain ns
  lazy first-force concord domain ns
  lazy first-force concord fifo ns
  lazy first-force concord eio ns
  lazy first-force stdlib-mutex domain ns
  lazy first-force eio eio ns
  lazy wait-1000 eio eio ns
  lazy wait-1000 concord fifo ns
  lazy wait-1000 concord eio ns
  lazy wait-10000 eio eio ns
  lazy wait-10000 concord fifo ns
  lazy wait-10000 concord eio ns
  lazy wait-100000 eio eio ns
  lazy wait-100000 concord fifo ns
  lazy wait-100000 concord eio ns
  lazy lazy-parallel eio eio ns
  lazy lazy-parallel concord fifo ns
  lazy lazy-parallel concord eio ns
  lazy lazy-parallel concord domain ns
  lwt serial lwt lwt ns
  lwt serial concord lwt ns
  lwt eio-to-lwt naive eio-lwt ns
  lwt eio-to-lwt concord eio-lwt ns
  lwt lwt-to-eio naive eio-lwt ns
  lwt lwt-to-eio concord eio-lwt ns
  lwt burst-10000 naive lwt ns
  lwt burst-10000 concord lwt ns
  lwt offload naive lwt ns
  lwt offload lwt lwt ns
  lwt offload concord lwt ns
  bridge round-trip pipe eio-lwt ns
  bridge round-trip pipe-buffered eio-lwt ns
  bridge round-trip concord-mvar eio-lwt ns
  bridge round-trip concord-stream eio-lwt ns
  bridge round-trip concord-batches eio-lwt ns
  bridge eio-to-lwt pipe eio-lwt ns
  bridge eio-to-lwt pipe-buffered eio-lwt ns
  bridge eio-to-lwt concord-mvar eio-lwt ns
  bridge eio-to-lwt concord-stream eio-lwt ns
  bridge eio-to-lwt concord-batches eio-lwt ns
  bridge lwt-to-eio pipe eio-lwt ns
  bridge lwt-to-eio pipe-buffered eio-lwt ns
  bridge lwt-to-eio concord-mvar eio-lwt ns
  bridge lwt-to-eio concord-stream eio-lwt ns
  bridge lwt-to-eio concord-batches eio-lwt ns
  bridge both-ways pipe eio-lwt ns
  bridge both-ways pipe-buffered eio-lwt ns
  bridge both-ways concord-mvar eio-lwt ns
  bridge both-ways concord-stream eio-lwt ns
  bridge both-ways concord-batches eio-lwt ns
  styles kpn concord trampoline ns
  styles kpn concord callcc ns
  styles kpn concord delimited ns
  styles kpn concord continuation ns
  styles kpn concord promise ns
  styles kpn concord events ns
  styles kpn concord fifo ns
  styles kpn concord eio ns
  styles kpn concord threads ns
  styles kpn concord trampoline-bytecode ns
  styles kpn concord callcc-bytecode ns
  styles kpn concord delimited-bytecode ns
  styles kpn concord continuation-bytecode ns
  styles kpn concord promise-bytecode ns
  styles kpn concord events-bytecode ns
  styles kpn concord threads-bytecode ns
  styles sieve-100 concord trampoline ns
  styles sieve-100 concord callcc ns
  styles sieve-100 concord delimited ns
  styles sieve-100 concord continuation ns
  styles sieve-100 concord promise ns
  styles sieve-100 concord events ns
  styles sieve-100 concord fifo ns
  styles sieve-100 concord eio ns
  styles sieve-100 concord threads ns
  styles sieve-100 concord trampoline-bytecode ns
  styles sieve-100 concord callcc-bytecode ns
  styles sieve-100 concord delimited-bytecode ns
  styles sieve-100 concord continuation-bytecode ns
  styles sieve-100 concord promise-bytecode ns
  styles sieve-100 concord events-bytecode ns
  styles sieve-100 concord threads-bytecode ns
  styles sieve-1000 concord trampoline ns
  styles sieve-1000 concord callcc ns
  styles sieve-1000 concord delimited ns
  styles sieve-1000 concord continuation ns
  styles sieve-1000 concord promise ns
  styles sieve-1000 concord events ns
  styles sieve-1000 concord fifo ns
  styles sieve-1000 concord eio ns
  styles sorter-300 concord trampoline ns
  styles sorter-300 concord callcc ns
  styles sorter-300 concord delimited ns
  styles sorter-300 concord continuation ns
  styles sorter-300 concord promise ns
  styles sorter-300 concord events ns
  styles sorter-300 concord fifo ns
  styles sorter-300 concord eio ns
  styles sorter-300 concord threads ns
  styles sorter-300 concord trampoline-bytecode ns
  styles sorter-300 concord callcc-bytecode ns
  styles sorter-300 concord delimited-bytecode ns
  styles sorter-300 concord continuation-bytecode ns
  styles sorter-300 concord promise-bytecode ns
  styles sorter-300 concord events-bytecode ns
  styles sorter-300 concord threads-bytecode ns
  styles sorter-3000 concord trampoline ns
  styles sorter-3000 concord callcc ns
  styles sorter-3000 concord delimited ns
  styles sorter-3000 concord continuation ns
  styles sorter-3000 concord promise ns
  styles sorter-3000 concord events ns
  styles sorter-3000 concord fifo ns
  styles sorter-300-young concord trampoline ns
  styles sorter-300-young concord callcc ns
  styles sorter-300-young concord delimited ns
  styles sorter-300-young concord continuation ns
  styles sorter-300-young concord promise ns
  styles sorter-300-young concord events ns
  styles sorter-300-young concord fifo ns
  styles sorter-300-young concord eio ns
  styles sorter-setup concord trampoline ns
  styles sorter-setup concord callcc ns
  styles sorter-setup concord delimited ns
  styles sorter-setup concord continuation ns
  styles sorter-setup concord promise ns
  styles sorter-setup concord events ns
  styles sorter-setup concord trampoline-bytecode ns
  styles sorter-setup concord callcc-bytecode ns
  styles sorter-setup concord delimited-bytecode ns
  styles sorter-setup concord continuation-bytecode ns
  styles sorter-setup concord promise-bytecode ns
  styles sorter-setup concord events-bytecode ns
  styles yield-100 concord trampoline ns
  styles yield-100 concord callcc ns
  styles yield-100 concord delimited ns
  styles yield-100 concord continuation ns
  styles yield-100 concord promise ns
  styles yield-100 concord events ns
  styles yield-100 concord fifo ns
  styles yield-100 concord eio ns
  styles yield-100 concord threads ns
  styles yield-100 concord trampoline-bytecode ns
  styles yield-100 concord callcc-bytecode ns
  styles yield-100 concord delimited-bytecode ns
  styles yield-100 concord continuation-bytecode ns
  styles yield-100 concord promise-bytecode ns
  styles yield-100 concord events-bytecode ns
  styles yield-100 concord threads-bytecode ns
  styles yield-100000 concord trampoline ns
  styles yield-100000 concord callcc ns
  styles yield-100000 concord delimited ns
  styles yield-100000 concord continuation ns
  styles yield-100000 concord promise ns
  styles yield-100000 concord events ns
  styles yield-100000 concord fifo ns
  styles yield-100000 concord eio ns
  styles spawn concord trampoline ns
  styles spawn concord callcc ns
  styles spawn concord delimited ns
  styles spawn concord continuation ns
  styles spawn concord promise ns
  styles spawn concord events ns
  styles spawn concord fifo ns
  styles spawn concord eio ns
  styles spawn concord threads ns
  styles spawn concord trampoline-bytecode ns
  styles spawn concord callcc-bytecode ns
  styles spawn concord delimited-bytecode ns
  styles spawn concord continuation-bytecode ns
  styles spawn concord promise-bytecode ns
  styles spawn concord events-bytecode ns
  styles spawn concord threads-bytecode ns
  styles mvar private trampoline ns
  styles mvar private-mvar trampoline ns
  styles mvar concord trampoline ns
  styles mvar private delimited ns
  styles mvar concord delimited ns
  styles mvar private callcc ns
  styles mvar concord callcc ns
  styles kpn-bytes concord trampoline bytes
  styles kpn-bytes concord callcc bytes
  styles kpn-bytes concord delimited bytes
  styles kpn-bytes concord continuation bytes
  styles kpn-bytes concord promise bytes
  styles kpn-bytes concord events bytes
  styles kpn-bytes concord fifo bytes
  styles kpn-bytes concord eio bytes
  styles kpn-bytes concord threads bytes
  styles kpn-bytes concord trampoline-bytecode bytes
  styles kpn-bytes concord callcc-bytecode bytes
  styles kpn-bytes concord delimited-bytecode bytes
  styles kpn-bytes concord continuation-bytecode bytes
  styles kpn-bytes concord promise-bytecode bytes
  styles kpn-bytes concord events-bytecode bytes
  styles kpn-bytes concord threads-bytecode bytes
  styles sieve-bytes concord trampoline bytes
  styles sieve-bytes concord callcc bytes
  styles sieve-bytes concord delimited bytes
  styles sieve-bytes concord continuation bytes
  styles sieve-bytes concord promise bytes
  styles sieve-bytes concord events bytes
  styles sieve-bytes concord fifo bytes
  styles sieve-bytes concord eio bytes
  styles sieve-bytes concord threads bytes
  styles sieve-bytes concord trampoline-bytecode bytes
  styles sieve-bytes concord callcc-bytecode bytes
  styles sieve-bytes concord delimited-bytecode bytes
  styles sieve-bytes concord continuation-bytecode bytes
  styles sieve-bytes concord promise-bytecode bytes
  styles sieve-bytes concord events-bytecode bytes
  styles sieve-bytes concord threads-bytecode bytes
  styles sorter-bytes concord trampoline bytes
  styles sorter-bytes concord callcc bytes
  styles sorter-bytes concord delimited bytes
  styles sorter-bytes concord continuation bytes
  styles sorter-bytes concord promise bytes
  styles sorter-bytes concord events bytes
  styles sorter-bytes concord fifo bytes
  styles sorter-bytes concord eio bytes
  styles sorter-bytes concord threads bytes
  styles sorter-bytes concord trampoline-bytecode bytes
  styles sorter-bytes concord callcc-bytecode bytes
  styles sorter-bytes concord delimited-bytecode bytes
  styles sorter-bytes concord continuation-bytecode bytes
  styles sorter-bytes concord promise-bytecode bytes
  styles sorter-bytes concord events-bytecode bytes
  styles sorter-bytes concord threads-bytecode bytes
  styles sorter-setup-bytes concord trampoline bytes
  styles sorter-setup-bytes concord callcc bytes
  styles sorter-setup-bytes concord delimited bytes
  styles sorter-setup-bytes concord continuation bytes
  styles sorter-setup-bytes concord promise bytes
  styles sorter-setup-bytes concord events bytes
  styles sorter-setup-bytes concord trampoline-bytecode bytes
  styles sorter-setup-bytes concord callcc-bytecode bytes
  styles sorter-setup-bytes concord delimited-bytecode bytes
  styles sorter-setup-bytes concord continuation-bytecode bytes
  styles sorter-setup-bytes concord promise-bytecode bytes
  styles sorter-setup-bytes concord events-bytecode bytes
  generator tree stdlib iterator ns
  generator tree stdlib hand-written ns
  generator tree stdlib seq ns
  generator tree stdlib seq-hand-written ns
  generator tree concord effects ns
  generator tree concord effects-ahead ns
  web answered-2500 concord aio req/s
  web answered-2500 concord eio req/s
  web answered-2500 eio http req/s
  web answered-2500 lwt http req/s
  web answered-5000 concord aio req/s
  web answered-5000 concord eio req/s
  web answered-5000 eio http req/s
  web answered-5000 lwt http req/s
  web answered-10000 concord aio req/s
  web answered-10000 concord eio req/s
  web answered-10000 eio http req/s
  web answered-10000 lwt http req/s
  web answered-20000 concord aio req/s
  web answered-20000 concord eio req/s
  web answered-20000 eio http req/s
  web answered-20000 lwt http req/s
  web answered-40000 concord aio req/s
  web answered-40000 concord eio req/s
  web answered-40000 eio http req/s
  web answered-40000 lwt http req/s
  web p50-2500 concord aio us
  web p50-2500 concord eio us
  web p50-2500 eio http us
  web p50-2500 lwt http us
  web p50-5000 concord aio us
  web p50-5000 concord eio us
  web p50-5000 eio http us
  web p50-5000 lwt http us
  web p50-10000 concord aio us
  web p50-10000 concord eio us
  web p50-10000 eio http us
  web p50-10000 lwt http us
  web p50-20000 concord aio us
  web p50-20000 concord eio us
  web p50-20000 eio http us
  web p50-20000 lwt http us
  web p50-40000 concord aio us
  web p50-40000 concord eio us
  web p50-40000 eio http us
  web p50-40000 lwt http us
  web p90-2500 concord aio us
  web p90-2500 concord eio us
  web p90-2500 eio http us
  web p90-2500 lwt http us
  web p90-5000 concord aio us
  web p90-5000 concord eio us
  web p90-5000 eio http us
  web p90-5000 lwt http us
  web p90-10000 concord aio us
  web p90-10000 concord eio us
  web p90-10000 eio http us
  web p90-10000 lwt http us
  web p90-20000 concord aio us
  web p90-20000 concord eio us
  web p90-20000 eio http us
  web p90-20000 lwt http us
  web p90-40000 concord aio us
  web p90-40000 concord eio us
  web p90-40000 eio http us
  web p90-40000 lwt http us
  web p99-2500 concord aio us
  web p99-2500 concord eio us
  web p99-2500 eio http us
  web p99-2500 lwt http us
  web p99-5000 concord aio us
  web p99-5000 concord eio us
  web p99-5000 eio http us
  web p99-5000 lwt http us
  web p99-10000 concord aio us
  web p99-10000 concord eio us
  web p99-10000 eio http us
  web p99-10000 lwt http us
  web p99-20000 concord aio us
  web p99-20000 concord eio us
  web p99-20000 eio http us
  web p99-20000 lwt http us
  web p99-40000 concord aio us
  web p99-40000 concord eio us
  web p99-40000 eio http us
  web p99-40000 lwt http us
  web p99.9-2500 concord aio us
  web p99.9-2500 concord eio us
  web p99.9-2500 eio http us
  web p99.9-2500 lwt http us
  web p99.9-5000 concord aio us
  web p99.9-5000 concord eio us
  web p99.9-5000 eio http us
  web p99.9-5000 lwt http us
  web p99.9-10000 concord aio us
  web p99.9-10000 concord eio us
  web p99.9-10000 eio http us
  web p99.9-10000 lwt http us
  web p99.9-20000 concord aio us
  web p99.9-20000 concord eio us
  web p99.9-20000 eio http us
  web p99.9-20000 lwt http us
  web p99.9-40000 concord aio us
  web p99.9-40000 concord eio us
  web p99.9-40000 eio http us
  web p99.9-40000 lwt http us
  fib throughput-domains-1 composed eio req/s
  fib throughput-domains-1 unsplit eio req/s
  fib throughput-domains-1 long-lived eio req/s
  fib throughput-domains-1 blocking eio req/s
  fib throughput-domains-1 domain-manager eio req/s
  fib throughput-domains-1 executor-pool eio req/s
  fib throughput-domains-1 eio-promise eio req/s
  fib throughput-domains-1 as-printed eio req/s
  fib throughput-domains-1 mvar eio req/s
  fib throughput-domains-2 composed eio req/s
  fib throughput-domains-2 unsplit eio req/s
  fib throughput-domains-2 long-lived eio req/s
  fib throughput-domains-2 blocking eio req/s
  fib throughput-domains-2 domain-manager eio req/s
  fib throughput-domains-2 executor-pool eio req/s
  fib throughput-domains-2 eio-promise eio req/s
  fib throughput-domains-2 as-printed eio req/s
  fib throughput-domains-2 mvar eio req/s
  fib throughput-domains-4 composed eio req/s
  fib throughput-domains-4 unsplit eio req/s
  fib throughput-domains-4 long-lived eio req/s
  fib throughput-domains-4 blocking eio req/s
  fib throughput-domains-4 domain-manager eio req/s
  fib throughput-domains-4 executor-pool eio req/s
  fib throughput-domains-4 eio-promise eio req/s
  fib throughput-domains-4 as-printed eio req/s
  fib throughput-domains-4 mvar eio req/s
  fib throughput-load-25 composed eio req/s
  fib throughput-load-25 unsplit eio req/s
  fib throughput-load-25 long-lived eio req/s
  fib throughput-load-25 blocking eio req/s
  fib throughput-load-25 domain-manager eio req/s
  fib throughput-load-25 executor-pool eio req/s
  fib throughput-load-25 eio-promise eio req/s
  fib throughput-load-25 as-printed eio req/s
  fib throughput-load-25 mvar eio req/s
  fib throughput-load-50 composed eio req/s
  fib throughput-load-50 unsplit eio req/s
  fib throughput-load-50 long-lived eio req/s
  fib throughput-load-50 blocking eio req/s
  fib throughput-load-50 domain-manager eio req/s
  fib throughput-load-50 executor-pool eio req/s
  fib throughput-load-50 eio-promise eio req/s
  fib throughput-load-50 as-printed eio req/s
  fib throughput-load-50 mvar eio req/s
  fib throughput-load-75 composed eio req/s
  fib throughput-load-75 unsplit eio req/s
  fib throughput-load-75 long-lived eio req/s
  fib throughput-load-75 blocking eio req/s
  fib throughput-load-75 domain-manager eio req/s
  fib throughput-load-75 executor-pool eio req/s
  fib throughput-load-75 eio-promise eio req/s
  fib throughput-load-75 as-printed eio req/s
  fib throughput-load-75 mvar eio req/s
  fib throughput-load-100 composed eio req/s
  fib throughput-load-100 unsplit eio req/s
  fib throughput-load-100 long-lived eio req/s
  fib throughput-load-100 blocking eio req/s
  fib throughput-load-100 domain-manager eio req/s
  fib throughput-load-100 executor-pool eio req/s
  fib throughput-load-100 eio-promise eio req/s
  fib throughput-load-100 as-printed eio req/s
  fib throughput-load-100 mvar eio req/s
  fib throughput-load-125 composed eio req/s
  fib throughput-load-125 unsplit eio req/s
  fib throughput-load-125 long-lived eio req/s
  fib throughput-load-125 blocking eio req/s
  fib throughput-load-125 domain-manager eio req/s
  fib throughput-load-125 executor-pool eio req/s
  fib throughput-load-125 eio-promise eio req/s
  fib throughput-load-125 as-printed eio req/s
  fib throughput-load-125 mvar eio req/s
  fib p90-domains-1 composed eio us
  fib p90-domains-1 unsplit eio us
  fib p90-domains-1 long-lived eio us
  fib p90-domains-1 blocking eio us
  fib p90-domains-1 domain-manager eio us
  fib p90-domains-1 executor-pool eio us
  fib p90-domains-1 eio-promise eio us
  fib p90-domains-1 as-printed eio us
  fib p90-domains-1 mvar eio us
  fib p90-domains-2 composed eio us
  fib p90-domains-2 unsplit eio us
  fib p90-domains-2 long-lived eio us
  fib p90-domains-2 blocking eio us
  fib p90-domains-2 domain-manager eio us
  fib p90-domains-2 executor-pool eio us
  fib p90-domains-2 eio-promise eio us
  fib p90-domains-2 as-printed eio us
  fib p90-domains-2 mvar eio us
  fib p90-domains-4 composed eio us
  fib p90-domains-4 unsplit eio us
  fib p90-domains-4 long-lived eio us
  fib p90-domains-4 blocking eio us
  fib p90-domains-4 domain-manager eio us
  fib p90-domains-4 executor-pool eio us
  fib p90-domains-4 eio-promise eio us
  fib p90-domains-4 as-printed eio us
  fib p90-domains-4 mvar eio us
  fib p90-load-25 composed eio us
  fib p90-load-25 unsplit eio us
  fib p90-load-25 long-lived eio us
  fib p90-load-25 blocking eio us
  fib p90-load-25 domain-manager eio us
  fib p90-load-25 executor-pool eio us
  fib p90-load-25 eio-promise eio us
  fib p90-load-25 as-printed eio us
  fib p90-load-25 mvar eio us
  fib p90-load-50 composed eio us
  fib p90-load-50 unsplit eio us
  fib p90-load-50 long-lived eio us
  fib p90-load-50 blocking eio us
  fib p90-load-50 domain-manager eio us
  fib p90-load-50 executor-pool eio us
  fib p90-load-50 eio-promise eio us
  fib p90-load-50 as-printed eio us
  fib p90-load-50 mvar eio us
  fib p90-load-75 composed eio us
  fib p90-load-75 unsplit eio us
  fib p90-load-75 long-lived eio us
  fib p90-load-75 blocking eio us
  fib p90-load-75 domain-manager eio us
  fib p90-load-75 executor-pool eio us
  fib p90-load-75 eio-promise eio us
  fib p90-load-75 as-printed eio us
  fib p90-load-75 mvar eio us
  fib p90-load-100 composed eio us
  fib p90-load-100 unsplit eio us
  fib p90-load-100 long-lived eio us
  fib p90-load-100 blocking eio us
  fib p90-load-100 domain-manager eio us
  fib p90-load-100 executor-pool eio us
  fib p90-load-100 eio-promise eio us
  fib p90-load-100 as-printed eio us
  fib p90-load-100 mvar eio us
  fib p90-load-125 composed eio us
  fib p90-load-125 unsplit eio us
  fib p90-load-125 long-lived eio us
  fib p90-load-125 blocking eio us
  fib p90-load-125 domain-manager eio us
  fib p90-load-125 executor-pool eio us
  fib p90-load-125 eio-promise eio us
  fib p90-load-125 as-printed eio us
  fib p90-load-125 mvar eio us
  fib small-p90-domains-1 composed eio us
  fib small-p90-domains-1 unsplit eio us
  fib small-p90-domains-1 long-lived eio us
  fib small-p90-domains-1 blocking eio us
  fib small-p90-domains-1 domain-manager eio us
  fib small-p90-domains-1 executor-pool eio us
  fib small-p90-domains-1 eio-promise eio us
  fib small-p90-domains-1 as-printed eio us
  fib small-p90-domains-1 mvar eio us
  fib small-p90-domains-2 composed eio us
  fib small-p90-domains-2 unsplit eio us
  fib small-p90-domains-2 long-lived eio us
  fib small-p90-domains-2 blocking eio us
  fib small-p90-domains-2 domain-manager eio us
  fib small-p90-domains-2 executor-pool eio us
  fib small-p90-domains-2 eio-promise eio us
  fib small-p90-domains-2 as-printed eio us
  fib small-p90-domains-2 mvar eio us
  fib small-p90-domains-4 composed eio us
  fib small-p90-domains-4 unsplit eio us
  fib small-p90-domains-4 long-lived eio us
  fib small-p90-domains-4 blocking eio us
  fib small-p90-domains-4 domain-manager eio us
  fib small-p90-domains-4 executor-pool eio us
  fib small-p90-domains-4 eio-promise eio us
  fib small-p90-domains-4 as-printed eio us
  fib small-p90-domains-4 mvar eio us
  fib small-p90-load-25 composed eio us
  fib small-p90-load-25 unsplit eio us
  fib small-p90-load-25 long-lived eio us
  fib small-p90-load-25 blocking eio us
  fib small-p90-load-25 domain-manager eio us
  fib small-p90-load-25 executor-pool eio us
  fib small-p90-load-25 eio-promise eio us
  fib small-p90-load-25 as-printed eio us
  fib small-p90-load-25 mvar eio us
  fib small-p90-load-50 composed eio us
  fib small-p90-load-50 unsplit eio us
  fib small-p90-load-50 long-lived eio us
  fib small-p90-load-50 blocking eio us
  fib small-p90-load-50 domain-manager eio us
  fib small-p90-load-50 executor-pool eio us
  fib small-p90-load-50 eio-promise eio us
  fib small-p90-load-50 as-printed eio us
  fib small-p90-load-50 mvar eio us
  fib small-p90-load-75 composed eio us
  fib small-p90-load-75 unsplit eio us
  fib small-p90-load-75 long-lived eio us
  fib small-p90-load-75 blocking eio us
  fib small-p90-load-75 domain-manager eio us
  fib small-p90-load-75 executor-pool eio us
  fib small-p90-load-75 eio-promise eio us
  fib small-p90-load-75 as-printed eio us
  fib small-p90-load-75 mvar eio us
  fib small-p90-load-100 composed eio us
  fib small-p90-load-100 unsplit eio us
  fib small-p90-load-100 long-lived eio us
  fib small-p90-load-100 blocking eio us
  fib small-p90-load-100 domain-manager eio us
  fib small-p90-load-100 executor-pool eio us
  fib small-p90-load-100 eio-promise eio us
  fib small-p90-load-100 as-printed eio us
  fib small-p90-load-100 mvar eio us
  fib small-p90-load-125 composed eio us
  fib small-p90-load-125 unsplit eio us
  fib small-p90-load-125 long-lived eio us
  fib small-p90-load-125 blocking eio us
  fib small-p90-load-125 domain-manager eio us
  fib small-p90-load-125 executor-pool eio us
  fib small-p90-load-125 eio-promise eio us
  fib small-p90-load-125 as-printed eio us
  fib small-p90-load-125 mvar eio us
  scale yielding-10 concord fifo ns
  scale yielding-1000 concord fifo ns
  scale yielding-100000 concord fifo ns
  scale yielding-1000000 concord fifo ns
  scale yielding-10 concord eio ns
  scale yielding-1000 concord eio ns
  scale yielding-100000 concord eio ns
  scale mutex-10 concord fifo ns
  scale mutex-1000 concord fifo ns
  scale mutex-100000 concord fifo ns
  scale mutex-1000000 concord fifo ns
  scale cancelled-10 concord fifo ns
  scale cancelled-1000 concord fifo ns
  scale cancelled-100000 concord fifo ns
  scale cancelled-1000000 concord fifo ns
  scale waiting-10 concord fifo ns
  scale waiting-1000 concord fifo ns
  scale waiting-100000 concord fifo ns
  scale waiting-1000000 concord fifo ns
  scale waiting-10 concord eio ns
  scale waiting-1000 concord eio ns
  scale waiting-100000 concord eio ns
  scale channels-10 concord fifo ns
  scale channels-1000 concord fifo ns
  scale channels-100000 concord fifo ns
  scale channels-1000000 concord fifo ns
  scale channels-10 concord eio ns
  scale channels-1000 concord eio ns
  scale channels-100000 concord eio ns
  scale timeouts-1 concord fifo ns
  scale timeouts-100 concord fifo ns
  scale timeouts-10000 concord fifo ns
  scale timeouts-100000 concord fifo ns
  scale timeouts-1 concord eio ns
  scale timeouts-100 concord eio ns
  scale timeouts-10000 concord eio ns
  scale timeouts-100000 concord eio ns
  scale choice-1 concord fifo ns
  scale choice-10 concord fifo ns
  scale choice-100 concord fifo ns
  scale choice-1000 concord fifo ns
  scale choice-1 concord eio ns
  scale choice-10 concord eio ns
  scale choice-100 concord eio ns
  scale choice-1000 concord eio ns
  scale threads-1 concord thread ns
  scale threads-10 concord thread ns
  scale threads-100 concord thread ns
  scale threads-1000 concord thread ns
  scale domains-one-mutex-1 concord domain ns
  scale domains-one-mutex-2 concord domain ns
  scale domains-one-mutex-4 concord domain ns
  scale domains-one-mutex-8 concord domain ns
  scale domains-own-box-1 concord domain ns
  scale domains-own-box-2 concord domain ns
  scale domains-own-box-4 concord domain ns
  scale domains-own-box-8 concord domain ns
  latency wake-p50 eio eio ns
  latency wake-p50 concord fifo ns
  latency wake-p50 concord eio ns
  latency wake-p50 concord lwt ns
  latency wake-p99 eio eio ns
  latency wake-p99 concord fifo ns
  latency wake-p99 concord eio ns
  latency wake-p99 concord lwt ns
  latency wake-p99.9 eio eio ns
  latency wake-p99.9 concord fifo ns
  latency wake-p99.9 concord eio ns
  latency wake-p99.9 concord lwt ns
  latency wake-busy-p50 eio eio ns
  latency wake-busy-p50 concord fifo ns
  latency wake-busy-p50 concord eio ns
  latency wake-busy-p50 concord lwt ns
  latency wake-busy-p99 eio eio ns
  latency wake-busy-p99 concord fifo ns
  latency wake-busy-p99 concord eio ns
  latency wake-busy-p99 concord lwt ns
  latency wake-busy-p99.9 eio eio ns
  latency wake-busy-p99.9 concord fifo ns
  latency wake-busy-p99.9 concord eio ns
  latency wake-busy-p99.9 concord lwt ns
  latency wake-parallel-p50 eio eio ns
  latency wake-parallel-p50 concord fifo ns
  latency wake-parallel-p50 concord eio ns
  latency wake-parallel-p50 concord domain ns
  latency wake-parallel-p50 concord lwt ns
  latency wake-parallel-p99 eio eio ns
  latency wake-parallel-p99 concord fifo ns
  latency wake-parallel-p99 concord eio ns
  latency wake-parallel-p99 concord domain ns
  latency wake-parallel-p99 concord lwt ns
  latency wake-parallel-p99.9 eio eio ns
  latency wake-parallel-p99.9 concord fifo ns
  latency wake-parallel-p99.9 concord eio ns
  latency wake-parallel-p99.9 concord domain ns
  latency wake-parallel-p99.9 concord lwt ns
  latency wake-parallel-busy-p50 eio eio ns
  latency wake-parallel-busy-p50 concord fifo ns
  latency wake-parallel-busy-p50 concord eio ns
  latency wake-parallel-busy-p50 concord lwt ns
  latency wake-parallel-busy-p99 eio eio ns
  latency wake-parallel-busy-p99 concord fifo ns
  latency wake-parallel-busy-p99 concord eio ns
  latency wake-parallel-busy-p99 concord lwt ns
  latency wake-parallel-busy-p99.9 eio eio ns
  latency wake-parallel-busy-p99.9 concord fifo ns
  latency wake-parallel-busy-p99.9 concord eio ns
  latency wake-parallel-busy-p99.9 concord lwt ns
  latency turn-p50 none eio ns
  latency turn-p50 eio eio ns
  latency turn-p50 concord eio ns
  latency turn-p99 none eio ns
  latency turn-p99 eio eio ns
  latency turn-p99 concord eio ns
  latency turn-p99.9 none eio ns
  latency turn-p99.9 eio eio ns
  latency turn-p99.9 concord eio ns
  threads threads-write stdlib thread ns
  threads threads-write stdlib-semaphore thread ns
  threads threads-write concord thread ns
  threads threads-write concord-semaphore thread ns
  threads threads-write concord-rwlock thread ns
  threads threads-write concord-mvar thread ns
  threads threads-yield stdlib thread ns
  threads threads-yield stdlib-semaphore thread ns
  threads threads-yield concord thread ns
  threads threads-yield concord-semaphore thread ns
  threads threads-yield concord-rwlock thread ns
  threads threads-yield concord-mvar thread ns
  threads threads-write-worst stdlib thread ms
  threads threads-write-worst stdlib-semaphore thread ms
  threads threads-write-worst concord thread ms
  threads threads-write-worst concord-semaphore thread ms
  threads threads-write-worst concord-rwlock thread ms
  threads threads-write-worst concord-mvar thread ms
  threads threads-write-share stdlib thread %
  threads threads-write-share stdlib-semaphore thread %
  threads threads-write-share concord thread %
  threads threads-write-share concord-semaphore thread %
  threads threads-write-share concord-rwlock thread %
  threads threads-write-share concord-mvar thread %
  threads threads-yield-worst stdlib thread ms
  threads threads-yield-worst stdlib-semaphore thread ms
  threads threads-yield-worst concord thread ms
  threads threads-yield-worst concord-semaphore thread ms
  threads threads-yield-worst concord-rwlock thread ms
  threads threads-yield-worst concord-mvar thread ms
  threads threads-yield-share stdlib thread %
  threads threads-yield-share stdlib-semaphore thread %
  threads threads-yield-share concord thread %
  threads threads-yield-share concord-semaphore thread %
  threads threads-yield-share concord-rwlock thread %
  threads threads-yield-share concord-mvar thread %
  threads threads-2-domains stdlib thread ns
  threads threads-2-domains stdlib-semaphore thread ns
  threads threads-2-domains concord thread ns
  threads threads-2-domains concord-semaphore thread ns
  threads threads-2-domains concord-rwlock thread ns
  threads threads-2-domains concord-mvar thread ns
  threads threads-8-domains stdlib thread ns
  threads threads-8-domains stdlib-semaphore thread ns
  threads threads-8-domains concord thread ns
  threads threads-8-domains concord-semaphore thread ns
  threads threads-8-domains concord-rwlock thread ns
  threads threads-8-domains concord-mvar thread ns
  threads threads-sleep-worst stdlib thread ms
  threads threads-sleep-worst stdlib-semaphore thread ms
  threads threads-sleep-worst concord thread ms
  threads threads-sleep-worst concord-semaphore thread ms
  threads threads-sleep-worst concord-rwlock thread ms
  threads threads-sleep-worst concord-mvar thread ms
  threads threads-queue stdlib thread ns
  threads threads-queue concord thread ns
  threads threads-queue stream thread ns
  threads threads-queue-2-domains stdlib thread ns
  threads threads-queue-2-domains concord thread ns
  threads threads-queue-2-domains stream thread ns
  pipeline pipeline-empty eio eio ns
  pipeline pipeline-empty eio eio+eio ns
  pipeline pipeline-empty eio eio+pool ns
  pipeline pipeline-empty concord eio ns
  pipeline pipeline-empty concord eio+eio ns
  pipeline pipeline-empty concord fifo ns
  pipeline pipeline-empty concord fifo+fifo ns
  pipeline pipeline-empty concord fifo+pool ns
  pipeline pipeline-empty concord fifo+workers ns
  pipeline pipeline-empty concord pool ns
  pipeline pipeline-empty domainslib pool ns
  pipeline pipeline-empty stdlib thread ns
  pipeline pipeline-empty concord thread ns
  pipeline pipeline-work eio eio ns
  pipeline pipeline-work eio eio+eio ns
  pipeline pipeline-work eio eio+pool ns
  pipeline pipeline-work concord eio ns
  pipeline pipeline-work concord eio+eio ns
  pipeline pipeline-work concord fifo ns
  pipeline pipeline-work concord fifo+fifo ns
  pipeline pipeline-work concord fifo+pool ns
  pipeline pipeline-work concord fifo+workers ns
  pipeline pipeline-work concord pool ns
  pipeline pipeline-work domainslib pool ns
  pipeline pipeline-work stdlib thread ns
  pipeline pipeline-work concord thread ns
  workers workers-one eio executor-pool ns
  workers workers-one concord eio ns
  workers workers-one concord fifo ns
  workers workers-one concord thread ns
  workers workers-one domainslib eio ns
  workers workers-one domainslib thread ns
  workers workers-one stdlib thread ns
  workers workers-one lwt threads ns
  workers workers-many eio executor-pool ns
  workers workers-many concord eio ns
  workers workers-many concord fifo ns
  workers workers-many concord thread ns
  workers workers-many domainslib eio ns
  workers workers-many domainslib thread ns
  workers workers-many stdlib thread ns
  workers workers-many lwt threads ns
  blocking blocking-one lwt detach ns
  blocking blocking-one concord lwt ns
  blocking blocking-one eio systhread ns
  blocking blocking-one concord eio ns
  blocking blocking-one concord fifo ns
  blocking blocking-one concord fifo+thread ns
  blocking blocking-many lwt detach ns
  blocking blocking-many concord lwt ns
  blocking blocking-many eio systhread ns
  blocking blocking-many concord eio ns
  blocking blocking-many concord fifo ns
  blocking blocking-many concord fifo+thread ns
  local local-get eio eio ns
  local local-get concord eio ns
  local local-get concord fifo ns
  local local-get concord thread ns
  local local-get concord job ns
  local local-get lwt lwt ns
  local local-get concord lwt ns
  local local-wait unbound fifo ns
  local local-wait bound fifo ns
  local local-wait unbound eio ns
  local local-wait bound eio ns
  buffered buffered-lines eio domain ns
  buffered buffered-lines concord domain ns
  buffered buffered-lines lwt lwt ns
  buffered buffered-writes eio eio ns
  buffered buffered-writes concord domain ns
  buffered buffered-writes lwt lwt ns
  buffered buffered-pipe stdlib domain ns
  buffered buffered-pipe concord domain ns
  aio pread eio eio ns
  aio pread concord fifo ns
  aio pread lwt lwt ns
  aio pread unix domain ns
  aio pwrite eio eio ns
  aio pwrite concord fifo ns
  aio pwrite lwt lwt ns
  aio pwrite unix domain ns
  aio stat eio eio ns
  aio stat concord fifo ns
  aio stat lwt lwt ns
  aio stat unix domain ns
  aio readdir eio eio ns
  aio readdir concord fifo ns
  aio readdir lwt lwt ns
  aio readdir unix domain ns
  aio connection eio eio ns
  aio connection concord fifo ns
  aio connection concord eio ns
  aio connection lwt lwt ns
  policy policy-tree concord fifo ns
  policy policy-tree concord policies-fifo ns
  policy policy-tree concord policies-lifo ns
  policy policy-tree domainslib domainslib ns
  policy policy-requests-p50 concord fifo ns
  policy policy-requests-p50 concord lifo ns
  policy policy-requests-p50 concord levels ns
  policy policy-requests-p50 concord deadline ns
  policy policy-requests-p99 concord fifo ns
  policy policy-requests-p99 concord lifo ns
  policy policy-requests-p99 concord levels ns
  policy policy-requests-p99 concord deadline ns
  policy policy-requests-p99.9 concord fifo ns
  policy policy-requests-p99.9 concord lifo ns
  policy policy-requests-p99.9 concord levels ns
  policy policy-requests-p99.9 concord deadline ns

Each comparison beside an idle domain has the rows of the plain comparison. These cases have one:

  $ grep -e '-beside ' rows | sed 's/-beside / /' | sort >beside
  $ sort rows | comm -23 beside -
  $ cut -d' ' -f1,2 beside | grep -v '^async ' | uniq
  effect a-b
  effect b-c
  effect c-d
  effect d-e
  event attempts
  event loop-ready
  event loop-serial
  event select4-ready
  event select4-serial
  event swap-serial
  event sync-serial
  event timeout-function
  event timeout-pending
  generator tree
  lazy first-force
  lazy forced
  lazy wait-10000
  lwt serial
  mvar serial
  structures barrier-serial
  structures broadcast-serial
  structures channel-serial
  structures condition-signal
  structures latch-count-free
  structures mailbox-serial
  structures mutex-cancel-10
  structures mutex-cancel-10000
  structures mutex-contended
  structures mutex-free
  structures pool-contended
  structures pool-free
  structures pool-lwt
  structures promise-cancel-10000
  structures promise-serial
  structures rwlock-downgrade-free
  structures rwlock-read-free
  structures rwlock-write-free
  structures semaphore-contended
  structures semaphore-free
  structures semaphore-n-free
  structures semaphore-n-serial
  structures stream1-serial
  structures stream100-serial
  structures stream10000-serial
  structures watch-serial
  structures watch-set-free
  structures work-queue-free
  structures work-queue-withdraw
  styles mvar
  suspend fork-join
  suspend perform
  suspend suspend
  suspend yield

The figures of "Light Weight Concurrency in OCaml" are measured, each at its first point:

  $ grep -c '^lwc .* \(ms\|bytes\)$' rows
  134

The rows of Go are measured if Go is installed. Otherwise the report says that they are missing:

  $ if command -v go >/dev/null; then grep -c ' go go \(ns\|bytes\|req/s\|us\)$' rows; else grep 'Go was not' left-out >/dev/null && echo 94; fi
  94

The rows of Node.js, in the same way:

  $ if command -v node >/dev/null; then grep -c ' node .* ns$' rows; else grep 'Node.js was not' left-out >/dev/null && echo 4; fi
  4

The rows of Lwt_eio, caqti, Picos, Tokio, Async and Cohttp, and the rows that need wrk (without Go's and Cohttp's), in the same way:

  $ rows_of () { if grep -q "^$1 was not installed" left-out; then echo "$2"; else grep -c "$3" rows; fi; }
  $ rows_of lwt_eio 4 ' lwt_eio one-domain ns$'
  4
  $ rows_of caqti 6 '^caqti .* \(eio-caqti\|caqti\) ns$'
  6
  $ rows_of Picos 56 ' picos picos \(ns\|us\|bytes\)$'
  56
  $ rows_of Tokio 27 ' tokio tokio ns$'
  27
  $ rows_of Async 33 ' async \(ns\|us\)$'
  33
  $ rows_of cohttp-lwt-unix 25 '^web [ap].* lwt cohttp \(req/s\|us\)$'
  25
  $ rows_of wrk 16 '^web throughput-[0-9]* [^ ]* \(aio\|eio\|http\) req/s$'
  16

A third of the groups is drawn. Each of their rows is measured and written, and its figures are numbers:

  $ part=$((${CONCORD_SEED:-$(date +%s)} % 3))
  $ if [ "$CONCORD_LONG" = 1 ]; then cat groups.txt >drawn; else awk "NR % 3 == $part" groups.txt >drawn; fi
  $ ./main.exe --smoke $(cat drawn) --json results.json >table 2>progress || cat progress
  $ ./main.exe --smoke --rows $(cat drawn) >wanted 2>left-out
  $ ./smoke.exe results.json | diff wanted -

The group "scale" reports a growth for each case, or that there is none:

  $ if grep -qx scale drawn; then grep -c '^flat: \|^grows: ' table; else echo 15; fi
  15

bench/groups.txt, which ./dev bench reads before it builds this, has all groups:

  $ ./main.exe --list | sed '/^ /d; s/ .*//' | diff groups.txt -

An unknown group is reported before anything is measured:

  $ ./main.exe --smoke mvar no-such-group
  bench: unknown group "no-such-group". The groups are mvar, cancel-cost, search, debug, suspend, effect, structures, event, lazy, lwt, async, bridge, caqti, styles, lwc, generator, web, fib, scale, latency, threads, pipeline, workers, blocking, local, buffered, aio, policy
  [2]
  $ TERM=dumb ./main.exe --minutes 0 2>&1 | tail -n 1
  bench: option '--minutes': 0 is not a number of minutes above 0
  $ ./main.exe --smoke mvar --json no-such-folder/file
  bench: no-such-folder/file: No such file or directory
  [2]

Results are saved in a file, in which the groups that were not measured stay. The file is compared with itself:

  $ ./main.exe --smoke mvar --json kept.json >table 2>progress
  $ ./main.exe --smoke search --json kept.json >table 2>progress
  $ ./smoke.exe kept.json | cut -d ' ' -f 1 | uniq
  mvar
  search
  $ ./main.exe --compare kept.json kept.json | sed 's/: [0-9]*;/: SO MANY;/g'
  rows in both files: SO MANY; level: SO MANY; all of them, the second file to the first: 1.00x as good [1.00 1.00]

The options choose the number and the rate for the Fibonacci server:

  $ ./main.exe --smoke fib -n 12 --rate 77 --json fib.json >table 2>progress
  $ grep -c '/fib/12 ' table
  24
  $ grep '"case":"throughput-domains' fib.json |
  >   sed 's/.*"case":"\([^"]*\)".*"offered":\[\([^]]*\)\].*/\1 \2/' | uniq -c | sed 's/^ *//'
  9 throughput-domains-1 77.0
  9 throughput-domains-2 77.0
  9 throughput-domains-4 77.0
