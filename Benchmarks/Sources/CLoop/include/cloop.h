// The same work as in `loop`, on libuv alone. Each function makes a loop of its own, runs it dry and closes it.

/// `n` timers that fire once, spread over 100 ms, each in memory of its own.
void c_one_shot_timers(long n);
/// `timers` timers of 10 ms, until there have been so many ticks in all.
void c_repeating_timers(long timers, long ticks);
/// Two threads with a loop each wake one another `n` times.
void c_ping_pong(long n);
/// Another thread sends `n` numbers: a mutex, a growing array that the loop swaps, and `uv_async_send`.
void c_send(long n);
/// `n` jobs put into a queue that is served by the next turn of the loop.
void c_schedule(long n);
/// So many chains of jobs that schedule their successors, until `n` have run.
void c_schedule_chains(long chains, long n);
/// `n` works for the thread pool at once, each of which keeps a thread busy for so long.
void c_work(long n, long nanoseconds);
/// Keeps the thread busy.
void c_spin(long nanoseconds);
