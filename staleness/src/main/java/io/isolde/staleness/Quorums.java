// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** How many replicas a read and a write wait for, and how many a read is sent to. */
record Quorums(Requirement read, Requirement write, ReadFanOut fanOut) {}
