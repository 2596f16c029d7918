// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.snapshot.store.DiskUsage;
import java.util.UUID;

/**
 * One snapshot on one node.
 *
 * @param state CREATING, READY, or MISSING where a table of it is not there
 */
public record SnapshotReplicaStatus(UUID creation, String state, DiskUsage usage) {}
