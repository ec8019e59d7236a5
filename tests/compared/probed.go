// SPDX-License-Identifier: Apache-2.0

// Says of itself what its functions are called with: "C FUNCTION ARGUMENT=VALUE ...", the arguments as
// `sonde probe` takes them. Floats are printed as their bits.
package main

import (
	"fmt"
	"math"
)

type Inner struct {
	A int16
	B uint8
	S string
}

type Outer struct {
	X   uint64
	In  Inner
	P   *Inner
	Arr [4]int32
	F   float64
}

type Area interface{ Area(k int) float64 }

type Square struct {
	Side float64
	N    int
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

//go:noinline
func (s *Square) Area(k int) float64 {
	fmt.Printf("C main.(*Square).Area s->N=%d s->Side=%d k=%d\n", s.N, math.Float64bits(s.Side), k)
	return s.Side * float64(k)
}

//go:noinline
func scalars(a int8, b uint16, c int32, d uint64, e bool, f float64, g rune, h float32) int64 {
	fmt.Printf("C main.scalars a=%d b=%d c=%d d=%d e=%d f=%d g=%d h=%d\n", a, b, c, d, number(e), math.Float64bits(f), g,
		math.Float32bits(h))
	return int64(a) + int64(b) + int64(c)
}

//go:noinline
func text(s string, v []int32, m map[string]int) int {
	fmt.Printf("C main.text s.len=%d v.len=%d v.cap=%d v.array[0]=%d\n", len(s), len(v), cap(v), v[0])
	return len(s) + len(v)
}

//go:noinline
func structs(o *Outer, n uint32, in Inner) uint64 {
	fmt.Printf("C main.structs o->X=%d o->In.A=%d o->In.B=%d o->P->A=%d o->Arr[2]=%d o->F=%d n=%d in.A=%d in.B=%d o->In.S.len=%d\n",
		o.X, o.In.A, o.In.B, o.P.A, o.Arr[2], math.Float64bits(o.F), n, in.A, in.B, len(o.In.S))
	return o.X + uint64(n)
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k, l int) int {
	fmt.Printf("C main.many a=%d b=%d i=%d j=%d k=%d l=%d\n", a, b, i, j, k, l)
	return a + l
}

//go:noinline
func complexes(x complex128, s Area) float64 {
	fmt.Printf("C main.complexes x=%v\n", math.Float64bits(real(x)))
	return s.Area(3)
}

func main() {
	for i := 0; i < 3; i++ {
		o := &Outer{X: 1 << (30 + uint(i)), In: Inner{-5 - int16(i), 250 + uint8(i), "inner"}, P: &Inner{A: -77},
			Arr: [4]int32{1, 2, 33 + int32(i), 4}, F: 2.5}
		scalars(-3-int8(i), 60000+uint16(i), -100000-int32(i), ^uint64(0)-uint64(i), i%2 == 1, 1.25, 'ä', 0.5)
		text("hello"[:3+i%2], []int32{1, 2, 3}[:i+1], map[string]int{"a": 1})
		structs(o, uint32(i+40), o.In)
		many(1+i, -2, 3, 4, 5, 6, 7, 8, -9, 10, 11+i, -12)
		complexes(complex(1, 2), &Square{2, i + 7})
	}
}
