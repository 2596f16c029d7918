// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * What this node keeps of the past.
 *
 * @param storeBytes {@code version_store_size}: memory for replaced cells. Default: an eighth of
 *     the heap, at least 64MiB. Too small: readers of a busy table get SNAPSHOT_TOO_OLD early. Too
 *     big: less heap for Cassandra.
 * @param retentionMicros {@code version_retention}: how far back AS OF can read although no
 *     transaction needs it. Default 10s. Too small: AS OF of the near past fails. Too big: old
 *     versions fill their store, which then gives up the oldest.
 * @param replacedSSTablesBytes {@code replaced_sstables_size}, per table: disk space for SSTables
 *     that a compaction has replaced and readers of the past may need. Default 10GiB. Too small: a
 *     large compaction ends the snapshots of open transactions. Too big: the disk may fill while a
 *     transaction stays open.
 */
public record VersionSettings(long storeBytes, long retentionMicros, long replacedSSTablesBytes) {
  public VersionSettings {
    IsoldeConfig.require(
        storeBytes >= IsoldeConfig.MIB,
        "version_store_size must be at least 1MiB, or no transaction could read under load.");
    IsoldeConfig.require(retentionMicros >= 0, "version_retention must not be negative.");
    IsoldeConfig.require(
        replacedSSTablesBytes >= 0, "replaced_sstables_size must not be negative.");
  }

  static VersionSettings of(IsoldeYaml file, HeapBudget heap) {
    return new VersionSettings(
        file.bytes("version_store_size", heap.versionBytes()),
        file.micros("version_retention", "10s"),
        file.bytes("replaced_sstables_size", 10L << 30));
  }
}
