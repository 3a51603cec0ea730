// The rows of Go. This process measures one case. Its requests and answers are
// like those of the others (../worker.mli).
package main

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A measurement does n operations and returns their time in nanoseconds, or it
// holds n things and returns their size in bytes.
type measurement func(n int) float64

const (
	crewSize = 10
	permits  = 3
	ways     = 4
	// The number of messages before the clock is read.
	meeting = 1000
	waiters = 100_000
	// The number of lazy values that one round of the loop reads.
	width = 8
	// Every sample takes less, unless something waits forever.
	patience = 120 * time.Second
)

// The greatest number of goroutines in a crew.
var crowd int

// The cases on one processor.
var serial = map[string]measurement{
	"mutex-free":             mutexFree,
	"mutex-contended":        mutexContended(crewSize),
	"mutex-contended-100000": mutexContended(waiters),
	"semaphore-free":         semaphoreFree,
	"semaphore-contended":    semaphoreContended,
	"condition-signal":       condition,
	"rwlock-read-free":       readFree,
	"rwlock-write-free":      writeFree,
	"latch-count-free":       countFree,
	"promise-serial":         promiseRounds,
	"serial":                 channel(1),
	"yield":                  yields,
	"fork-join":              forkJoin,
	"blocked-task-bytes":     blocked,
	"stream1-serial":         channel(1),
	"stream100-serial":       channel(100),
	"stream10000-serial":     channel(10_000),
	"channel-serial":         channel(0),
	"select4-serial":         select4,
	"select4-ready":          selectReady,
	"swap-serial":            swap,
	"timeout-pending":        timeoutPending,
	"timeouts-100000":        timeouts,
	"forced":                 forced,
	"first-force":            firstForce,
	"wait-1000":              wait(1000),
	"wait-10000":             wait(10_000),
	"wait-100000":            wait(100_000),
}

// The cases on two processors.
var parallel = map[string]measurement{
	"mutex-work-parallel":  mutexParallel,
	"condition-parallel":   condition,
	"rwlock-read-parallel": readParallel,
	"latch-count-parallel": countParallel,
	"barrier-parallel":     barrierParallel,
	"promise-parallel":     promiseRounds,
	"lazy-parallel":        lazyChain,
	"parallel":             channel(1),
	"stream1-parallel":     channel(1),
	"stream100-parallel":   channel(100),
	"channel-parallel":     channel(0),
	"select4-parallel":     select4,
	"pipeline-empty":       pipeline(1),
	"pipeline-work":        pipeline(1201),
}

func main() {
	if os.Args[1] == "serve" {
		serveWeb()
	}
	name := os.Args[2]
	measure, found := serial[name]
	runtime.GOMAXPROCS(1)
	if !found {
		measure = parallel[name]
		runtime.GOMAXPROCS(2)
	}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		request := strings.Fields(input.Text())
		n := number(request[0])
		crowd = number(request[1])
		alarm := time.AfterFunc(patience, func() { panic("no end of " + name) })
		// Cases with many goroutines warm up themselves, or need a process without free memory.
		if !strings.HasSuffix(name, "100000") && !strings.HasSuffix(name, "-bytes") {
			measure(1 + n/10)
		}
		debug.FreeOSMemory()
		result := measure(n)
		alarm.Stop()
		os.Stdout.WriteString(strconv.FormatFloat(result, 'f', -1, 64) + "\n")
	}
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return n
}

func since(start time.Time) float64 { return float64(time.Since(start)) }

func check(what string, expected, actual int) {
	if actual != expected {
		panic(what + ": " + strconv.Itoa(actual) + " instead of " + strconv.Itoa(expected))
	}
}

// transfer returns the time of n messages from a sender to a receiver. send sends
// the numbers from 1 to n, and receive adds up n numbers.
func transfer(n int, send func(n int), receive func(n int) int) float64 {
	go func() {
		send(meeting)
		send(n)
	}()
	check("sum", meeting*(meeting+1)/2, receive(meeting))
	start := time.Now()
	sum := receive(n)
	ns := since(start)
	check("sum", n*(n+1)/2, sum)
	return ns
}

// crew runs work in size goroutines. work does operations, and calls another in
// each, until that returns false. Then n operations have been timed.
func crew(size, n int, hold, free func(), work func(another func() bool)) float64 {
	warm := min(size, meeting)
	var operations atomic.Int64
	var start time.Time
	var ns float64
	another := func() bool {
		i := int(operations.Add(1))
		if i == warm {
			start = time.Now()
		} else if i == warm+n {
			ns = since(start)
		}
		return i < warm+n
	}
	var all sync.WaitGroup
	all.Add(size)
	hold()
	for range size {
		go func() {
			work(another)
			all.Done()
		}()
	}
	// Lets all of them begin to wait.
	runtime.Gosched()
	free()
	all.Wait()
	return ns
}

