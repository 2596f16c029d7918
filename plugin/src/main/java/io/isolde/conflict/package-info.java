// SPDX-License-Identifier: Apache-2.0
/** Rows and partitions as ids, by which the oracle compares what transactions read and wrote. */
package io.isolde.conflict;
