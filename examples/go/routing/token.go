// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/bits"
)

const (
	c1 = 0x87c37b91114253d5
	c2 = 0x4cf5ad432745937f
)

// token is where Cassandra's Murmur3Partitioner has a key. It is the first half of MurmurHash3 (x64, 128
// bits), but for the last bytes, which it takes as signed.
func token(key []byte) int64 {
	var h1, h2 uint64
	rest := key
	for ; len(rest) >= 16; rest = rest[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(rest))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(rest[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	if len(rest) > 8 {
		h2 ^= mix2(last(rest[8:]))
	}
	if len(rest) > 0 {
		h1 ^= mix1(last(rest[:min(8, len(rest))]))
	}
	h1 ^= uint64(len(key))
	h2 ^= uint64(len(key))
	h1 += h2
	h2 += h1
	found := int64(final(h1) + final(h2))
	if found == -1<<63 {
		return 1<<63 - 1
	}
	return found
}

func last(some []byte) uint64 {
	var k uint64
	for i, b := range some {
		k ^= uint64(int64(int8(b))) << (8 * i)
	}
	return k
}

func mix1(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }

func mix2(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

func final(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
