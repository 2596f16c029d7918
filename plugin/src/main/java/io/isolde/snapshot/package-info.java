// SPDX-License-Identifier: Apache-2.0
/**
 * Readable snapshots: for each table {@code k.t} a table {@code k.t__s} beside it, as of one moment
 * over the whole cluster, that nobody writes to.
 *
 * <ul>
 *   <li>{@code protocol}: all nodes or none; pure.
 *   <li>{@code table}: what makes a table a snapshot, in the schema.
 *   <li>{@code store}: the SSTables of a snapshot, on one node.
 *   <li>{@code node}: creator and node, over the network and the schema.
 *   <li>{@code read}: SELECT from a snapshot.
 *   <li>{@code gate}: writes that wait while a snapshot is cut.
 * </ul>
 */
package io.isolde.snapshot;
