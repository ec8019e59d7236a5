// SPDX-License-Identifier: Apache-2.0
//! Says of itself what its functions are called with: "C FUNCTION ARGUMENT=VALUE ...", the arguments as
//! `sonde probe` takes them. Floats are printed as their bits.
use std::hint::black_box;

#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Color {
    Red = 1,
    Green = 77,
    Blue = 200,
}

pub struct Inner {
    pub a: i16,
    pub b: u8,
}

pub struct Outer {
    pub x: u64,
    pub inner: Inner,
    pub t: (i32, u16),
    pub arr: [i32; 4],
    pub next: Option<Box<Inner>>,
}

#[inline(never)]
fn scalars(a: i8, b: u16, c: i32, d: u64, e: bool, f: f64, g: char, h: f32) -> i64 {
    let sum = black_box(a as i64 + b as i64 + c as i64 + d as i64 + e as i64 + g as i64) + f as i64 + h as i64;
    println!("C scalars a={} b={} c={} d={} e={} f={} g={} h={}", a, b, c, d, e as u8, f.to_bits(), g as u32, h.to_bits());
    sum
}

// Nothing takes the address of its arguments, so they stay in registers.
#[inline(never)]
fn plain(a: i8, b: u16, c: i32, d: u64, e: bool, g: char) -> i64 {
    black_box(a as i64 + b as i64 + c as i64 + (d >> 1) as i64 + e as i64 + g as i64)
}

#[inline(never)]
fn text(s: &str, v: &[u32]) -> usize {
    black_box(s.len() + v[0] as usize)
}

#[inline(never)]
fn structs(o: &Outer, n: u32, c: Color) -> u64 {
    black_box(o.x + n as u64 + c as u64)
}

#[inline(never)]
fn large(x: i128, y: u128, z: usize) -> i128 {
    println!("C large x={} y={} z={}", x, y, z);
    black_box(x + y as i128)
}

impl Outer {
    #[inline(never)]
    fn method(&self, k: i32) -> i32 {
        black_box(k + self.t.0)
    }
}

fn main() {
    for i in 0..3u32 {
        let o = Outer {
            x: 1 << (30 + i),
            inner: Inner { a: -5 - i as i16, b: 250 + i as u8 },
            t: (-7 - i as i32, 9),
            arr: [1, 2, 33 + i as i32, 4],
            next: Some(Box::new(Inner { a: 12, b: 1 })),
        };
        scalars(-3 - i as i8, 60000 + i as u16, -100000 - i as i32, u64::MAX - i as u64, i % 2 == 1, 1.25 + i as f64, 'ä', 0.5);
        println!("C plain a={} b={} c={} d={} e={} g={}", -7 - i as i8, 61000 + i, -200000 - i as i32, u64::MAX / 3 - i as u64,
                 i % 2, 'ö' as u32 + i);
        plain(-7 - i as i8, 61000 + i as u16, -200000 - i as i32, u64::MAX / 3 - i as u64, i % 2 == 1,
              char::from_u32('ö' as u32 + i).unwrap());
        println!("C text s.length={} v.length={} v.data_ptr[0]={}", 5 - i, i + 1, 10 + i);
        text(&"hello"[..5 - i as usize], &[10 + i, 2, 3][..i as usize + 1]);
        let c = if i == 0 { Color::Red } else if i == 1 { Color::Green } else { Color::Blue };
        println!("C structs o->x={} o->inner.a={} o->inner.b={} o->t.__0={} o->arr[2]={} n={} c={}", o.x, o.inner.a, o.inner.b,
                 o.t.0, o.arr[2], i + 40, c as u8);
        structs(&o, i + 40, c);
        large(-1 - i as i128, 1u128 << 100, 5 + i as usize);
        println!("C method self->x={} k={}", o.x, i as i32 - 4);
        o.method(i as i32 - 4);
        black_box(&o.next.as_ref().unwrap().a);
        black_box(o.next.as_ref().unwrap().b);
    }
}