func mutexFree(n int) float64 {
	var mutex sync.Mutex
	start := time.Now()
	lockUnlock(&mutex, n)
	return since(start)
}

func lockUnlock(mutex *sync.Mutex, n int) {
	for range n {
		mutex.Lock()
		mutex.Unlock()
	}
}

func mutexContended(size int) measurement {
	return func(n int) float64 {
		var mutex sync.Mutex
		return crew(min(size, crowd), n, mutex.Lock, mutex.Unlock, func(another func() bool) {
			for again := true; again; {
				mutex.Lock()
				again = another()
				if again {
					runtime.Gosched()
				}
				mutex.Unlock()
			}
		})
	}
}

func semaphoreFree(n int) float64 {
	semaphore := make(chan struct{}, 1)
	start := time.Now()
	for range n {
		semaphore <- struct{}{}
		<-semaphore
	}
	return since(start)
}

func semaphoreContended(n int) float64 {
	semaphore := make(chan struct{}, permits)
	nothing := func() {}
	return crew(crewSize, n, nothing, nothing, func(another func() bool) {
		for again := true; again; {
			semaphore <- struct{}{}
			again = another()
			if again {
				runtime.Gosched()
			}
			<-semaphore
		}
	})
}

func condition(n int) float64 {
	var mutex sync.Mutex
	condition := sync.NewCond(&mutex)
	const empty = 0
	slot := empty
	send := func(n int) {
		for i := 1; i <= n; i++ {
			mutex.Lock()
			for slot != empty {
				condition.Wait()
			}
			slot = i
			condition.Signal()
			mutex.Unlock()
		}
	}
	receive := func(n int) int {
		sum := 0
		for range n {
			mutex.Lock()
			for slot == empty {
				condition.Wait()
			}
			sum += slot
			slot = empty
			condition.Signal()
			mutex.Unlock()
		}
		return sum
	}
	return transfer(n, send, receive)
}

func readFree(n int) float64 {
	var lock sync.RWMutex
	start := time.Now()
	for range n {
		lock.RLock()
		lock.RUnlock()
	}
	return since(start)
}

func writeFree(n int) float64 {
	var lock sync.RWMutex
	start := time.Now()
	for range n {
		lock.Lock()
		lock.Unlock()
	}
	return since(start)
}

func countFree(n int) float64 {
	var group sync.WaitGroup
	group.Add(1)
	start := time.Now()
	for range n {
		group.Add(1)
		group.Done()
	}
	return since(start)
}

func channel(capacity int) measurement {
	return func(n int) float64 {
		messages := make(chan int, capacity)
		send := func(n int) {
			for i := 1; i <= n; i++ {
				messages <- i
			}
		}
		receive := func(n int) int {
			sum := 0
			for range n {
				sum += <-messages
			}
			return sum
		}
		return transfer(n, send, receive)
	}
}

// pipeline has one goroutine that parses items, four workers that transform each
// item by an odd number of turns, and one goroutine that adds up the results.
func pipeline(turns int) measurement {
	const workers = 4
	const centre = 1_000_000_000
	return func(n int) float64 {
		parsed, results := make(chan int, 100), make(chan int, 100)
		worker := func() {
			for item := range parsed {
				for range turns {
					item = centre - item
				}
				results <- item
			}
		}
		for range workers {
			go worker()
		}
		go func() {
			for item := 1; item <= meeting+n; item++ {
				parsed <- item
			}
			close(parsed)
		}()
		sum := 0
		receive := func(n int) {
			for range n {
				sum += <-results
			}
		}
		receive(meeting)
		start := time.Now()
		receive(n)
		ns := since(start)
		all := meeting + n
		check("sum", all*centre-all*(all+1)/2, sum)
		return ns
	}
}

func newChannels(capacity int) [ways]chan int {
	var channels [ways]chan int
	for i := range channels {
		channels[i] = make(chan int, capacity)
	}
	return channels
}

func select4(n int) float64 {
	channels := newChannels(0)
	send := func(n int) {
		for i := 1; i <= n; i++ {
			channels[i%ways] <- i
		}
	}
	a, b, c, d := channels[0], channels[1], channels[2], channels[3]
	receive := func(n int) int {
		sum := 0
		for range n {
			select {
			case i := <-a:
				sum += i
			case i := <-b:
				sum += i
			case i := <-c:
				sum += i
			case i := <-d:
				sum += i
			}
		}
		return sum
	}
	return transfer(n, send, receive)
}

