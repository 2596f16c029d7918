// SPDX-License-Identifier: Apache-2.0
/** Readable snapshots of tables: {@link io.isolde.snapshot.SnapshotTag} is what one is. */
package io.isolde.snapshot;
