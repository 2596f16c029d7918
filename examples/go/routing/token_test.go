// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestTokenIsCassandras(t *testing.T) {
	for key, expected := range map[string]int64{
		"":                         0,
		"a":                        -8839064797231613815,
		"12345678":                 4272337174398058908,
		"123456789":                4360720697772133540,
		"0123456789abcdef":         5467490433528156583,
		"\x00\x00\x00\x07":         1634052884888577606,
		"0123456789abcdef\xff\xfe": 7784958258824456739,
		"\xa5\x4d\xca\x18\x25\x30\xbb\x1d\x6d\x13\x2c\xde\xd6\x23\x7b\x2e\xd9\x1e\x3f\x72\x1f\xcb\x19\x71\x17\x44\x94\xd6\x49\x3c\x9d\x5c\x34\x60\xbe\x31\x20": -5359473789517756183,
	} {
		if found := token([]byte(key)); found != expected {
			t.Errorf("token of %x is %d instead of %d", key, found, expected)
		}
	}
}