func selectReady(n int) float64 {
	channels := newChannels(1)
	for i := range channels {
		channels[i] <- i
	}
	a, b, c, d := channels[0], channels[1], channels[2], channels[3]
	var taken [ways]int
	start := time.Now()
	for range n {
		var i int
		select {
		case i = <-a:
		case i = <-b:
		case i = <-c:
		case i = <-d:
		}
		taken[i]++
		channels[i] <- i
	}
	ns := since(start)
	check("messages", n, taken[0]+taken[1]+taken[2]+taken[3])
	return ns
}

func swap(n int) float64 {
	a, b := make(chan int), make(chan int)
	side := func(mine, other chan int) int {
		received := 0
		for range n {
			select {
			case mine <- 1:
			case i := <-other:
				received += i
			}
		}
		return received
	}
	there := make(chan int, 1)
	start := time.Now()
	go func() { there <- side(b, a) }()
	received := side(a, b) + <-there
	ns := since(start)
	check("messages", n, received)
	return ns
}

func timeoutPending(n int) float64 {
	messages := make(chan int, 1)
	send := func(n int) {
		for i := 1; i <= n; i++ {
			messages <- i
		}
	}
	receive := func(n int) int {
		sum := 0
		for range n {
			timer := time.NewTimer(10 * time.Second)
			select {
			case i := <-messages:
				sum += i
				timer.Stop()
			case <-timer.C:
				panic("a timeout")
			}
		}
		return sum
	}
	return transfer(n, send, receive)
}

func timeouts(n int) float64 {
	size := min(n, waiters)
	box := make(chan int)
	var waiting atomic.Int64
	var all sync.WaitGroup
	all.Add(size)
	before := residentBytes()
	for range size {
		go func() {
			timer := time.NewTimer(time.Minute)
			waiting.Add(1)
			select {
			case <-box:
				timer.Stop()
			case <-timer.C:
				panic("a timeout")
			}
			all.Done()
		}()
	}
	for int(waiting.Load()) < size {
		runtime.Gosched()
	}
	bytes := residentBytes() - before
	for range size {
		box <- 1
	}
	all.Wait()
	return bytes * float64(n) / float64(size)
}

func residentBytes() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	return float64(number(strings.Fields(rest)[0])) * 1024
}

func forced(n int) float64 {
	var lazies [width]func() int
	for i := range lazies {
		lazies[i] = sync.OnceValue(func() int { return i + 1 })
		check("value", i+1, lazies[i]())
	}
	rounds := (n + width - 1) / width
	sum := 0
	start := time.Now()
	for range rounds {
		sum += lazies[0]() + lazies[1]() + lazies[2]() + lazies[3]()
		sum += lazies[4]() + lazies[5]() + lazies[6]() + lazies[7]()
	}
	ns := since(start)
	check("sum", rounds*width*(width+1)/2, sum)
	return ns
}

func firstForce(n int) float64 {
	sum := 0
	start := time.Now()
	for i := 1; i <= n; i++ {
		sum += sync.OnceValue(func() int { return i })()
	}
	ns := since(start)
	check("sum", n*(n+1)/2, sum)
	return ns
}

func wait(size int) measurement {
	return func(n int) float64 {
		tasks := min(size, crowd)
		rounds := (n + tasks - 1) / tasks
		// The first round warms up.
		waitRound(tasks)
		ns := 0.0
		for range rounds {
			ns += waitRound(tasks)
		}
		return ns * float64(n) / float64(rounds*tasks)
	}
}

func waitRound(tasks int) float64 {
	var came, continued atomic.Int64
	var parked atomic.Bool
	var start time.Time
	var ns float64
	var all sync.WaitGroup
	computing := make(chan struct{})
	value := sync.OnceValue(func() int {
		close(computing)
		for !parked.Load() {
			runtime.Gosched()
		}
		start = time.Now()
		return 1
	})
	all.Add(1 + tasks)
	go func() {
		check("value", 1, value())
		all.Done()
	}()
	<-computing
	for range tasks {
		go func() {
			came.Add(1)
			check("value", 1, value())
			if int(continued.Add(1)) == tasks {
				ns = since(start)
			}
			all.Done()
		}()
	}
	for int(came.Load()) < tasks {
		runtime.Gosched()
	}
	// Lets all of them begin to wait, even one that was preempted just after it came.
	runtime.Gosched()
	check("goroutines that did not wait", 0, int(continued.Load()))
	runtime.GC()
	parked.Store(true)
	all.Wait()
	return ns
}
