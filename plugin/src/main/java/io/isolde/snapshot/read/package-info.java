// SPDX-License-Identifier: Apache-2.0
/** SELECT from snapshots: by the names of their tables, AS OF SNAPSHOT, and in transactions. */
package io.isolde.snapshot.read;
