// SPDX-License-Identifier: Apache-2.0
/** Writes of clients that wait, for a bounded time, while a snapshot is cut on all nodes. */
package io.isolde.snapshot.gate;
