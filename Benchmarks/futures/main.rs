//! Rust's `futures` streams in the pipelines of `streams`. Prints each name, the nanoseconds of processor time per
//! element, and the result, which `compare-futures` compares.
use futures::channel::mpsc;
use futures::executor::block_on;
use futures::future::ready;
use futures::stream::{self, Stream, StreamExt};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hint::black_box;

type Run = fn(usize) -> i64;

fn main() {
    let runs: [(&str, Run); 7] = [
        ("source alone", source_alone),
        ("map.filter.map", map_filter_map),
        ("map.filter.map, written in place", in_place),
        ("scan", scan),
        ("collect(3)", chunks),
        ("flatMap of publishers of 10", flat_map),
        ("a subject to 1", channel),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, run) in runs {
        if wanted.iter().any(|one| one == name) {
            report(name, 2_000_000, || run(2_000_000));
        }
    }
    if wanted.iter().any(|one| one == "Scrabble, a word") {
        let words = Words::new();
        let text: Vec<Vec<u8>> = (0..40_000).map(|index| words.text[index % words.text.len()].clone()).collect();
        report("Scrabble, a word", text.len(), || block_on(scrabble(&words, &text)));
    }
}

fn report(name: &str, count: usize, run: impl Fn() -> i64) {
    run();
    let start = processor_time();
    let result = run();
    let time = processor_time() - start;
    println!("{name}\t{}\t{result}", time / count as f64);
}

fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn numbers(count: usize) -> impl Stream<Item = i64> {
    stream::iter(0..count as i64)
}

/// Adds up a stream. A closure in a variable, as in `streams`: the optimizer doesn't see what it does.
fn total(numbers: impl Stream<Item = i64>) -> i64 {
    let add: fn(i64, i64) -> i64 = black_box(|sum, value| sum.wrapping_add(value));
    block_on(numbers.fold(0, |sum, value| ready(add(sum, value))))
}

fn source_alone(count: usize) -> i64 {
    total(numbers(count))
}

fn map_filter_map(count: usize) -> i64 {
    let triple: fn(i64) -> i64 = black_box(|value| value.wrapping_mul(3));
    let is_even: fn(i64) -> bool = black_box(|value| value & 1 == 0);
    let increment: fn(i64) -> i64 = black_box(|value| value.wrapping_add(1));
    total(numbers(count).map(triple).filter(move |value| ready(is_even(*value))).map(increment))
}

fn in_place(count: usize) -> i64 {
    total(numbers(count).map(|value| value.wrapping_mul(3)).filter(|value| ready(value & 1 == 0)).map(|value| value.wrapping_add(1)))
}

fn scan(count: usize) -> i64 {
    let add: fn(i64, i64) -> i64 = black_box(|sum, value| sum.wrapping_add(value));
    total(numbers(count).scan(0, move |sum, value| {
        *sum = add(*sum, value);
        ready(Some(*sum))
    }))
}

fn chunks(count: usize) -> i64 {
    total(numbers(count).chunks(3).map(|three| three.len() as i64))
}

fn flat_map(count: usize) -> i64 {
    total(numbers(count / 10).flat_map(|_| numbers(10)))
}

/// A value is sent and then received, as a subject delivers it to one subscriber.
fn channel(count: usize) -> i64 {
    let add: fn(i64, i64) -> i64 = black_box(|sum, value| sum.wrapping_add(value));
    let (sender, mut receiver) = mpsc::unbounded();
    let mut sum = 0;
    block_on(async {
        for number in 0..count as i64 {
            sender.unbounded_send(number).unwrap();
            sum = add(sum, receiver.next().await.unwrap());
        }
    });
    sum
}

// The Scrabble benchmark: see ScrabbleWords.swift and Scrabble.swift.

const SCORES: [i64; 26] = [1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3, 10, 1, 1, 1, 1, 4, 4, 8, 4, 10];
const TILES: [i64; 26] = [9, 2, 2, 1, 12, 2, 3, 2, 9, 1, 1, 4, 2, 6, 8, 2, 1, 6, 4, 6, 4, 2, 2, 1, 2, 1];
const FREQUENCIES: [usize; 26] =
    [82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 17, 1];

struct Words {
    text: Vec<Vec<u8>>,
    dictionary: HashSet<Vec<u8>>,
}

impl Words {
    fn new() -> Words {
        let mut state: u64 = 1;
        let mut next = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let letters: Vec<u8> =
            FREQUENCIES.iter().enumerate().flat_map(|(letter, count)| std::iter::repeat(letter as u8).take(*count)).collect();
        let (mut text, mut dictionary) = (Vec::new(), HashSet::new());
        for _ in 0..20_000 {
            let length = 2 + next(9);
            let word: Vec<u8> = (0..length).map(|_| letters[next(letters.len())]).collect();
            text.push(word.clone());
            if next(4) > 0 {
                dictionary.insert(word);
            }
        }
        Words { text, dictionary }
    }
}

async fn scrabble(words: &Words, text: &[Vec<u8>]) -> i64 {
    let board: BTreeMap<i64, Vec<Vec<u8>>> = stream::iter(text)
        .filter(|word| ready(words.dictionary.contains(*word)))
        .filter(|word| fits(word))
        .fold(BTreeMap::new(), |mut board: BTreeMap<i64, Vec<Vec<u8>>>, word| async move {
            board.entry(score(word).await).or_default().push(word.clone());
            board
        })
        .await;
    stream::iter(board.iter().rev()).take(3).fold(0, |sum, (score, words)| ready(sum + score * words.len() as i64)).await
}

fn letters(word: &[u8]) -> impl Stream<Item = u8> + '_ {
    stream::iter(word.iter().copied())
}

/// The letters of a word, and how often each occurs.
fn entries(word: &[u8]) -> impl Stream<Item = (usize, i64)> + '_ {
    let histogram = letters(word).fold(HashMap::new(), |mut counts: HashMap<u8, i64>, letter| {
        *counts.entry(letter).or_insert(0) += 1;
        ready(counts)
    });
    stream::once(histogram).flat_map(|counts| stream::iter(counts.into_iter().map(|(letter, count)| (letter as usize, count))))
}

async fn fits(word: &[u8]) -> bool {
    entries(word).map(|(letter, count)| (count - TILES[letter]).max(0)).fold(0, |sum, blanks| ready(sum + blanks)).await <= 2
}

async fn score(word: &[u8]) -> i64 {
    let all = entries(word).map(|(letter, count)| SCORES[letter] * count.min(TILES[letter]));
    let all = stream::once(all.fold(0, |sum, score| ready(sum + score)));
    let best = letters(word).take(3).chain(letters(word).skip(3)).map(|letter| SCORES[letter as usize]);
    let best = stream::once(best.fold(0, |best: i64, score| ready(best.max(score))));
    let bonus = stream::once(ready(if word.len() == 7 { 50 } else { 0 }));
    all.map(|score| score * 2).chain(best.map(|score| score * 2)).chain(bonus).fold(0, |sum, score| ready(sum + score)).await
}
